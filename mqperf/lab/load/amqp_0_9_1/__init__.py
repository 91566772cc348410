"""A generator of AMQP 0-9-1 traffic: publishers and consumers with frames of their own."""

from mqperf.lab.load.amqp_0_9_1 import layout
from mqperf.lab.load.amqp_0_9_1.commands import commands, describe, options
from mqperf.lab.load.amqp_0_9_1.environment import PROGRAM
from mqperf.lab.load.generator import Generator
from mqperf.lab.load.numbered.environment import RELEASE
from mqperf.plan.load.amqp_0_9_1 import Parameters, misfit, of_case
from mqperf.study.load.amqp_0_9_1 import account, check

GENERATOR = Generator(
    name="amqp-0-9-1",
    title="AMQP 0-9-1 Stressor",
    link="https://www.rabbitmq.com/amqp-0-9-1-protocol",
    test_cases=("publish",),
    tool=PROGRAM.ensure,
    about=lambda _driver: "publishers and consumers of AMQP 0-9-1",
    try_out=PROGRAM.self_check,
    release=RELEASE,
    parameters=Parameters,
    commands=commands,
    describe=describe,
    options=options,
    check=check,
    account=account,
    queues=layout.queues,
    copies=lambda case: of_case(case).copies,
    encrypts=True,
    ends_early=True,
    misfit=misfit,
)
