"""A system under test with one node, which does nothing."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pydantic import JsonValue

from mqperf.base.errors import SystemFault
from mqperf.hosts import Host, HostFolder, Process
from mqperf.lab.load import Access, Endpoint
from mqperf.lab.systems import Deployment, Node, System, Tool
from mqperf.plan import Case

NOWHERE = Endpoint("amqp-1.0", ("127.0.0.1:9",))


@dataclass
class Toy:
    """The deployment: a process that sleeps, and the number of provisioned runs."""

    process: Process
    host: Host
    provisioned: int = 0
    ends_with_us: ClassVar[bool] = True

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The process."""
        return (Node("Toy", "toy", self.process, self.host),)

    def provision(self, _case: Case, _run_id: str) -> Access:
        """Count, and give an endpoint that nobody serves."""
        self.provisioned += 1
        return Access(NOWHERE, NOWHERE)

    def clean_up(self, _run_id: str, _queues: Sequence[str]) -> None:
        """Count down."""
        self.provisioned -= 1

    def facts(self) -> dict[str, JsonValue]:
        """A fixed version."""
        return {"version": "1", "nodes": [{"label": "Toy", "name": "toy"}]}

    def check(self) -> None:
        """Raise ``SystemFault`` if the process is dead."""
        if not self.process.alive:
            raise SystemFault("Toy is dead")

    def collect(self, folder: Path) -> None:
        """There is nothing to collect."""


@contextmanager
def start(
    _settings: Mapping[str, JsonValue], host_folders: Sequence[HostFolder]
) -> Iterator[Deployment]:
    """Start the process on the first host, and stop it at the end."""
    host, folder = host_folders[0].host, host_folders[0].folder
    process = host.start("Toy", ["sleep", "600"], log=folder / "toy.log")
    try:
        yield Toy(process, host)
    finally:
        process.stop(grace_s=0)


SYSTEM = System(
    name="toy",
    title="Toy",
    topologies=("direct", "toy-alone"),
    queues=("none",),
    drivers={"replay": "any"},
    installed=lambda _host: "1",
    check=lambda _settings: None,
    start=start,
    forms=("toys",),
    tools=(Tool("toy", "toy-server", packages=("toy", "toy-data"), services=("toyd",)),),
)
