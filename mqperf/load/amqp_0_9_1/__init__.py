"""A generator of AMQP 0-9-1 traffic: publishers and consumers with frames of their own."""

from mqperf.load.amqp_0_9_1 import layout
from mqperf.load.amqp_0_9_1.account import account, check
from mqperf.load.amqp_0_9_1.commands import commands, describe, options
from mqperf.load.amqp_0_9_1.environment import PROGRAM
from mqperf.load.amqp_0_9_1.parameters import Parameters, misfit, of_case
from mqperf.load.generator import Generator
from mqperf.load.numbered.environment import RELEASE

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
    typed=False,
    options=options,
    check=check,
    account=account,
    queues=layout.queues,
    copies=lambda case: of_case(case).copies,
    encrypts=True,
    ends_early=True,
    misfit=misfit,
)
