"""The launcher of senders and receivers of AMQP 1.0, which need no client library."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from mqperf.lab.load.launcher import Access
from mqperf.plan import Case
from mqperf_amqp_1_0.plan.parameters import GENERATOR, of_case
from mqperf_numbered.lab.environment import Program
from mqperf_numbered.lab.launcher import addresses, launcher, orders

PROGRAM = Program("the generator of AMQP 1.0", "mqperf_amqp_1_0.onhost")


def options(case: Case, access: Access, _address: str) -> Mapping[str, Mapping[str, str]]:
    """Return the options of connections and links of the load."""
    parameters = of_case(case)
    mechanism = "PLAIN" if access.client.user else "ANONYMOUS"
    return {
        "connection": {"sasl": mechanism},
        "link": {"settlement": parameters.settlement, "credit": str(parameters.credit)},
    }


LAUNCHER = replace(
    launcher(
        GENERATOR.name, PROGRAM, "senders and receivers of AMQP 1.0", partial(orders, of_case)
    ),
    drivers={"rabbitmq": GENERATOR.name},
    options=options,
    queues=addresses,
)
