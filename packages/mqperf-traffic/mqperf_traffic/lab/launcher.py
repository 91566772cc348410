"""Starts a replay: deals the routes of its profile, each with its queues, to processes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

from mqperf.base.errors import LoadError
from mqperf.lab.load import Access, LoadJob
from mqperf.plan import Case
from mqperf.plan.load import Member
from mqperf_amqp_0_9_1.lab.launcher import ARGUMENTS
from mqperf_numbered.lab.environment import Program
from mqperf_numbered.lab.launcher import launcher
from mqperf_traffic.plan.parameters import GENERATOR, of_case
from mqperf_traffic.plan.profile import Profile, Route, most_of_a_process, numbers, parsed

PROGRAM = Program("the replay of traffic", "mqperf_traffic.onhost")

EXCHANGE = "direct"

MOST_CHANNELS = 2_000
"""Channels of a connection, one for each queue: brokers allow 2,047 by default."""

EXPIRES = {"x-expires": 600_000}
"""Queues are deleted when unused for 10 minutes, as a case does not say how many there are."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The routes of a run, dealt to processes."""

    key: str
    routes: tuple[Route, ...]
    processes: int

    @property
    def each(self) -> int:
        """The most routes of a process."""
        return most_of_a_process(len(self.routes), self.processes)

    def own(self, process: int) -> Iterator[tuple[int, Route]]:
        """Yield the routes of a process with their global numbers; processes count from 1."""
        routes = zip(numbers(len(self.routes), self.processes), self.routes, strict=True)
        return ((number, route) for number, route in routes if number // self.each == process - 1)

    def thread(self, number: int, route: Route) -> dict[str, Any]:
        """Return the orders of publisher and consumer of a route; names have a fixed width."""
        digits = f"{number + 1:06d}"
        return {
            "number": number,
            "exchange": f"{self.key}.{EXCHANGE}",
            "routing_key": digits,
            "headers": {},
            "queues": [f"{self.key}.{digits}.{copy + 1:04d}" for copy in range(route.queues)],
            "binding_key": digits,
            "binding": {},
        }


def profile_of(job: LoadJob) -> Profile:
    """Return the profile of a job; raises ``LoadError`` if it is not read or has too few routes."""
    name = of_case(job.case).traffic_file
    if name not in job.files:
        raise LoadError(f"{name}: was not read with the plan: run the plan from its file")
    profile, processes = parsed(job.files[name], name), job.case.processes * job.case.hosts
    if len(profile.routes) < processes:
        raise LoadError(
            f"{name} has {len(profile.routes)} routes, one process for each at most: ask for"
            f" fewer than {processes} processes"
        )
    return profile


def orders(job: LoadJob, member: Member) -> dict[str, Any]:
    """Return the orders of a process, beyond those that all generators have."""
    case, parameters, profile = job.case, of_case(job.case), profile_of(job)
    layout = Layout(job.run_id, profile.routes, case.processes * case.hosts)
    own, copies = list(layout.own(member.number)), max(route.queues for route in profile.routes)
    first = member.kind == "client" and member.number == 1
    return {
        **parameters.model_dump(include={"acks", "prefetch", "confirms", "delivery"}),
        "pace": {"rate": 1.0},  # each route has its own
        "payload_bytes": max(length for route in profile.routes for length, _ in route.lengths),
        "speed": parameters.traffic_speed,
        "scale": parameters.traffic_scale,
        "tenths": profile.tenths,
        "routes": [route.model_dump(include={"per_second", "lengths"}) for _, route in own],
        "all_routes": len(profile.routes),
        "profile": job.files[parameters.traffic_file].decode() if first else None,
        "threads": [layout.thread(number, route) for number, route in own],
        "threads_per_process": layout.each,
        "channels": min(ceil(len(own) / case.green_threads), max(1, MOST_CHANNELS // copies)),
        "copies": copies,
        "exchange_type": EXCHANGE,
        "queue_arguments": {**ARGUMENTS[case.queues], **EXPIRES},
        **_UNUSED,
    }


_UNUSED: Mapping[str, Any] = {
    "message_count": None,
    "consume_after_s": None,
    "payload": None,
    "in_body": False,  # bodies may be too short for a stamp
    "payload_mix": [],
    "body_file": None,
    "unroutable": "returned",
    "ttl_ms": None,
    **dict.fromkeys(("reject_share", "delivery_limit", "dead_letters", "urgent_share")),
    "log": False,
}
"""Orders of the load ``amqp-0-9-1`` that a replay does not use."""


def options(case: Case, _access: Access, _address: str) -> Mapping[str, Mapping[str, str]]:
    """Return the options of the queues and the exchange of the load."""
    expire = {name: str(value) for name, value in EXPIRES.items()}
    queues = {"durable": "true", **ARGUMENTS[case.queues], **expire}
    return {"queue": queues, "exchange": {"type": EXCHANGE, "durable": "true"}}


LAUNCHER = replace(
    launcher(GENERATOR.name, PROGRAM, "a replay of traffic over AMQP 0-9-1", orders),
    drivers={"rabbitmq": "amqp-0-9-1"},
    options=options,
)
