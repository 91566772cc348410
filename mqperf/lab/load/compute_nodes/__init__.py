"""The traffic of OpenStack's compute nodes and their controllers, as a load generator.

It sends what `traffic.yaml` says, with the parts of the generator of AMQP 0-9-1.
"""

from mqperf.lab.load.compute_nodes.commands import commands, describe, options
from mqperf.lab.load.compute_nodes.environment import PROGRAM
from mqperf.lab.load.compute_nodes.layout import queues
from mqperf.lab.load.generator import Generator
from mqperf.lab.load.numbered.environment import RELEASE
from mqperf.plan.load.compute_nodes import Parameters
from mqperf.study.load.compute_nodes import account, check

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
    options=options,
    check=check,
    account=account,
    queues=queues,
    encrypts=True,
)
