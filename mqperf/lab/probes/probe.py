"""What a probe is to those who start it and to those who read what it recorded."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mqperf.hosts.software import Machine

if TYPE_CHECKING:
    import pandas as pd

    from mqperf.record import Facts, Whole


@dataclass(frozen=True, slots=True)
class Target:
    """A process to watch, under the label that tables will show."""

    label: str
    kind: Literal["broker", "client", "server", "background", "harness"]
    pid: int
    children: bool = False


@dataclass(frozen=True, slots=True)
class Inside:
    """Where the node of this label tells of its inside: by which protocol, where, and to whom.

    The password is only ever written to files that nobody else can read.
    """

    node: str
    protocol: Literal["prometheus", "amqp-management", "jolokia"]
    address: str
    user: str = ""
    password: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Task:
    """What a probe is told of one run on one host, ``machine``.

    It is called ``label``, talks in ``control`` as load generators do, samples from the start for
    ``seconds``, and writes into ``out``.  Paths are those of the host.  ``insides`` are those of
    the nodes there which tell of theirs.
    """

    label: str
    targets: Sequence[Target]
    control: Path
    seconds: int
    out: Path
    machine: Machine
    insides: Sequence[Inside] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """The command of a probe, with all its variables.

    ``files`` are written into the control folder before it starts.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict)


def options(task: Task, targets: str, out: str = "") -> list[str]:
    """The arguments of a probe's program: ``targets`` is its file in the control folder.

    ``out`` is what it writes in the folder for that; without it, it is told the folder.
    """
    said = {
        "--label": task.label,
        "--control": task.control,
        "--targets": task.control / targets,
        "--seconds": task.seconds,
        "--out": task.out / out,
    }
    return [str(word) for option in said.items() for word in option]


WHOLE_HOST = "host"
"""How probes call all of a host among processes."""


def _nothing(_folder: Path, _facts: "Facts") -> Iterator[dict[str, Any]]:
    return iter(())


def _agrees(_run: "Whole") -> Iterator[str]:
    return iter(())


def no_rows(_run: "Whole") -> "Mapping[str, pd.DataFrame]":
    """For a probe that has events only."""
    return {}


@dataclass(frozen=True, slots=True)
class Probe:
    """A kind of probe.

    ``program`` gives the command that runs on each host, or None for a host on which there is
    nothing to watch; it is None for a probe that reads only what is written anyway.  One that
    ``asks_nodes`` has systems start so that their nodes tell of their inside.  ``check`` raises
    ``ProbeError`` or ``HostError`` unless the folder of a host, on which it was started, holds a
    sound log.  ``read`` gives the rows of a whole run by table.  ``events`` gives rows of the table
    ``events``, of failed attempts as well, from a run folder and its facts; their ``time_s`` is in
    epoch seconds by the clock of their ``host``, and is corrected by whoever asks.  Both import
    pandas when they are called: the runner imports this, too.
    ``disagreements`` tells where a log contradicts what else is recorded of a whole run.
    ``overlapping`` gives rows by table, of what another probe records, too: they are in no table of
    the run, and there for whoever compares.  One with ``always`` is in every run; others with a
    program are where a plan names them.  ``now`` is the name of its log, and what gives of the end
    of that, while it is written, the cores that each process uses, by label.  ``programs`` are
    those that its hosts must have, with the package of Debian that brings each.
    """

    name: str
    program: Callable[[Task], Program | None] | None
    check: Callable[[Path, str], None]
    read: "Callable[[Whole], Mapping[str, pd.DataFrame]]"
    events: "Callable[[Path, Facts], Iterator[dict[str, Any]]]" = _nothing
    disagreements: "Callable[[Whole], Iterator[str]]" = _agrees
    overlapping: "Callable[[Whole], Mapping[str, pd.DataFrame]]" = no_rows
    always: bool = False
    now: tuple[str, Callable[[bytes], Mapping[str, float]]] | None = None
    asks_nodes: bool = False
    programs: Mapping[str, str] = field(default_factory=dict)


def no_check(_folder: Path, _host: str) -> None:
    """For a probe whose log the system or the user writes."""
