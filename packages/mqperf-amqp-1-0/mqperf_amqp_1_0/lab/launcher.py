"""A generator of AMQP 1.0 traffic: senders and receivers with frames of their own."""

from functools import partial

from mqperf.lab.load.launcher import Launcher
from mqperf.record.outputs import diary
from mqperf_amqp_1_0.lab import layout
from mqperf_amqp_1_0.lab.commands import PROGRAM, commands, describe, options

LAUNCHER = Launcher(
    name="amqp-1.0",
    tool=PROGRAM.ensure,
    about=lambda _driver: "senders and receivers of AMQP 1.0",
    try_out=PROGRAM.self_check,
    commands=commands,
    describe=describe,
    typed=False,
    check=partial(diary.check, "amqp-1.0"),
    options=options,
    queues=layout.addresses,
    drivers={"rabbitmq": "amqp-1.0"},
)
