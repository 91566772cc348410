"""The launcher of publishers and consumers of streams, which need no client library."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from mqperf.lab.load.launcher import Access
from mqperf.plan import Case
from mqperf_numbered.lab.environment import Program
from mqperf_numbered.lab.launcher import addresses, launcher, orders
from mqperf_streams.plan.parameters import GENERATOR, of_case

PROGRAM = Program("the generator of streams", "mqperf_streams.onhost")


def options(case: Case, _access: Access, _address: str) -> Mapping[str, Mapping[str, str]]:
    """Return the options of consumers: where they begin, and their credit."""
    parameters = of_case(case)
    return {
        "stream": {"offset": parameters.offset, "credit": f"{parameters.chunk_credit} chunks"},
    }


LAUNCHER = replace(
    launcher(
        GENERATOR.name, PROGRAM, "publishers and consumers of streams", partial(orders, of_case)
    ),
    drivers={"rabbitmq": GENERATOR.name},
    options=options,
    queues=addresses,
)
