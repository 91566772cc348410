"""A generator of AMQP 1.0 traffic: senders and receivers with frames of their own."""

from dataclasses import replace

from mqperf_amqp_1_0.lab.commands import PROGRAM, options, orders
from mqperf_amqp_1_0.plan.parameters import GENERATOR
from mqperf_numbered.lab.commands import addresses
from mqperf_numbered.lab.launcher import launcher

LAUNCHER = replace(
    launcher(GENERATOR.name, PROGRAM, "senders and receivers of AMQP 1.0", orders),
    drivers={"rabbitmq": GENERATOR.name},
    options=options,
    queues=addresses,
)
