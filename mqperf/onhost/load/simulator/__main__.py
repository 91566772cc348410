"""Run as ``python -P -m mqperf.onhost.load.simulator OPTIONS -- SIMULATOR-ARGUMENTS``.

Loads the simulator, wraps the few of its functions that mqperf needs to know about, and hands
over to its ``main()``.  Ends with the simulator's own exit code.
"""

import argparse
import importlib.util
import os
import signal
import sys
from pathlib import Path
from types import FrameType, ModuleType

from mqperf.onhost.load.capped_log import capped_output
from mqperf.onhost.load.control import Control
from mqperf.onhost.load.repairs import prepare, repair

from .bodies import quick_bodies
from .clients import Gate, hold
from .counted import end_after, shares_of
from .pace import Pace, keep_to
from .recorder import Recorder, record
from .servers import prepare_server
from .waits import replace, telling

STREAMS = {"rpc-call": ["sent", "round_trip", "error"], "rpc-cast": ["sent", "error"]}
STREAMS["notify"] = STREAMS["rpc-fanout"] = STREAMS["rpc-cast"]


def main() -> None:
    """Run the simulator under a capped log."""
    options, arguments = _parse(sys.argv[1:])
    with capped_output():
        _run(options, arguments)


def _run(options: argparse.Namespace, arguments: list[str]) -> None:
    prepare(options.repair)
    simulator = _load(options.simulator)
    repair(simulator, options.repair)
    control = Control(options.control, options.label)
    recorder = Recorder(_header(options), _streams(options))
    record(simulator, recorder)
    gate = Gate(control, options.threads)

    def save() -> None:
        recorder.header["start"] = gate.start
        recorder.save(options.messages)
        control.say("saved")

    if options.kind == "client":
        quick_bodies(simulator, options.seed, options.payload)
        turns = options.all_threads, options.first_thread
        if options.rates:
            keep_to(Pace(options.rates, *turns, options.step_s), simulator, gate)
        if options.count:
            end_after(shares_of(options.count, *turns), options.load_s, simulator, gate)
        hold(simulator, gate)
        replace(simulator, "send_messages", telling(options.threads, save))
    else:
        prepare_server(simulator, control, recorder)
    _stop_gently(simulator, control, recorder, options)
    sys.argv = [options.label, *arguments]  # the driver may name queues after the program
    try:
        simulator.main()
    finally:
        save()
    if gate.failure:
        sys.exit(gate.failure)


def _parse(argv: list[str]) -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(prog="mqperf.onhost.load.simulator", description=__doc__)
    parser.add_argument("--simulator", type=Path, required=True)
    parser.add_argument("--label", required=True)
    parser.add_argument("--kind", choices=("client", "server"), required=True)
    parser.add_argument("--test-case", choices=STREAMS, required=True)
    parser.add_argument("--control", type=Path, required=True, help="folder shared with the runner")
    parser.add_argument("--messages", type=Path, required=True, help="exact record to write")
    parser.add_argument("--threads", type=int, default=0, help="green threads of a client")
    parser.add_argument("--seed", type=int, default=0, help="of the message bodies")
    parser.add_argument("--payload", type=int, help="length of all bodies; else by the table")
    parser.add_argument("--rates", type=_rates, help="messages a second, one after another: 5,10")
    parser.add_argument("--step-s", type=float, default=0.0, help="how long each of these lasts")
    parser.add_argument("--all-threads", type=int, default=0, help="of all processes")
    parser.add_argument("--first-thread", type=int, default=0, help="its number among all, from 0")
    parser.add_argument("--count", type=int, help="messages that all threads send")
    parser.add_argument("--load-s", type=int, help="longest time for these")
    parser.add_argument("--repair", action="append", default=[])
    separator = argv.index("--")
    return parser.parse_args(argv[:separator]), argv[separator + 1 :]


def _rates(text: str) -> list[float]:
    return [float(rate) for rate in text.split(",")]


def _load(path: Path) -> ModuleType:
    """The simulator as a module; importing it is what makes the standard library green."""
    spec = importlib.util.spec_from_file_location("simulator", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is no Python file")
    simulator = importlib.util.module_from_spec(spec)
    sys.modules["simulator"] = simulator
    spec.loader.exec_module(simulator)
    vars(simulator).update(CURRENT_PID=os.getpid(), CURRENT_HOST=os.uname().nodename)
    return simulator


def _header(options: argparse.Namespace) -> dict[str, object]:
    return {name: getattr(options, name) for name in ("label", "kind", "test_case")}


def _streams(options: argparse.Namespace) -> list[str]:
    """At an offered rate those of both parts of a latency, too: until sent, and until finished."""
    streams = {"client": [*STREAMS[options.test_case]], "server": ["received"]}
    if options.rates:
        streams["client" if "round_trip" in streams["client"] else "server"].append("service")
        streams["client"].append("handover")
    return streams[options.kind]


def _stop_gently(
    simulator: ModuleType, control: Control, recorder: Recorder, options: argparse.Namespace
) -> None:
    """On a signal save what is known, then let the simulator end by its own way and write its file.

    The simulator's handler raises inside whichever green thread is running; this one only asks.
    """

    def on_signal(_signum: int, _frame: FrameType | None) -> None:
        control.stopping = True
        recorder.save(options.messages)
        if options.kind == "client":
            vars(simulator)["IS_RUNNING"] = False

    vars(simulator)["signal_handler"] = on_signal
    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)


if __name__ == "__main__":
    main()
