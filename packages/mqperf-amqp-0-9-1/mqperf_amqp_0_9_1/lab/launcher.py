"""A generator of AMQP 0-9-1 traffic: publishers and consumers with frames of their own."""

from dataclasses import replace

from mqperf_amqp_0_9_1.lab import layout
from mqperf_amqp_0_9_1.lab.commands import PROGRAM, commands, options, orders
from mqperf_amqp_0_9_1.plan.parameters import GENERATOR
from mqperf_numbered.lab.launcher import launcher

LAUNCHER = replace(
    launcher(GENERATOR.name, PROGRAM, "publishers and consumers of AMQP 0-9-1", orders),
    commands=commands,
    drivers={"rabbitmq": GENERATOR.name},
    options=options,
    queues=layout.queues,
)
