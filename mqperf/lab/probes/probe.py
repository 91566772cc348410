"""What a probe is to those who start it."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from mqperf.hosts import Hosts
from mqperf.hosts.software import ALONE, Machine, path_of, plain_variables
from mqperf.lab.tool import Tool


@dataclass(frozen=True, slots=True)
class WatchedProcess:
    """A process to watch, under the label that tables will show."""

    label: str
    kind: Literal["broker", "client", "server", "background", "harness"]
    pid: int
    children: bool = False


@dataclass(frozen=True, slots=True)
class Inside:
    """Where the node of this label tells of its inside: what asks it, where, and as whom.

    ``asks`` is a module of a room ``onhost``, by its name: its class ``NodeClient`` asks, and its
    ``PROTOCOL`` is the name of what reads the answers among ``INSIDE_READERS`` of ``study``.
    The password is only ever written to files that nobody else can read.
    """

    node: str
    asks: str
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
    targets: Sequence[WatchedProcess]
    control: Path
    seconds: int
    out: Path
    machine: Machine
    insides: Sequence[Inside] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """The command of a probe, with all its variables.

    ``files`` are written into the control folder before it starts; they may hold passwords.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict, repr=False)


def recorder(
    task: Task,
    module: str,
    out: str = "",
    *,
    told: object = None,
    path: Sequence[Path] | None = None,
) -> Program:
    """The program of a probe that is a module of a room ``onhost``; it stops by itself.

    ``out`` is what it writes in the folder for that; without it, it is told the folder.  ``told``
    is in a file, so that no pid or password is in the arguments: the targets, unless it is said.
    It imports from the folders of ``path``, if not from its own, and finds the host's programs.
    """
    machine, file = task.machine, f"{task.label}.targets"
    arguments = {
        "--label": task.label,
        "--control": task.control,
        "--targets": task.control / file,
        "--seconds": task.seconds,
        "--out": task.out / out,
    }
    words = [str(word) for option in arguments.items() for word in option]
    variables = plain_variables(path_of(module, machine) if path is None else path)
    variables["PATH"] = machine.path
    content = json.dumps([asdict(each) for each in task.targets] if told is None else told)
    argv = (machine.python, *ALONE, "-m", module, *words)
    return Program(argv, variables, {file: content})


@dataclass(frozen=True, slots=True)
class Probe:
    """A kind of probe; ``study.probes`` has what reads its logs, under the same name.

    ``program`` gives the command that runs on each host, or None for a host on which there is
    nothing to watch.  One that ``asks_nodes`` has systems start so that their nodes tell of their
    inside.  ``check`` raises ``ProbeError`` or ``HostError`` unless the folder of a host, on which
    it was started, holds a sound log.  One with ``always`` is in every run; others are where a plan
    names them.  ``now`` is the name of its log, and what gives of the end of that, while it is
    written, the cores that each process uses, by label.  ``tools`` are what its hosts must have.
    ``prepared`` gives the hosts on which nodes and load generators are started such that it can see
    into them, as long as its context lasts; it raises ``HostError`` where it may not.
    """

    name: str
    program: Callable[[Task], Program | None]
    check: Callable[[Path, str], None]
    always: bool = False
    now: tuple[str, Callable[[bytes], Mapping[str, float]]] | None = None
    asks_nodes: bool = False
    tools: tuple[Tool, ...] = ()
    prepared: Callable[[Hosts], AbstractContextManager[Hosts]] = nullcontext
