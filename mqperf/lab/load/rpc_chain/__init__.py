"""Chains of RPCs between services, over oslo.messaging, as a load generator.

A creation begins in the API of a client and ends when that client's control plane has the last
update of the agent: one clock tells how long it took.
"""

from pathlib import Path

from mqperf.hosts.software import Machine
from mqperf.lab.load.launcher import Launcher
from mqperf.lab.load.oslo import releases
from mqperf.lab.load.oslo.drivers import options
from mqperf.lab.load.oslo.library import Library, library
from mqperf.lab.load.rpc_chain.commands import commands, describe, queues
from mqperf.plan.load.generator import Kind
from mqperf.record.outputs import steps as steps_file


def about(driver: str) -> str:
    """Which release, for which driver."""
    return f"oslo.messaging {releases.find(driver).version} for {driver}"


def tool(driver: str, machine: Machine) -> Library:
    """The library on a host."""
    return library(f"The environment of chains ({about(driver)})", releases.find(driver), machine)


def check(folder: Path, label: str, _kind: Kind) -> None:
    """Raise ``LoadError`` unless a process left its steps."""
    steps_file.read_header(steps_file.file_of(folder, label))


LAUNCHER = Launcher(
    name="rpc-chain",
    tool=tool,
    about=about,
    try_out=lambda driver, machine: tool(driver, machine).versions,
    commands=commands,
    describe=describe,
    typed=False,
    check=check,
    options=options,
    queues=queues,
    library=releases.pinned,
)
