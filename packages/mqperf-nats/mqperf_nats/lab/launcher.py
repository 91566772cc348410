"""A generator of NATS's traffic: publishers and subscribers with a codec of their own."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from mqperf.lab.load.launcher import Access, LoadJob
from mqperf.plan import Case
from mqperf.plan.load import Member
from mqperf_nats.plan.parameters import GENERATOR, of_case
from mqperf_nats.plan.queues import STREAMS
from mqperf_numbered.lab.environment import Program
from mqperf_numbered.lab.launcher import addresses, launcher, orders

PROGRAM = Program("the generator of NATS", "mqperf_nats.onhost")

DOTS = "_"
"""What stands for dots: a stream is called as its subject, and no dot can be in its name."""


def options(case: Case, _access: Access, _address: str) -> Mapping[str, Mapping[str, str]]:
    """How streams are made and consumed; core NATS has no options."""
    stream, parameters = STREAMS.get(case.queues), of_case(case)
    if stream is None:
        return {}
    return {
        "stream": {name: str(value) for name, value in stream.items()},
        "consumer": {"acks": parameters.acks, "max_ack_pending": str(parameters.prefetch)},
    }


def streams(case: Case, run_id: str) -> Sequence[str]:
    """The streams of a run, which their subscribers remove unless they are killed."""
    kept = case.queues in STREAMS
    return [name.replace(".", DOTS) for name in addresses(case, run_id)] if kept else []


def _orders(job: LoadJob, member: Member) -> dict[str, Any]:
    """How streams are made; core NATS has none, and confirms nothing."""
    stream = STREAMS.get(job.case.queues)
    of_core = {} if stream else {"confirms": 0}
    return orders(of_case, job, member, dots=DOTS) | {"stream": stream} | of_core


LAUNCHER = replace(
    launcher(GENERATOR.name, PROGRAM, "publishers and subscribers of NATS", _orders),
    options=options,
    queues=streams,
)
