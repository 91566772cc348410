"""The interface of probes to the runner."""

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
    """A process to observe, under the label that tables show."""

    label: str
    kind: Literal["broker", "client", "server", "background", "harness"]
    pid: int
    children: bool = False


@dataclass(frozen=True, slots=True)
class Inside:
    """The endpoint for the metrics of the node of this label: client module, address, and user.

    ``asks`` is the name of a module in an ``onhost`` package: its class ``NodeClient`` requests
    the metrics, and its ``PROTOCOL`` is the name of the reader of the answers in ``INSIDE_READERS``
    of ``study``.  The password is only written to files that nobody else can read.
    """

    node: str
    asks: str
    address: str
    user: str = ""
    password: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Task:
    """The input of a probe for one run on one host, ``machine``.

    The probe is called ``label``, communicates in ``control`` as load generators do, samples for
    ``seconds`` from the start, and writes into ``out``.  Paths are those of the host.  ``insides``
    are the metrics endpoints of the nodes on that host.
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
    """The command of a probe, with its whole environment.

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
    data: object = None,
    path: Sequence[Path] | None = None,
) -> Program:
    """Return the program of a probe that is an ``onhost`` module; it stops by itself.

    ``out`` is the name of its output file, or empty to pass the folder instead.  ``data`` is its
    input, by default the targets; a file passes it, so that no argument has a pid or a password.
    ``path`` has its import folders, by default those of the module; its PATH is that of the host.
    """
    machine, file = task.machine, f"{task.label}.targets"
    arguments = {
        "--label": task.label,
        "--control": task.control,
        "--targets": task.control / file,
        "--seconds": task.seconds,
        "--out": task.out / out,
    }
    options = [str(text) for option in arguments.items() for text in option]
    variables = plain_variables(path_of(module, machine) if path is None else path)
    variables["PATH"] = machine.path
    content = json.dumps([asdict(each) for each in task.targets] if data is None else data)
    argv = (machine.python, *ALONE, "-m", module, *options)
    return Program(argv, variables, {file: content})


@dataclass(frozen=True, slots=True)
class Probe:
    """A kind of probe; ``study.probes`` has the reader of its logs, under the same name.

    ``program`` returns the command for a host, or None for a host with nothing to observe.  With
    ``asks_nodes``, systems are started such that their nodes report metrics.  ``check`` raises
    ``ProbeError`` or ``HostError`` unless the folder of a host, on which the probe was started,
    holds a sound log.  With ``always`` the probe is in every run, otherwise where a plan names it.
    ``now`` is the name of its log, and a function from the end of the growing log to the CPU cores
    that each process uses, by label.  ``tools`` are the programs that its hosts must have.  The
    context ``prepared`` provides hosts on which nodes and load generators start such that the probe
    can observe their inside; it raises ``HostError`` where that is not permitted.
    """

    name: str
    program: Callable[[Task], Program | None]
    check: Callable[[Path, str], None]
    always: bool = False
    now: tuple[str, Callable[[bytes], Mapping[str, float]]] | None = None
    asks_nodes: bool = False
    tools: tuple[Tool, ...] = ()
    prepared: Callable[[Hosts], AbstractContextManager[Hosts]] = nullcontext
