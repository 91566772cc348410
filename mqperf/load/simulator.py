"""The oslo.messaging simulator: the commands of one run.

Every pair is one client process and one server process.  With targets ``own`` each pair has a topic
of its own; with ``shared`` all servers take from one topic, as in the reports of 2016.  The
simulator is strict about the order of its arguments: all that concerns both roles comes before the
mode, and ``-tg``, which takes any number of values, must not be the last of them.
"""

import hashlib
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mqperf.guarded import scratch_errors
from mqperf.load import Access, Command
from mqperf.load.environments import Environment
from mqperf.plan import Case

Kind = Literal["client", "server"]

INSIDE = Path(__file__).with_name("inside")
ANY_URL = "rabbit://USER:PASSWORD@HOST:5672/VHOST"
DEFAULT_POOL = 30
"""Connections that the RabbitMQ driver keeps by default; above it warns at nearly every message."""


def commands(  # noqa: PLR0913, PLR0917 (what a run has: a case, a name, access, tools, two folders)
    case: Case, run_id: str, access: Access, environment: Environment, control: Path, out: Path
) -> list[Command]:
    """The processes of a run, servers first.

    Writes the two oslo.config files into ``control``, readable by their owner only: transport URLs
    hold passwords, so they never become arguments.  The processes write into ``out``.
    """
    for kind, url in (("server", access.server_url), ("client", access.client_url)):
        _write_config(control / f"{kind}.conf", _sections(case, url, access.options))
    shim = _Shim(case, environment, control, out)
    return [
        Command(label, kind, shim.argv(label, kind, pair, _topic(case, run_id, pair)), shim.env())
        for label, kind, pair in _processes(case)
    ]


def describe(case: Case) -> list[str]:
    """The same processes as command lines to type by hand, in the order in which to start them."""
    return [
        shlex.join(
            [
                *("python", "simulator.py", "--url", ANY_URL, "-j", f"{label}.json"),
                *_arguments(case, kind, pair, _topic(case, "mqperf", pair)),
            ]
        )
        for label, kind, pair in _processes(case)
    ]


@dataclass(frozen=True, slots=True)
class _Shim:
    """What the simulator's processes of one run have in common."""

    case: Case
    environment: Environment
    control: Path
    out: Path

    def argv(self, label: str, kind: Kind, pair: int, topic: str) -> tuple[str, ...]:
        python = (str(self.environment.python), "-P", "-s", "-u", "-W", "ignore")
        config = ("--config-file", str(self.control / f"{kind}.conf"))
        summary = ("-j", str(self.out / f"{label}.json"))
        simulated = (*config, *summary, *_arguments(self.case, kind, pair, topic))
        return (*python, "-m", "simulator_shim", *self._options(label, kind), "--", *simulated)

    def _options(self, label: str, kind: Kind) -> Iterator[str]:
        options = {
            "--simulator": self.environment.simulator,
            "--label": label,
            "--kind": kind,
            "--test-case": self.case.test_case,
            "--control": self.control,
            "--messages": self.out / f"{label}.messages",
            "--threads": self.case.green_threads,
            "--seed": _seed(self.case, label),
        }
        for name, value in options.items():
            yield from (name, str(value))
        for repair in self.environment.release.repairs:
            yield from ("--repair", repair)

    def env(self) -> dict[str, str]:
        """All variables of a process: nothing of the caller's reaches the measured program."""
        return {
            "PATH": os.defpath,
            "LANG": "C.UTF-8",
            "HOME": str(self.control),
            "PYTHONPATH": str(INSIDE),
            "PYTHONDONTWRITEBYTECODE": "1",
            # names are looked up while connecting only; the green resolver costs 0.1 s to import
            "EVENTLET_NO_GREENDNS": "yes",
        }


def _processes(case: Case) -> Iterator[tuple[str, Kind, int]]:
    kinds: tuple[Kind, ...] = ("server", "client")
    for kind in kinds:
        for pair in range(1, case.processes + 1):
            yield f"{kind}-{pair}", kind, pair


def _topic(case: Case, run_id: str, pair: int) -> str:
    """Without dots: the simulator splits a target into topic and server name at the first one."""
    topic = re.sub(r"[^A-Za-z0-9_-]", "-", run_id)
    return topic if case.targets == "shared" else f"{topic}-{pair}"


def _arguments(case: Case, kind: Kind, pair: int, topic: str) -> list[str]:
    """The simulator's arguments after those that say where to connect and what to write."""
    family = "notify" if case.test_case == "notify" else "rpc"
    if kind == "server":
        return ["-tp", topic, "-s", f"server-{pair}", f"{family}-server"]
    # without a server name, any server of the topic takes the message
    target = topic if case.targets == "shared" else f"{topic}.server-{pair}"
    load = ["-p", str(case.green_threads), "--timeout", str(case.timeout_s)]
    cast = ["--is-cast"] if case.test_case == "rpc-cast" else []
    return ["-tg", target, "-tp", topic, "-l", str(case.load_s), f"{family}-client", *load, *cast]


def _seed(case: Case, label: str) -> int:
    """Equal for all repeats of a case, different for each of its processes."""
    return int.from_bytes(hashlib.sha256(f"{case.point}/{label}".encode()).digest()[:4])


def _sections(
    case: Case, url: str, options: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, str]]:
    """The URL, the system's options, and a connection for every green thread."""
    sections = {"DEFAULT": {"transport_url": url}}
    if case.green_threads > DEFAULT_POOL:
        sections["oslo_messaging_rabbit"] = {"rpc_conn_pool_size": str(case.green_threads)}
    for section, values in options.items():
        sections[section] = sections.get(section, {}) | dict(values)
    return sections


def _write_config(path: Path, sections: Mapping[str, Mapping[str, str]]) -> None:
    """An oslo.config file for its owner only; ``$`` would begin the name of another option."""
    lines: list[str] = []
    for section, values in sections.items():
        lines += [f"[{section}]", *(f"{key} = {value}" for key, value in values.items())]
    with scratch_errors(path):
        path.touch(mode=0o600)
        path.write_text("\n".join(lines).replace("$", "$$") + "\n")
