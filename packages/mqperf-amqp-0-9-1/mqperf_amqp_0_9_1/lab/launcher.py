"""A generator of AMQP 0-9-1 traffic: publishers and consumers with frames of their own."""

from functools import partial

from mqperf.lab.load.launcher import Launcher
from mqperf.record.outputs import diary
from mqperf_amqp_0_9_1.lab import layout
from mqperf_amqp_0_9_1.lab.commands import PROGRAM, commands, describe, options

LAUNCHER = Launcher(
    name="amqp-0-9-1",
    tool=PROGRAM.ensure,
    about=lambda _driver: "publishers and consumers of AMQP 0-9-1",
    try_out=PROGRAM.self_check,
    commands=commands,
    describe=describe,
    typed=False,
    check=partial(diary.check, "amqp-0-9-1"),
    drivers={"rabbitmq": "amqp-0-9-1"},
    options=options,
    queues=layout.queues,
)
