"""The simulator from the source of oslo.messaging as a load generator."""

from pathlib import Path

from mqperf.lab.load.launcher import Launcher
from mqperf.lab.load.oslo import releases
from mqperf.lab.load.oslo.drivers import options
from mqperf.lab.load.simulator import environments
from mqperf.lab.load.simulator.commands import commands, describe, queues
from mqperf.plan.load.generator import Kind
from mqperf.record.outputs import simulator as output


def about(driver: str) -> str:
    """Return the release and the driver, in a few words."""
    return f"simulator of oslo.messaging {releases.find(driver).version} for {driver}"


def check(folder: Path, label: str, kind: Kind) -> None:
    """Raise ``LoadError`` unless a process left its summary."""
    readers = {"client": output.read_client, "server": output.read_server}
    readers[kind](folder / f"{label}.json")


LAUNCHER = Launcher(
    name="simulator",
    tool=environments.ensure,
    about=about,
    try_out=environments.self_check,
    commands=commands,
    describe=describe,
    check=check,
    options=options,
    queues=queues,
    library=releases.pinned,
)
