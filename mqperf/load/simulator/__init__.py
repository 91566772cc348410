"""The oslo.messaging simulator, which is a part of oslo.messaging's source, as a load generator."""

from pathlib import Path

from mqperf.load.generator import Generator, Kind
from mqperf.load.oslo import releases
from mqperf.load.oslo.drivers import options
from mqperf.load.simulator import environments, output
from mqperf.load.simulator.account import account
from mqperf.load.simulator.commands import commands, describe, queues
from mqperf.load.simulator.parameters import Parameters


def about(driver: str) -> str:
    """Which release, for which driver."""
    return f"simulator of oslo.messaging {releases.find(driver).version} for {driver}"


def check(folder: Path, label: str, kind: Kind) -> None:
    """Raise ``LoadError`` unless a process left its summary."""
    readers = {"client": output.read_client, "server": output.read_server}
    readers[kind](folder / f"{label}.json")


GENERATOR = Generator(
    name="simulator",
    title="Oslo.messaging Simulator",
    link="https://github.com/openstack/oslo.messaging/blob/master/tools/simulator.py",
    test_cases=("rpc-call", "rpc-cast", "notify"),
    tool=environments.ensure,
    about=about,
    try_out=environments.self_check,
    release="oslo.messaging",
    parameters=Parameters,
    commands=commands,
    describe=describe,
    options=options,
    check=check,
    account=account,
    queues=queues,
    library=releases.pinned,
    encrypts=True,
)
