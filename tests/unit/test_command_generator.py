"""The user's commands as load: run for real, with a system that has no broker."""

import json
import shlex
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from mqperf_toys import system
from refused import refused

from mqperf.base.errors import PlanError
from mqperf.lab.load import Access, Endpoint, LoadJob
from mqperf.lab.runner import Silent, sweep
from mqperf.lab.runner.plans import Outcome
from mqperf.lab.systems import SYSTEMS
from mqperf.lab.systems.in_plans import problems_of
from mqperf.plan.file import parse_plan
from mqperf.plan.load import clients
from mqperf.record import read_events, runs
from mqperf.study import stats, tables
from mqperf_command.lab.launcher import AUTHORITY, ENDPOINT, Runner, commands
from mqperf_command.onhost.one import Command

pytestmark = pytest.mark.starts_programs

LIMIT_S = 60


def plan(command: str, **load: object) -> str:
    keys = "".join(f", {name}: {value}" for name, value in load.items())
    return (
        "systems: {toy: {topologies: [direct], queues: [none]}}\n"
        "test_cases: [command]\n"
        f"load: {{generator: command, command: {json.dumps(command)}, green_threads: 2,"
        f" duration_s: 2, warmup_s: 0, cooldown_s: 0{keys}}}\n"
    )


@pytest.fixture(autouse=True)
def _toys(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    toy = replace(system.SYSTEM, drivers={"command": "any"})
    monkeypatch.setitem(SYSTEMS._values, "toy", toy)
    return iter(())


def measured(text: str, folder: Path) -> Outcome:
    return sweep(parse_plan(text, Path("toy.yaml"), problems_of), text, folder, Silent())


def test_every_command_is_timed(tmp_path: Path) -> None:
    """Commands run in a closed loop; none is lost, and ``received`` stays empty."""
    code = "import os; open(os.environ['MQPERF_ENDPOINT_FILE']); os.environ['HOME']"
    ready = shlex.join([sys.executable, "-S", "-c", code])
    assert measured(plan(ready), tmp_path).failed == ()
    frames = tables.read(tmp_path)
    [row] = frames["messages"].to_dict("records")
    assert row["round_trip"] == row["sent"] > 0
    assert (row["errors"], row["lost"]) == (0, 0)
    assert frames["messages"]["received"].isna().all()
    assert frames["latency"]["latency_mean_s"].gt(0).all()
    kinds = set(stats.complete(frames)["doubts"]["kind"])
    assert not kinds & {"incomplete", "lost", "roundtrip-not-received", "record-disagrees"}


def test_a_command_gets_the_certificate_authority(tmp_path: Path) -> None:
    """With an encrypted system, the certificate is in a file beside the one with the URL."""
    case = parse_plan(plan("true"), Path("toy.yaml")).cases()[0]
    end = Endpoint("amqp-0-9-1", ("h:1",), "user", "word", "run", authority="who signs")
    tool = Runner("python", (tmp_path,), "/bin", {})
    there = Path("/control")
    [command] = commands(
        LoadJob(case, "run", Access(end, end), tool, clients(case), there, there, "h")
    )
    variables = json.loads(command.files["client-1.task"])["variables"]
    assert variables[ENDPOINT] == "/control/client-1.url"
    assert command.files["client-1.url"] == "amqps://user:word@h:1/run"
    assert variables[AUTHORITY] == "/control/client-1.pem"
    assert command.files["client-1.pem"] == "who signs"


def test_cpu_of_commands_is_that_of_their_client(tmp_path: Path) -> None:
    """It does not count as CPU of processes outside of the run."""
    busy = f"{sys.executable} -S -c 'sum(range(2_000_000))'"
    assert measured(plan(busy).replace("duration_s: 2", "duration_s: 4"), tmp_path).failed == ()
    cpu = tables.read(tmp_path)["cpu"]
    client = cpu[(cpu["process"] == "client-1") & (cpu["scope"] == "window")]
    assert client["total_cores"].gt(0.1).all()


def test_no_drain_waits_for_missing_servers(tmp_path: Path) -> None:
    """The drain ends at once."""
    assert measured(plan("true"), tmp_path).failed == ()
    [run] = runs(tmp_path)
    [drained] = [event for event in read_events(run.path) if event.what == "drained"]
    assert drained.detail["sent"] > 0
    assert drained.detail["received"] == 0


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("sh -c 'echo no such flavor >&2; exit 3'", "exit code 3: no such flavor"),
        ("no-such-program --now", "no-such-program: No such file or directory"),
    ],
)
def test_a_command_that_always_fails_fails_the_run(
    tmp_path: Path, command: str, words: str
) -> None:
    """The failure has the last words of standard error."""
    [(_, failure)] = measured(plan(command), tmp_path).failed
    assert failure is not None
    assert "messages failed" in failure
    assert words in failure


def test_a_command_that_does_not_end_is_killed_with_its_group(tmp_path: Path) -> None:
    """At the timeout the processes that it started are killed, too."""
    pid_file = tmp_path / "pid"
    script = f"sleep 600 & echo $! > {shlex.quote(str(pid_file))}; wait"
    assert Command(["sh", "-c", script], {}, 3).run() == "not at its end within 3 s"
    pid, limit = int(pid_file.read_text()), time.monotonic() + LIMIT_S
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < limit
        time.sleep(0.05)


def test_a_command_that_is_just_starting_ends_too() -> None:
    """It starts a moment after all running commands were killed."""
    command = Command(["sleep", "60"], {}, LIMIT_S)
    command.kill()
    assert command.run() == "exit code -9"


def test_nothing_is_printed_into_the_log(capfd: pytest.CaptureFixture[str]) -> None:
    """The output of a command that succeeds is dropped."""
    assert Command(["sh", "-c", "echo out; echo error >&2"], {}, LIMIT_S).run() is None
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "command",
    [
        "openstack --os-password sesame server list",
        "env OS_PASSWORD=sesame openstack server list",
        "curl https://me:sesame@example.org/",
        "mysql --pwd=sesame",
    ],
)
def test_a_password_on_the_command_line_is_refused(command: str) -> None:
    """Everybody on the host could read it; the message does not repeat it."""
    with pytest.raises(PlanError, match="may hold a password") as refused:
        parse_plan(plan(command), Path("toy.yaml"), problems_of)
    assert "sesame" not in str(refused.value)


@pytest.mark.parametrize(
    "command",
    [
        "openstack server create --wait --flavor m1.tiny --image cirros --network private vm",
        "curl --fail https://example.org/status",
        "openstack --os-cloud mine server delete --wait vm",
        "tool --password-file /etc/tool/secret.file",
    ],
)
def test_an_ordinary_command_is_accepted(command: str) -> None:
    """Options, paths and addresses are allowed."""
    [case] = parse_plan(plan(command), Path("toy.yaml"), problems_of).cases()
    assert case.parameters["command"] == command


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("load: {generator: command, green_threads: 1, duration_s: 1}", "command is missing"),
        (
            'load: {generator: command, command: "say \'hello", green_threads: 1, duration_s: 1}',
            "cannot be split into words",
        ),
        (
            'load: {generator: command, command: "  ", green_threads: 1, duration_s: 1}',
            "names no program",
        ),
    ],
)
def test_an_invalid_command_is_refused(line: str, words: str) -> None:
    """The error names the key."""
    refused(plan("true").rsplit("load:", 1)[0] + line + "\n", words)
