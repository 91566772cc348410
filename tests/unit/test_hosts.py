"""Processes, folders and ports of a host, which end with mqperf."""

import json
import os
import platform
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from patience import eventually

from mqperf.base.errors import HostError
from mqperf.base.processes import ForeignProcess
from mqperf.hosts import LocalHost, interface_of
from mqperf.onhost.machine import proc
from mqperf.onhost.processes.scratch import scratch_beside, user_folder

pytestmark = pytest.mark.starts_programs

SLEEP = ["sleep", "60"]


@pytest.fixture(autouse=True)
def temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A separate temporary folder for each test."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


@pytest.fixture
def host() -> LocalHost:
    return LocalHost()


def runs(pid: int) -> bool:
    """Whether the process exists and is not a zombie."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@contextmanager
def another_mqperf(program: str) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """A second Python process that has printed one line, and its words."""
    head = "from mqperf.hosts import LocalHost\nfrom pathlib import Path\nhost = LocalHost()\n"
    with subprocess.Popen(
        [sys.executable, "-c", head + textwrap.dedent(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        try:
            yield child, child.stdout.readline().split()
        finally:
            child.kill()


def test_process_leaves_its_output_and_its_exit_code(host: LocalHost, tmp_path: Path) -> None:
    """Output and exit code stay available after the end."""
    process = host.start(
        "talker", ["sh", "-c", "echo out; echo err >&2; exit 3"], log=tmp_path / "l"
    )
    assert eventually(lambda: process.poll() is not None)
    assert (process.poll(), process.alive, process.log.read_text()) == (3, False, "out\nerr\n")


def test_process_sees_only_the_environment_it_is_given(host: LocalHost, tmp_path: Path) -> None:
    """A given environment is not merged with that of the user."""
    env = {"PATH": os.environ["PATH"], "ONLY": "this"}
    process = host.start("env", ["env"], env=env, log=tmp_path / "log", cwd=tmp_path)
    assert eventually(lambda: not process.alive)
    names = {line.partition("=")[0] for line in process.log.read_text().splitlines()}
    assert names - {"PWD", "OLDPWD", "SHLVL", "_"} == {"PATH", "ONLY"}


def test_pid_and_start_identify_a_process(host: LocalHost, tmp_path: Path) -> None:
    """The start time tells a process from a later one with the same pid."""
    process = host.start("sleeper", SLEEP, log=tmp_path / "log")
    try:
        assert eventually(lambda: psutil.Process(process.pid).name() == "sleep")
        began = proc.create_time(process.pid)
        assert began == psutil.Process(process.pid).create_time()
        assert ForeignProcess("same", process.pid, began).alive
        assert ForeignProcess("same after a clock was set", process.pid, began + 1).alive
        assert not ForeignProcess("earlier", process.pid, began - 60).alive
    finally:
        process.stop(5)
    assert not ForeignProcess("same", process.pid, began).alive


def test_stop_asks_first(host: LocalHost, tmp_path: Path) -> None:
    """The process may end cleanly on SIGTERM."""
    polite = "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.05; done"
    process = host.start("polite", ["sh", "-c", polite], log=tmp_path / "log")
    assert eventually(lambda: process.log.read_text() == "up\n")
    assert process.stop(10) == 0
    assert process.log.read_text() == "up\nbye\n"


def test_stop_kills_what_ignores_signals(host: LocalHost, tmp_path: Path) -> None:
    """Processes that ignore SIGTERM are killed after the grace period, with their children."""
    deaf = "trap '' TERM; sleep 60 & echo $!; while :; do sleep 0.05; done"
    process = host.start("deaf", ["sh", "-c", deaf], log=tmp_path / "log")
    assert eventually(lambda: process.log.read_text().endswith("\n"))
    assert process.stop(0.2) == -signal.SIGKILL
    assert eventually(lambda: not runs(int(process.log.read_text())))


def test_stop_ends_a_frozen_process(host: LocalHost, tmp_path: Path) -> None:
    """A stopped process still ends at once."""
    process = host.start("frozen", SLEEP, log=tmp_path / "log")
    process.signal(signal.SIGSTOP)
    assert process.stop(30) == -signal.SIGTERM


def test_process_dies_with_its_owner(tmp_path: Path) -> None:
    """A SIGKILL of mqperf leaves no process behind."""
    log = tmp_path / "log"
    program = f"""
        process = host.start("sleeper", {SLEEP}, log=Path({str(log)!r}))
        print(process.pid, flush=True)
        input()
    """
    with another_mqperf(program) as (owner, (pid,)):
        assert eventually(lambda: psutil.Process(int(pid)).name() == "sleep")
        owner.kill()
        assert eventually(lambda: not runs(int(pid)))


def test_missing_program_is_named(host: LocalHost, tmp_path: Path) -> None:
    """The user learns which program is missing."""
    with pytest.raises(HostError, match="no-such-program is missing"):
        host.start("nobody", ["no-such-program"], log=tmp_path / "log")


def test_unwritable_log_is_named(host: LocalHost, tmp_path: Path) -> None:
    """The user learns which folder refused the log."""
    with pytest.raises(HostError, match="absent/log"):
        host.start("sleeper", SLEEP, log=tmp_path / "absent" / "log")


def test_run_gives_code_and_output(host: LocalHost) -> None:
    """A command has empty stdin; the result has its output and exit code."""
    done = host.run(["sh", "-c", "cat; echo said; exit 4"], timeout_s=60)
    assert (done.returncode, done.stdout) == (4, "said\n")


def test_run_has_an_end(host: LocalHost) -> None:
    """A command that hangs is an error after the timeout."""
    with pytest.raises(HostError, match=r"sleep 60 did not end within 0\.1 s"):
        host.run(SLEEP, timeout_s=0.1)


def test_scratch_is_private_and_vanishes(host: LocalHost) -> None:
    """Only the user may enter it; at the end it and its reaper are gone."""
    before = {child.pid for child in psutil.Process().children()}
    with host.scratch("test") as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "deep").mkdir()
        (folder / "deep" / "file").write_text("x")
    assert not folder.exists()
    assert {child.pid for child in psutil.Process().children()} <= before


def test_scratch_vanishes_with_its_owner() -> None:
    """A SIGKILL of mqperf leaves no folder behind."""
    program = """
        with host.scratch("test") as folder:
            (folder / "file").write_text("x")
            print(folder, flush=True)
            input()
    """
    with another_mqperf(program) as (owner, (folder,)):
        assert Path(folder, "file").exists()
        owner.kill()
        assert eventually(lambda: not Path(folder).exists())


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_scratch_vanishes_without_its_reaper(
    host: LocalHost, number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the reaper was killed or stopped, mqperf removes the folder itself."""
    monkeypatch.setattr(sys.modules["mqperf.onhost.processes.scratch"], "REMOVAL_LIMIT_S", 0.1)
    before = {child.pid for child in psutil.Process().children()}
    with host.scratch("test") as folder:
        (folder / "file").write_text("x")
        [reaper] = [c for c in psutil.Process().children() if c.pid not in before]
        reaper.send_signal(number)
    assert not folder.exists()


INTERRUPTED = """
import itertools, os, sys
from mqperf.base.processes import scratch

def interrupting(step):
    steps = itertools.count(1)
    def trace(frame, event, _):
        if frame.f_code.co_name != "owned":
            return None
        frame.f_trace_opcodes = True
        if event == "opcode" and next(steps) == step:
            sys.settrace(None)
            raise SystemExit(130)
        return trace
    return trace

for step in itertools.count(1):
    if os.fork() == 0:
        sys.settrace(interrupting(step))
        with scratch("test"):
            pass
        sys.exit(0)
    code = os.waitstatus_to_exitcode(os.wait()[1])
    if code != 130:
        sys.exit(code)
    print(step, flush=True)
"""
"""Interrupts the handling of a scratch folder at each bytecode in turn."""


def test_an_interruption_at_any_step_leaves_no_scratch(host: LocalHost) -> None:
    """No process hangs, and the next scratch folder finds no leftover."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=240, check=True
    )
    assert int(done.stdout.split()[-1]) > 20
    with host.scratch("next") as folder:
        assert eventually(lambda: set(folder.parent.iterdir()) == {folder})


def test_scratch_beside_a_file_sweeps_only_its_own(temporary_folder: Path) -> None:
    """Leftovers of killed reports are removed; similar names of the user's stay."""
    out = temporary_folder / "out"
    stale = temporary_folder / ".out.mqperf-abcdefgh"
    unrelated = [".out.mqperf-mine", ".out.abcdefgh", ".other.mqperf-abcdefgh", "out"]
    for name in (stale.name, *unrelated):
        (temporary_folder / name).mkdir()
    with scratch_beside(out) as folder, scratch_beside(out):
        assert folder.parent == out.parent
        assert not stale.exists()
    assert not folder.exists()
    assert all((temporary_folder / name).exists() for name in unrelated)


def test_only_scratch_of_ended_processes_is_removed(host: LocalHost) -> None:
    """Only folders of ended processes are removed by the next mqperf."""
    stale = user_folder() / "test-stale"
    (stale / "data").mkdir(parents=True)
    with host.scratch("first") as living, host.scratch("second") as second:
        assert not stale.exists()
        assert living.exists()
        assert second.exists()


def test_folder_of_a_stranger_is_refused(host: LocalHost, temporary_folder: Path) -> None:
    """A parent folder that others may enter is refused."""
    (temporary_folder / f"mqperf-{os.getuid()}").mkdir(mode=0o777)
    (temporary_folder / f"mqperf-{os.getuid()}").chmod(0o777)
    with pytest.raises(HostError, match="not a folder that only you may enter"), host.scratch("x"):
        pass


def test_ports_are_consecutive_free_and_not_ephemeral(host: LocalHost) -> None:
    """A server can listen on each of them."""
    with host.ports(12) as ports:
        assert list(ports) == list(range(ports[0], ports[0] + 12))
        assert 20_000 <= ports[0] < ports[-1] < 32_000
        for port in ports:
            with socket.create_server(("127.0.0.1", port)):  # as if in TIME_WAIT
                pass


@pytest.fixture
def two_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only two blocks of ports, which no broker on this machine uses."""
    monkeypatch.setattr("mqperf.onhost.machine.ports.FIRST", 32_000)
    monkeypatch.setattr("mqperf.onhost.machine.ports.LAST", 32_100)


@pytest.mark.usefixtures("two_blocks")
def test_ports_are_never_given_twice(host: LocalHost) -> None:
    """A block in use by any mqperf is not given again until it is returned."""
    with another_mqperf(
        """
        import mqperf.onhost.machine.ports
        mqperf.onhost.machine.ports.FIRST, mqperf.onhost.machine.ports.LAST = 32_000, 32_100
        with host.ports(50) as ports:
            print(ports[0], flush=True)
            input()
        """
    ) as (other, (theirs,)):
        with host.ports(50) as ours:
            assert ours[0] != int(theirs)
            with pytest.raises(HostError, match="no 50 consecutive free ports"), host.ports(50):
                pass
        other.kill()
        other.wait()
        with host.ports(50), host.ports(50):
            pass


@pytest.mark.usefixtures("two_blocks")
def test_ports_in_use_are_passed_over(host: LocalHost) -> None:
    """A block with a port in use by another server is skipped."""
    with socket.create_server(("127.0.0.1", 32_010)), host.ports(50) as ports:
        assert ports[0] == 32_050


def test_facts_describe_the_machine_without_its_name(host: LocalHost) -> None:
    """Facts are published, so they describe the machine but do not identify it."""
    facts = host.facts()
    assert facts["label"] == "local"
    assert facts["cores"] == os.cpu_count()
    assert facts["network"] == "loopback"
    for name in ("cpu_model", "memory_bytes", "kernel", "os", "clock_source", "python"):
        assert facts[name], name
    assert platform.node() not in {value for value in facts.values() if isinstance(value, str)}


SHOW_CARDS = (
    "import json; from mqperf.onhost.machine import network; print(json.dumps(network.cards()))"
)


def test_a_virtual_card_has_its_driver_and_speed() -> None:
    """ethtool reads them for a veth pair in a network namespace; sysfs cannot."""
    setting = (
        "ip link set lo up && ip link add left type veth peer name right && ip link set left up"
    )
    script = f"{setting} && ip link set right up && exec {sys.executable} -c '{SHOW_CARDS}'"
    done = subprocess.run(
        ["unshare", "--map-root-user", "--net", "sh", "-c", script],
        capture_output=True,
        text=True,
        check=False,
    )
    if "unshare" in done.stderr or "RTNETLINK" in done.stderr:
        pytest.skip(f"no private network here: {done.stderr.strip()}")
    cards = {card["name"]: card for card in json.loads(done.stdout)}
    assert set(cards) >= {"left", "right"}
    assert cards["left"]["driver"] == "veth"
    assert cards["left"]["speed_bits_per_s"] == 10_000_000_000
    assert cards["left"]["model"] is None


def test_the_interface_of_an_address_is_known() -> None:
    """Loopback addresses give lo; a foreign address gives None."""
    assert interface_of("127.0.0.1") == "lo"
    assert interface_of("::1") == "lo"
    assert interface_of("192.0.2.77") is None
