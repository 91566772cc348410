"""The oslo.messaging simulator, which is a part of oslo.messaging's source, as a load generator."""

from pathlib import Path

from mqperf.lab.load.generator import Generator, Kind
from mqperf.lab.load.oslo import releases
from mqperf.lab.load.oslo.drivers import options
from mqperf.lab.load.simulator import environments
from mqperf.lab.load.simulator.commands import commands, describe, queues
from mqperf.plan.load.simulator import Parameters
from mqperf.record.outputs import simulator as output
from mqperf.study.load.simulator import account


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
