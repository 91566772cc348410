"""A generator of AMQP 1.0 traffic: senders and receivers with frames of their own."""

from mqperf.lab.load.amqp_1_0 import layout
from mqperf.lab.load.amqp_1_0.commands import commands, describe, options
from mqperf.lab.load.amqp_1_0.environment import PROGRAM
from mqperf.lab.load.generator import Generator
from mqperf.lab.load.numbered.environment import RELEASE
from mqperf.plan.load.amqp_1_0 import Parameters
from mqperf.study.load.amqp_1_0 import account, check

GENERATOR = Generator(
    name="amqp-1.0",
    title="AMQP 1.0 Senders and Receivers",
    link="https://docs.oasis-open.org/amqp/core/v1.0/amqp-core-overview-v1.0.html",
    test_cases=("transfer",),
    tool=PROGRAM.ensure,
    about=lambda _driver: "senders and receivers of AMQP 1.0",
    try_out=PROGRAM.self_check,
    release=RELEASE,
    parameters=Parameters,
    commands=commands,
    describe=describe,
    options=options,
    check=check,
    account=account,
    queues=layout.addresses,
    encrypts=True,
    ends_early=True,
)
