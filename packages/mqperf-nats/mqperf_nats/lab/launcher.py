"""A generator of NATS's traffic: publishers and subscribers with a codec of their own."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mqperf.lab.load.launcher import Access, Job
from mqperf.plan import Case
from mqperf.plan.load import Member
from mqperf_nats.plan.parameters import GENERATOR, of_case
from mqperf_nats.plan.queues import STREAMS
from mqperf_numbered.lab.commands import addresses, threads
from mqperf_numbered.lab.environment import Program
from mqperf_numbered.lab.launcher import launcher

PROGRAM = Program("the generator of NATS", "mqperf_nats.onhost", ("publisher", "subscriber"))


def options(case: Case, _access: Access, _address: str) -> Mapping[str, Mapping[str, str]]:
    """How streams are made and consumed; core NATS has no options."""
    stream, parameters = STREAMS.get(case.queues), of_case(case)
    if stream is None:
        return {}
    return {
        "stream": {name: str(value) for name, value in stream.items()},
        "consumer": {"acks": parameters.acks, "max_ack_pending": str(parameters.prefetch)},
    }


def _orders(job: Job, member: Member) -> dict[str, Any]:
    """A stream is called as its subject, and no dot can be in its name."""
    case, stream = job.case, STREAMS.get(job.case.queues)
    subjects = [address.replace(".", "_") for address in addresses(case, job.run_id)]
    orders = {"stream": stream, "threads": threads(case, member, subjects)}
    return of_case(case).ordered(case.threads) | orders | ({} if stream else {"confirms": 0})


LAUNCHER = replace(
    launcher(GENERATOR.name, PROGRAM, "publishers and subscribers of NATS", _orders),
    options=options,
)
