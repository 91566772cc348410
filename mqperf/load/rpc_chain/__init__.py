"""Chains of RPCs between services, over oslo.messaging, as a load generator.

A creation begins in the API of a client and ends when that client's control plane has the last
update of the agent: one clock tells how long it took.
"""

from pathlib import Path

from mqperf.load.generator import Generator, Kind
from mqperf.load.oslo import releases
from mqperf.load.oslo.drivers import options
from mqperf.load.oslo.library import Library, library
from mqperf.load.rpc_chain import steps_file
from mqperf.load.rpc_chain.account import account
from mqperf.load.rpc_chain.commands import commands, describe, queues
from mqperf.load.rpc_chain.parameters import Parameters
from mqperf.software import Machine


def about(driver: str) -> str:
    """Which release, for which driver."""
    return f"oslo.messaging {releases.find(driver).version} for {driver}"


def tool(driver: str, machine: Machine) -> Library:
    """The library on a host."""
    return library(f"The environment of chains ({about(driver)})", releases.find(driver), machine)


def check(folder: Path, label: str, _kind: Kind) -> None:
    """Raise ``LoadError`` unless a process left its steps."""
    steps_file.read_header(steps_file.file_of(folder, label))


GENERATOR = Generator(
    name="rpc-chain",
    title="Chain of RPCs",
    link="https://docs.openstack.org/oslo.messaging/latest/",
    test_cases=("rpc-chain",),
    tool=tool,
    about=about,
    try_out=lambda driver, machine: tool(driver, machine).versions,
    release="oslo.messaging",
    parameters=Parameters,
    commands=commands,
    describe=describe,
    typed=False,
    options=options,
    check=check,
    account=account,
    queues=queues,
    library=releases.pinned,
    encrypts=True,
)
