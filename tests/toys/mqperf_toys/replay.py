"""A load generator that replays a recorded run at any speed, without a broker."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from mqperf.base.errors import LoadError
from mqperf.hosts.software import Machine
from mqperf.lab.load import Command, Launcher, LoadJob
from mqperf.plan import Case
from mqperf.plan.load import Generator, Kind, Member
from mqperf.plan.test_cases import TEST_CASES
from mqperf.record import Whole, runs
from mqperf.record.messages import read_header, read_messages
from mqperf.study.load import Account, LoadReader
from mqperf_toys.axis import Parameters

if TYPE_CHECKING:
    from mqperf.record.streams.stream import ByProcess

PLAYER = Path(__file__).with_name("player.py")
SAMPLES = Path(__file__).parents[3] / "data" / "samples" / "runs"
"""The recorded runs; the first one with the same kind of finish is replayed."""


@dataclass(frozen=True)
class Player:
    """The program and the recorded run, copied to a host on first use."""

    machine: Machine
    versions: Mapping[str, str]

    def check(self) -> None:
        """Find no fault."""


def sample(case: Case) -> tuple[Path, float]:
    """The recorded run that is replayed, and the seconds of its load."""
    finish = TEST_CASES[case.test_case].finish
    for run in runs(SAMPLES):
        recorded = run.facts().case
        if recorded is not None and TEST_CASES[recorded.test_case].finish == finish:
            return run.path / "load", float(recorded.load_s)
    raise LoadError(f"{SAMPLES}: no recorded run to replay for {case.test_case}")


def commands(job: LoadJob, faults: Mapping[str, str]) -> list[Command]:
    """The commands of a host; ``faults`` gives the phase in which a process fails, by label."""
    folder, recorded = sample(job.case)
    machine = cast("Player", job.tool).machine
    player = (machine.python, "-I", str(machine.copied(PLAYER)))

    def command(member: Member) -> Command:
        options = {
            "--label": member.label,
            "--kind": member.kind,
            "--test-case": job.case.test_case,
            "--control": job.control,
            "--out": job.out,
            "--sample": machine.copied(folder / f"{member.kind}-1.messages"),
            "--seconds": job.case.load_s,
            "--thinning": GENERATOR.resolved(job.case)["thinning"],
            "--recorded": recorded,
            "--first": read_header(folder / "client-1.messages").start,
            "--fault": faults.get(member.label, "none"),
        }
        argv = [str(part) for pair in options.items() for part in pair]
        return Command(member.label, member.kind, (*player, *argv), {})

    return [command(member) for member in job.members]


def describe(case: Case) -> list[str]:
    """The command to type by hand."""
    return [f"replay {sample(case)[0].parent.name}"]


def check(folder: Path, label: str, _kind: Kind) -> None:
    """Raise ``LoadError`` unless a process wrote its messages."""
    read_messages(folder / f"{label}.messages")


def account(_run: Whole, streams: "ByProcess") -> Account:
    """Count nothing itself; raise ``LoadError`` if a server has no messages."""
    if not any(stream.count for stream in streams["server-1"].values()):
        raise LoadError("server-1 received nothing")
    return Account()


GENERATOR = Generator(
    name="replay",
    title="Replay",
    link="https://docs.python.org/3/library/array.html",
    test_cases=("toy-echo", "rpc-call", "rpc-cast", "notify"),
    parameters=Parameters,
    release="replay",
)

LAUNCHER = Launcher(
    name="replay",
    tool=lambda _driver, machine: Player(machine, {"replay": "1"}),
    about=lambda _driver: "replay of a recorded run",
    try_out=lambda _driver, _machine: {"replay": "1"},
    commands=partial(commands, faults={}),
    describe=describe,
    check=check,
)

READER = LoadReader("replay", account)


def faulty(**faults: str) -> Launcher:
    """The launcher of processes that fail: ``faulty(client_1="load")``."""
    by_label: dict[str, str] = dict(_labels(faults))
    return replace(LAUNCHER, commands=partial(commands, faults=by_label))


def _labels(faults: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, fault in faults.items():
        yield name.replace("_", "-"), fault
