"""Load generators for the protocols of Artemis: publishers and consumers with own codecs."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from mqperf.lab.load.launcher import Access, Launcher, LoadJob
from mqperf.plan import Case
from mqperf.plan.load import Member
from mqperf.plan.load.generator import Generator
from mqperf_activemq.lab.artemis import KIND
from mqperf_activemq.plan.parameters import CORE, OPENWIRE, STOMP, of_case
from mqperf_numbered.lab.environment import Program
from mqperf_numbered.lab.launcher import addresses, launcher, orders

PROGRAM = Program("the generator of Artemis' protocols", "mqperf_activemq.onhost")


def options(case: Case, _access: Access, _address: str) -> Mapping[str, Mapping[str, str]]:
    """Return the options of consumers."""
    parameters = of_case(case)
    return {"consumer": {"acks": parameters.acks, "prefetch": str(parameters.prefetch)}}


def _orders(protocol: str, job: LoadJob, member: Member) -> dict[str, Any]:
    return orders(of_case, job, member) | {"protocol": protocol}


def _launcher(generator: Generator) -> Launcher:
    about = f"publishers and consumers of {generator.protocol}"
    return replace(
        launcher(generator.name, PROGRAM, about, partial(_orders, generator.name)),
        drivers={KIND.name: generator.name},
        options=options,
        queues=addresses,
    )


STOMP_LAUNCHER, OPENWIRE_LAUNCHER, CORE_LAUNCHER = map(_launcher, (STOMP, OPENWIRE, CORE))
