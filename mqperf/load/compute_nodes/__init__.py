"""The traffic of OpenStack's compute nodes and their controllers, as a load generator.

It sends what `traffic.yaml` says, with the parts of the generator of AMQP 0-9-1.
"""

from mqperf.load.compute_nodes.account import account, check
from mqperf.load.compute_nodes.commands import commands, describe, options
from mqperf.load.compute_nodes.environment import PROGRAM
from mqperf.load.compute_nodes.layout import queues
from mqperf.load.compute_nodes.parameters import Parameters
from mqperf.load.generator import Generator
from mqperf.load.numbered.environment import RELEASE

GENERATOR = Generator(
    name="compute-nodes",
    title="Traffic of compute nodes",
    link="https://docs.openstack.org/oslo.messaging/latest/",
    test_cases=("publish",),
    tool=PROGRAM.ensure,
    about=lambda _driver: "OpenStack's compute nodes over AMQP 0-9-1",
    try_out=PROGRAM.self_check,
    release=RELEASE,
    parameters=Parameters,
    commands=commands,
    describe=describe,
    typed=False,
    options=options,
    check=check,
    account=account,
    queues=queues,
    encrypts=True,
)
