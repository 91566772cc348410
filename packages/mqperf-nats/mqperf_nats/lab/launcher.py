"""The launcher of publishers and subscribers of NATS, which need no client library."""

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
"""Replacement of dots: a stream has the name of its subject, and names must not have dots."""


def options(case: Case, _access: Access, _address: str) -> Mapping[str, Mapping[str, str]]:
    """Return the options of streams and consumers; core NATS has none."""
    stream, parameters = STREAMS.get(case.queues), of_case(case)
    if stream is None:
        return {}
    return {
        "stream": {name: str(value) for name, value in stream.items()},
        "consumer": {"acks": parameters.acks, "max_ack_pending": str(parameters.prefetch)},
    }


def streams(case: Case, run_id: str) -> Sequence[str]:
    """Return the streams of a run, which their subscribers remove unless they are killed."""
    has_streams = case.queues in STREAMS
    return [name.replace(".", DOTS) for name in addresses(case, run_id)] if has_streams else []


def _orders(job: LoadJob, member: Member) -> dict[str, Any]:
    """Return the orders of a process; core NATS has no streams, and no confirms."""
    stream = STREAMS.get(job.case.queues)
    further: dict[str, Any] = {"stream": stream} if stream else {"stream": None, "confirms": 0}
    return orders(of_case, job, member, dots=DOTS) | further


LAUNCHER = replace(
    launcher(GENERATOR.name, PROGRAM, "publishers and subscribers of NATS", _orders),
    options=options,
    queues=streams,
)
