"""The probe atop: its recorder, what is read from it, and what it is compared with.

Everything is recorded here, by the atop of this machine, beside toys that need no broker.
"""

import json
import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import psutil
import pytest
from mqperf_toys.known import known
from patience import eventually
from refused import refused

from mqperf.base.errors import HostError, PlanError, ProbeError, TableError
from mqperf.hosts import LocalHost, Process
from mqperf.lab.probes import Task, WatchedProcess
from mqperf.lab.runner import Silent, sweep
from mqperf.lab.systems.in_plans import problems_of
from mqperf.plan.file import parse_plan
from mqperf.record import Run, as_whole, runs
from mqperf.record.facts import ClockFacts, Offset
from mqperf.study import tables
from mqperf.study.stats import checks
from mqperf_atop.lab import probe as atop
from mqperf_atop.record.recorded import recorded
from mqperf_atop.study import compared

pytestmark = pytest.mark.needs_atop

PLAN = """\
systems: {toy: {topologies: [direct], queues: [none]}}
test_cases: [rpc-call]
probes: [psutil, atop]
load: {generator: replay, green_threads: [1], duration_s: 4, warmup_s: 1, cooldown_s: 1,
  timeout_s: 1}
"""
AHEAD_S = 30
BUSY = "while True: pass"
IDLE = "import time; time.sleep(600)"
PARENT = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"


@contextmanager
def recorder(folder: Path, child: str) -> Iterator[Process]:
    """The recorder, which waits for the start, of a process with this program as its child."""
    host, control, out = LocalHost(), folder / "control", folder / "out"
    for place in (control, out):
        place.mkdir()
    parent = host.start("parent", [sys.executable, "-c", PARENT, child], log=folder / "parent.log")
    assert eventually(lambda: psutil.Process(parent.pid).children())
    targets = [WatchedProcess("family", "broker", parent.pid, children=True)]
    program = atop.program(Task("atop", targets, control, 3, out, host))
    for name, text in program.files.items():
        host.write(control / name, text)
    process = host.start("atop", program.argv, env=program.env, log=out / "atop.log")
    try:
        assert eventually((control / "atop.ready").exists), (out / "atop.log").read_text()
        yield process
    finally:
        process.stop(1)
        parent.stop(0)


@pytest.mark.parametrize("child", [BUSY, IDLE], ids=["busy", "idle"])
def test_a_process_is_recorded_with_its_child(tmp_path: Path, child: str) -> None:
    """The record has the process, its child, atop and the host only; the child's work counts."""
    with recorder(tmp_path, child) as process:
        start = json.dumps({"start": time.time()})
        LocalHost().write(tmp_path / "control" / "start", start)  # atomically
        assert eventually(lambda: process.poll() is not None)
        assert process.poll() == 0, (tmp_path / "out" / "atop.log").read_text()
    record = recorded(tmp_path / "out")
    assert record.chosen.version.startswith("Version: ")
    assert {label: len(pids) for label, pids in record.chosen.processes.items()} == {
        "family": 2,
        "atop": 2,
    }
    text = (tmp_path / "out" / "atop.txt").read_text()
    named = {line.split()[6] for line in text.splitlines() if line.startswith("PRC")}
    assert named <= {str(pid) for pids in record.chosen.processes.values() for pid in pids}
    worked = max(interval.used["family"][0] for interval in record.intervals)
    assert (worked > 0.1) == (child == BUSY)
    assert all("host" in interval.used for interval in record.intervals)


def test_atop_ends_with_its_recorder(tmp_path: Path) -> None:
    """atop ends when its recorder is killed, and the recorder ends when atop is killed."""
    with recorder(tmp_path, IDLE) as process:
        [child] = psutil.Process(process.pid).children()
        os.kill(process.pid, signal.SIGKILL)
        assert eventually(lambda: not child.is_running())
    (again := tmp_path / "again").mkdir()
    with recorder(again, IDLE) as process:
        [child] = psutil.Process(process.pid).children()
        child.kill()
        assert eventually(lambda: process.poll() is not None)
        assert process.poll() == signal.SIGKILL


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run with the probe, of toys."""
    folder = tmp_path_factory.mktemp("sound")
    with pytest.MonkeyPatch.context() as patch:
        known(patch)
        outcome = sweep(parse_plan(PLAN, Path("toy.yaml")), PLAN, folder, Silent())
    assert outcome.failed == ()
    [run] = runs(folder)
    return run


@pytest.fixture
def copy(sound: Run, tmp_path: Path) -> Iterator[Run]:
    """A copy of this run to plant a fault in, readable while its generator is known."""
    shutil.copytree(sound.path, tmp_path / sound.id)
    with pytest.MonkeyPatch.context() as patch:
        known(patch)
        yield Run(tmp_path / sound.id, sound.id, "done")


def text(run: Run) -> Path:
    return run.path / "probes" / "local" / "atop.txt"


def disagreements(run: Run) -> list[str]:
    """The doubts of the audit about records that differ."""
    doubts = checks.doubts(tables.of_runs([run]))
    return [*doubts[doubts["kind"] == "record-disagrees"]["text"]]


def test_two_sound_records_agree(copy: Run) -> None:
    """There is no doubt, and each process, including atop itself, has one row."""
    assert disagreements(copy) == []
    cpu = tables.of_runs([copy])["cpu"]
    window = cpu[cpu["scope"] == "window"]
    assert window["process"].is_unique
    assert {"Toy", "client-1", "server-1", "atop", "psutil", "host"} <= {*window["process"]}
    assert float(window.set_index("process")["total_cores"]["atop"]) > 0


def test_both_records_can_be_read(copy: Run) -> None:
    """The rows of atop have the columns of the table ``cpu``, and can be shown beside them."""
    rows = compared.by_atop(copy.path.parent)
    assert {"Toy", "client-1", "server-1", "atop", "host"} <= {*rows["process"]}
    assert {*rows["scope"]} == {"interval", "window"}
    assert {*rows["host"]} == {"local"}
    both = compared.by_probe(copy.path.parent)
    assert [*both.columns] == ["psutil", "atop"]
    of_client = both.xs("client-1", level="process")
    assert len(of_client) == 1
    assert of_client.notna().to_numpy().all()


def more_ticks(label: str) -> Callable[[Run], None]:
    """A fault that adds half a second of CPU to every interval of a process."""

    def fault(run: Run) -> None:
        [pid] = json.loads((text(run).with_name("atop.json")).read_text())["processes"][label]
        line = re.compile(rf"^(PRC (?:\S+ ){{5}}{pid} \(.*\) \S 100) (\d+)", re.MULTILINE)
        changed = line.sub(lambda match: f"{match[1]} {int(match[2]) + 50}", text(run).read_text())
        text(run).write_text(changed)

    return fault


def cut_early(run: Run) -> None:
    """Whole blocks are missing at the end."""
    blocks = text(run).read_text().split("SEP\n")
    text(run).write_text("SEP\n".join(blocks[:4]) + "SEP\n")


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (more_ticks("client-1"), r"atop\.txt: client-1 used [\d.]+ s of CPU in \d s by atop, "),
        (cut_early, r"atop\.txt: its samples are not of the whole load"),
    ],
    ids=["ticks", "early"],
)
def test_records_that_contradict_each_other_are_doubted(
    copy: Run, fault: Callable[[Run], None], words: str
) -> None:
    """A difference beyond their resolution is a doubt with the figures of both."""
    fault(copy)
    [doubt] = disagreements(copy)
    assert re.search(words, doubt)


def test_a_host_with_another_clock_gives_the_same(copy: Run) -> None:
    """Its timestamps and those of psutil are half a minute ahead, as run.json says."""
    expected = compared.of_run(as_whole(copy, copy.facts()))
    log = text(copy).with_name("psutil.jsonl")
    samples = [json.loads(line) for line in log.read_text().splitlines()]
    lines = [json.dumps(line | {"epoch": line["epoch"] + AHEAD_S}) + "\n" for line in samples]
    log.write_text("".join(lines))
    stamp = re.compile(r"^((?:PRC|CPU) \S+) (\d+)", re.MULTILINE)
    changed = stamp.sub(
        lambda match: f"{match[1]} {int(match[2]) + AHEAD_S}", text(copy).read_text()
    )
    text(copy).write_text(changed)
    clock = ClockFacts(before=Offset(offset_s=AHEAD_S))
    ahead = as_whole(copy, copy.facts().model_copy(update={"clocks": {"local": clock}}))
    pd.testing.assert_frame_equal(compared.of_run(ahead), expected)
    assert [*compared.disagreements(ahead)] == []
    late = as_whole(copy, copy.facts())
    assert any("not of the whole load" in line for line in compared.disagreements(late))


def edited(old: str, new: str) -> Callable[[Path], None]:
    def fault(file: Path) -> None:
        file.write_text(re.sub(old, new, file.read_text(), count=1, flags=re.MULTILINE))

    return fault


def truncated(file: Path) -> None:
    file.write_text(file.read_text()[:-20])


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Path.unlink, r"atop\.txt: no record of atop: No such file"),
        (lambda file: file.with_name("atop.json").unlink(), r"atop\.json: no record of atop: No"),
        (lambda file: file.with_name("atop.json").write_text('{"x'), r"atop\.json:1: "),
        (truncated, r"atop\.txt:\d+: "),
        (edited(r"^SEP\n\Z", ""), r"atop\.txt:\d+: cut short"),
        (edited(r"^PRC .*$", "PRC of nothing"), r"atop\.txt:3: no line of atop about a process"),
        (edited(r"^(PRC (?:\S+ ){5})\d+", r"\g<1>1"), r"atop\.txt:3: no line of atop about a"),
        (edited(r"^CPU .*\n", ""), r"atop\.txt:1: a block without a line CPU"),
        (edited(r"(?s)(RESET.*?SEP\n.*?SEP\n).*?SEP\n", r"\1"), r"atop\.txt:\d+: does not begin"),
    ],
)
def test_a_damaged_record_is_named(copy: Run, fault: Callable[[Path], object], words: str) -> None:
    """The check of the run and the reader both name file and line in one sentence."""
    fault(text(copy))
    with pytest.raises(ProbeError, match=words) as error:
        atop.check(text(copy).parent, "local")
    assert "\n" not in str(error.value)
    with pytest.raises(TableError, match=words):
        tables.of_runs([copy])


def test_a_host_without_atop_is_named_before_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says what to do; nothing is started, and no folder is made."""
    known(monkeypatch)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        HostError, match=r"local: no program atop, .* apt-get install atop"
    ) as error:
        sweep(parse_plan(PLAN, Path("toy.yaml")), PLAN, tmp_path / "runs", Silent())
    assert "mqperf hosts prepare" in str(error.value)
    assert not (tmp_path / "runs").exists()


def test_a_plan_may_name_known_probes_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unknown probe is an error with its line; probes do not change the ids of cases."""
    known(monkeypatch)
    with pytest.raises(PlanError, match=r"toy\.yaml:3: probes entry 2: unknown probe 'atopp'"):
        parse_plan(PLAN.replace("atop]", "atopp]"), Path("toy.yaml"), problems_of)
    refused(PLAN.replace("atop]", "broker-log]"), "unknown probe 'broker-log'")
    plain = PLAN.replace("probes: [psutil, atop]\n", "")
    with_probe, without = (parse_plan(plan, Path("toy.yaml")) for plan in (PLAN, plain))
    assert [case.id for case in with_probe.cases()] == [case.id for case in without.cases()]
