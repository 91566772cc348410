"""The traffic of OpenStack's compute nodes and their controllers, as a load generator.

It sends what `traffic.yaml` says, with the parts of the generator of AMQP 0-9-1.
"""

from functools import partial

from mqperf.lab.load.compute_nodes.commands import commands, describe, options
from mqperf.lab.load.compute_nodes.environment import PROGRAM
from mqperf.lab.load.compute_nodes.layout import queues
from mqperf.lab.load.launcher import Launcher
from mqperf.record.outputs import diary

LAUNCHER = Launcher(
    name="compute-nodes",
    tool=PROGRAM.ensure,
    about=lambda _driver: "OpenStack's compute nodes over AMQP 0-9-1",
    try_out=PROGRAM.self_check,
    commands=commands,
    describe=describe,
    typed=False,
    check=partial(diary.check, "compute-nodes"),
    options=options,
    queues=queues,
)
