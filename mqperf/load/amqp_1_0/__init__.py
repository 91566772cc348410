"""A generator of AMQP 1.0 traffic: senders and receivers with frames of their own."""

from mqperf.load.amqp_1_0 import layout
from mqperf.load.amqp_1_0.account import account, check
from mqperf.load.amqp_1_0.commands import commands, describe, options
from mqperf.load.amqp_1_0.environment import PROGRAM
from mqperf.load.amqp_1_0.parameters import Parameters
from mqperf.load.generator import Generator
from mqperf.load.numbered.environment import RELEASE

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
    typed=False,
    options=options,
    check=check,
    account=account,
    queues=layout.addresses,
    encrypts=True,
    ends_early=True,
)
