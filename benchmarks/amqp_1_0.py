"""CPU per message of the AMQP 1.0 generator, compared with other clients, through one router.

They run in turns: 256 bytes, at-least-once, as fast as they can; printed are the medians of ratios,
of sender and receiver together.  The others are python-qpid-proton and, if its source is given,
quiver's arrow on Proton C, which cc then builds with the libraries that Debian and Ubuntu have
(libqpid-proton11-dev).  Needs a router, and the simulator's environment for AMQP 1.0.

    ./noxw -s benchmarks -- amqp_1_0 [quiver/impls/quiver-arrow-qpid-proton-c.c]
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil

from mqperf.hosts import HostFolder, LocalHost
from mqperf.lab.load import LAUNCHERS, Access, Endpoint, LoadJob
from mqperf.lab.load.oslo.library import library
from mqperf.lab.load.oslo.releases import find
from mqperf.plan import Case
from mqperf.plan.load import pairs
from mqperf.record.counts import read_counts
from mqperf_routers.lab.system import SYSTEM

SECONDS, BYTES, PAIRS = 4, 256, 5
PEER = Path(__file__).parent / "peers" / "proton_pair.py"
DEAD_S = 60


@dataclass(frozen=True)
class Cost:
    """Microseconds of CPU per message, of sender and receiver; and messages per second."""

    sender_us: float
    receiver_us: float
    rate: float

    @property
    def us(self) -> float:
        """Microseconds of both together."""
        return self.sender_us + self.receiver_us


def main(arguments: Sequence[str]) -> None:
    """Measure in turns, and print every turn and the medians."""
    host = LocalHost()
    proton = library("python-qpid-proton", find("amqp"), host)
    print(f"{BYTES} B, at-least-once, {SECONDS} s each; CPU of sender + receiver, us/message")
    with (
        host.scratch("benchmark") as folder,
        SYSTEM.started({}, "standalone", [HostFolder(host, folder)]) as router,
    ):
        measure: dict[str, Callable[[str, str], Cost]] = {
            "mqperf": _mqperf_cost,
            "python-qpid-proton": partial(_proton_cost, site=proton.path),
        }
        if arguments:
            measure["arrow"] = partial(_arrow_cost, program=_built(Path(arguments[0]), folder))
        costs: dict[str, list[Cost]] = {name: [] for name in measure}
        for turn in range(PAIRS):
            for name in measure if turn % 2 == 0 else reversed(measure):
                costs[name].append(measure[name](router.nodes[0].name, f"{name}{turn}"))
                print(f"  {name} {_text(costs[name][-1])}", flush=True)
    ours = costs.pop("mqperf")
    for name, theirs in costs.items():
        both = list(zip(ours, theirs, strict=True))
        cpu = statistics.median(our.us / their.us for our, their in both)
        rate = statistics.median(our.rate / their.rate for our, their in both)
        print(f"median of {PAIRS} pairs: {cpu:.3f} of the CPU of {name}, {rate:.2f} of its rate")


def _text(cost: Cost) -> str:
    return f"{cost.sender_us:5.2f} + {cost.receiver_us:5.2f}, {cost.rate:8.0f} msg/s"


def _mqperf_cost(address: str, key: str) -> Cost:
    """Measure a load of one thread, started by this script."""
    case = Case.model_validate(
        {
            "system": "qpid-dispatch",
            "topology": "standalone",
            "queues": "routed",
            "test_case": "transfer",
            "generator": "amqp-1.0",
            "green_threads": 1,
            "duration_s": SECONDS,
            "warmup_s": 0,
            "cooldown_s": 0,
            "parameters": {"payload_bytes": BYTES},
        }
    )
    launcher, end = LAUNCHERS["amqp-1.0"], Endpoint("amqp-1.0", (address,))
    tool = launcher.tool("amqp-1.0", LocalHost())
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        job = LoadJob(case, key, Access(end, end), tool, pairs(case), home, home, "127.0.0.1")
        made = {command.label: command for command in launcher.commands(job)}
        for command in made.values():
            for file, text in command.files.items():
                (home / file).write_text(text)
        with (
            _running(made["server-1"].argv, made["server-1"].env) as server,
            _running(made["client-1"].argv, made["client-1"].env) as client,
        ):
            for label in made:
                _await(home / f"{label}.ready")
            before = _cpu_s(client), _cpu_s(server)
            LocalHost().write(home / "start", json.dumps({"start": float(int(time.time()) + 1)}))
            sender_s = _ended_cpu_s(client) - before[0]
            (home / "stop").touch()
            receiver_s = _ended_cpu_s(server) - before[1]
        count = read_counts(home / "client-1.counts").streams["confirmed"].count
    return Cost(sender_s / count * 1e6, receiver_s / count * 1e6, count / SECONDS)


def _proton_cost(address: str, key: str, site: Sequence[Path]) -> Cost:
    """Measure a sender and a receiver of python-qpid-proton."""
    env = {"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(map(str, site))}
    program = (sys.executable, "-W", "ignore", str(PEER))
    with _running((*program, "receive", address, key), env) as receiver:
        _line(receiver)
        argv = (*program, "send", address, key, str(SECONDS), str(BYTES))
        with _running(argv, env) as sender:
            _line(sender)
            before = _cpu_s(sender), _cpu_s(receiver)
            count = int(_line(sender))
            sender_s = _ended_cpu_s(sender) - before[0]
        receiver_s = _cpu_s(receiver) - before[1]
        receiver.kill()
    return Cost(sender_s / count * 1e6, receiver_s / count * 1e6, count / SECONDS)


def _built(source: Path, folder: Path) -> Path:
    """Build quiver's arrow on Proton C in the folder."""
    program = folder / "arrow"
    subprocess.run(["cc", "-O2", "-w", source, "-o", program, "-lqpid-proton"], check=True)
    return program


def _arrow_cost(address: str, key: str, program: Path) -> Cost:
    """Measure a pair of arrows, which print a line for every message."""
    host, _, port = address.rpartition(":")
    fixed = ["connection-mode=client", "channel-mode=active", "scheme=amqp", f"host={host}"]
    fixed += [f"port={port}", f"path={key}", f"body-size={BYTES}", "credit-window=1000"]
    fixed += ["count=0", "transaction-size=0", "durable=0", "set-message-id=0"]
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        started = []
        for operation, seconds in (("receive", SECONDS + 1), ("send", SECONDS)):
            own = (f"operation={operation}", f"id={key}-{operation}", f"duration={seconds}")
            out = stack.enter_context((Path(name) / operation).open("wb"))
            argv = (str(program), *own, *fixed)
            started.append(stack.enter_context(_running(argv, None, out)))
            time.sleep(0.5)
        sender_s, receiver_s = (_ended_cpu_s(process) for process in reversed(started))
        sent, received = (
            (Path(name) / operation).read_bytes().count(b"\n") for operation in ("send", "receive")
        )
    return Cost(sender_s / sent * 1e6, receiver_s / received * 1e6, received / SECONDS)


@contextmanager
def _running(
    argv: Sequence[str], env: object, out: object = subprocess.PIPE
) -> Iterator["subprocess.Popen[str]"]:
    """Run a process, which is killed at the end of the context."""
    with subprocess.Popen(argv, env=env, stdout=out, text=True) as process:  # type: ignore[call-overload]
        try:
            yield process
        finally:
            process.kill()


def _line(process: "subprocess.Popen[str]") -> str:
    """Return the next line of a process; raise ``RuntimeError`` if it ended without one."""
    line = "" if process.stdout is None else process.stdout.readline()
    if not line:
        raise RuntimeError(f"{process.args!r} ended too early")
    return line.strip()


def _await(file: Path) -> None:
    limit = time.monotonic() + DEAD_S
    while not file.exists():
        if time.monotonic() > limit:
            raise TimeoutError(file)
        time.sleep(0.05)


def _cpu_s(process: "subprocess.Popen[str]") -> float:
    times = psutil.Process(process.pid).cpu_times()
    return float(times.user + times.system)


def _ended_cpu_s(process: "subprocess.Popen[str]") -> float:
    """Wait for the end of a process; return its CPU seconds, which the kernel keeps until then."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main(sys.argv[1:])
