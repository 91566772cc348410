"""``run.json`` as one typed model: the facts about a run, validated once when they are read.

Unknown keys, which a newer mqperf may have added, are ignored.  What a run that died early had not
yet recorded is None, or empty.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from functools import cached_property
from operator import attrgetter
from pathlib import PurePosixPath
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, Field, field_validator, model_validator

from mqperf.plan import CONDITIONS, LATENCIES, PERCENTILES, Case
from mqperf.plan.link import Role
from mqperf.plan.values import Parameter, Scalar

SCHEMA: Literal[2] = 2
"""Version of the run folder.  1: first.  2: ``case.parameters`` has the generator's parameters."""

READABLE = (1, SCHEMA)
"""The versions that can be read; an older one is upgraded."""

FIRST_PARAMETERS = ("targets",)
"""The generator's parameters that the first version held among those of every case."""

LATEST = 4_102_444_800.0
"""The latest instant of a record: the year 2100, in epoch seconds."""

LONGEST_S = 14 * 86_400.0
"""The longest load: each second of it is a row for every stream of messages."""

WIDEST = 2**53
"""The largest recorded integer; JSON readers need not support larger ones exactly."""


SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}\Z")
"""Values of a case that pages and folders are named after."""


def _relative(name: str) -> str:
    """Reject an absolute file name, or one with ``..``: the file must be in the run folder."""
    path = PurePosixPath(name)
    if not name or "\0" in name or path.is_absolute() or ".." in path.parts:
        raise ValueError("should name a file inside the run folder")
    return name


Text = Annotated[str, Field(max_length=10_000)]
Label = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._:@-]*$", max_length=200)]
"""Label of a process, node or host; some files are named after it, so it must be no path."""

FileName = Annotated[str, Field(max_length=1_000), AfterValidator(_relative)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Whole = Annotated[int, Field(ge=-WIDEST, le=WIDEST, strict=True)]
Positive = Annotated[int, Field(ge=1, le=WIDEST, strict=True)]
Instant = Annotated[float, Field(ge=0, le=LATEST, strict=True, allow_inf_nan=False)]
Seconds = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=-LATEST, le=LATEST)]
Measure = Annotated[float, Field(ge=0, le=1e15, allow_inf_nan=False)]
Kind = Literal["broker", "client", "server", "background", "harness"]


class Recorded(BaseModel, frozen=True, populate_by_name=True, defer_build=True):
    """Base of all models of records: immutable."""


class Window(Recorded):
    """The measured window in epoch seconds."""

    start: Instant
    end: Instant

    @model_validator(mode="after")
    def _runs_forwards(self) -> Self:
        if not 0 < self.end - self.start <= LONGEST_S:
            raise ValueError(f"from {self.start} to {self.end} is not a window")
        return self


class Order(Recorded):
    """The order in which the sweep ran."""

    kind: Text | None = None
    seed: Whole | None = None


class ProcessFacts(Recorded):
    """A process of the load generator, and how it ended."""

    label: Label
    kind: Literal["client", "server"]
    host: Label | None = None
    exit_code: Whole | None = None
    reported: bool = Field(strict=True)


def _unique(processes: tuple[ProcessFacts, ...]) -> tuple[ProcessFacts, ...]:
    labels = [process.label for process in processes]
    if len(set(labels)) < len(labels):
        raise ValueError("two have the same label")
    return processes


Processes = Annotated[tuple[ProcessFacts, ...], Field(max_length=100_000), AfterValidator(_unique)]
Versions = Annotated[Mapping[Text, Text | None], Field(max_length=1_000)]
Parameters = Annotated[Mapping[Parameter, Scalar | None], Field(max_length=100)]


class BackgroundFacts(Recorded):
    """A background load of a run: its generator, start and processes."""

    generator: Versions = Field(default_factory=dict)
    parameters: Parameters = Field(default_factory=dict)
    started: Text | None = None
    processes: Processes = ()


class RecordedNode(Recorded):
    """A node of the system under test; ``log`` is its file among those that were collected."""

    name: Text
    label: Label
    host: Label | None = None
    rss_bytes: Whole | None = None
    interface: Text | None = None
    log: FileName | None = None


class SystemFacts(Recorded, extra="allow"):
    """The system under test; further keys of some systems are kept as they are."""

    title: Text | None = None
    cluster: Text | None = None
    version: Text | None = None
    runtime: Text | None = None
    nodes: tuple[RecordedNode, ...] = Field((), max_length=10_000)


class NetworkCard(Recorded):
    """A network card of a machine."""

    name: Text
    model: Text | None = None
    driver: Text | None = None
    speed_bits_per_s: Positive | None = None


class KernelClock(Recorded):
    """The kernel's own state of its clock; None where it does not report one."""

    synchronised: bool | None = None


class HostFacts(Recorded, extra="allow"):
    """A host of the run; hosts with the same ``machine`` share its processors and its clock."""

    label: Label | None = None
    roles: tuple[Role, ...] = Field((), max_length=3)
    os: Text | None = None
    kernel: Text | None = None
    cpu_model: Text | None = None
    cores: Positive | None = None
    memory_bytes: Positive | None = None
    clock_source: Text | None = None
    tcp_congestion_control: Text | None = None
    somaxconn: Whole | None = None
    cpu_governor: Text | None = None
    network: Text | None = None
    network_cards: tuple[NetworkCard, ...] = Field((), max_length=10_000)
    kernel_clock: KernelClock | None = None
    machine: Text | None = None


class Offset(Recorded):
    """The offset of a host's clock, ahead of the controller's, and the bound of its error."""

    offset_s: Seconds
    bound_s: Measure = 0.0


class ClockFacts(Recorded):
    """The clock of a host, compared before and after the load.

    Instants that its processes recorded in between are corrected by the mean of both offsets.
    """

    before: Offset
    after: Offset | None = None

    @property
    def offset_s(self) -> float:
        """Its offset ahead of the controller's clock during the load: the mean of both."""
        after = self.after or self.before
        return (self.before.offset_s + after.offset_s) / 2

    @property
    def uncertainty_s(self) -> float:
        """The largest error of that offset at any instant of the load."""
        after = self.after or self.before
        return max(self.before.bound_s, after.bound_s) + abs(self.change_s) / 2

    @property
    def change_s(self) -> float:
        """How far it gained during the load, or lost (negative)."""
        return (self.after or self.before).offset_s - self.before.offset_s


OWN = ClockFacts(before=Offset(offset_s=0.0))
"""The clock of the controller itself."""


class MeasuredLink(Recorded):
    """A link as measured at one time; None for quantities that its backend cannot measure."""

    delay_s: Measure | None = None
    jitter_s: Measure | None = None
    loss_share: Measure | None = None
    bandwidth_bits_s: Measure | None = None


class LinkFacts(Recorded):
    """The link of a run: its backend, and measurements before and after the load.

    ``packets`` counts packets by their fate; ``seed`` is that of the random losses.
    """

    backend: Label
    seed: Whole | None = None
    packets: Annotated[Mapping[Text, Measure], Field(max_length=100)] = Field(default_factory=dict)
    before: MeasuredLink | None = None
    after: MeasuredLink | None = None


def _figure(name: str) -> str:
    if name not in CONDITIONS:
        raise ValueError("no figure of a fail condition")
    return name


class ConditionFailed(Recorded):
    """The fail condition that ended a run early: a figure beyond its limit for ``for_s`` seconds.

    ``at_s`` counts from the start of the window; latencies are in seconds, throughputs in messages
    per second.  For a percentile, ``value`` is the share of messages slower than ``limit``.
    """

    figure: Annotated[str, AfterValidator(_figure)]
    value: Measure
    limit: Measure
    for_s: Positive
    at_s: Measure

    @property
    def words(self) -> str:
        """A short description of the violation."""
        if self.figure == "latency_mean_s":
            breach = f"mean latency {self.value * 1e3:.1f} ms, above {self.limit * 1e3:g} ms"
        elif self.figure in PERCENTILES:
            above = f"{self.limit * 1e3:g} ms, which {self.value:.2%} of messages exceeded"
            breach = f"{LATENCIES[self.figure]} above {above}"
        elif self.figure == "lost_share":
            breach = f"loss {self.value:.2%}, above {self.limit:.2%}"
        else:
            breach = f"throughput {self.value:.1f} a second, below {self.limit:g}"
        return f"{breach} for {self.for_s} s, {self.at_s:.1f} s after the start of the window"


class AllSent(Recorded):
    """When the first and the last thread of a load by count had sent all, since its start."""

    first_s: Measure
    last_s: Measure


class Facts(Recorded):
    """The content of ``run.json``."""

    schema_version: Literal[2] = Field(SCHEMA, alias="schema")
    case: Case | None = None
    position: Positive | None = None
    order: Order = Order()
    hosts: tuple[HostFacts, ...] = Field((), max_length=10_000)
    system: SystemFacts = SystemFacts()
    generator: Versions = Field(default_factory=dict)
    parameters: Parameters = Field(default_factory=dict)
    link: LinkFacts | None = None
    mqperf: Text | None = None
    started: Text | None = None
    stopped: Text | None = None
    window: Window | None = None
    clocks: Mapping[Label, ClockFacts] = Field(default_factory=dict, max_length=10_000)
    kinds: Mapping[Label, Kind] = Field(default_factory=dict, max_length=100_000)
    processes: Processes = ()
    background: tuple[BackgroundFacts, ...] = Field((), max_length=10)
    failure: Annotated[str, Field(max_length=1_000_000)] | None = None
    condition_failed: ConditionFailed | None = None
    all_sent: AllSent | None = None
    files: Mapping[FileName, Sha256] = Field(default_factory=dict, max_length=1_000_000)
    seal: Sha256 | None = None

    @model_validator(mode="before")
    @classmethod
    def _upgraded(cls, record: object) -> object:
        """Convert the record to the current version."""
        if not isinstance(record, dict):
            return record
        if isinstance(offsets := record.get("clock_offsets_s"), dict):  # of the first months
            clocks = {name: {"before": {"offset_s": offset}} for name, offset in offsets.items()}
            record = {**record, "clocks": clocks}
        if record.get("schema") != 1:
            return record
        upgraded = {**record, "schema": SCHEMA}
        if isinstance(case := record.get("case"), dict):
            parameters = {name: case[name] for name in FIRST_PARAMETERS if name in case}
            others = {name: value for name, value in case.items() if name not in parameters}
            upgraded |= {"case": {**others, "parameters": parameters}, "parameters": parameters}
        return upgraded

    @field_validator("case")
    @classmethod
    def _bounded(cls, case: Case | None) -> Case | None:
        if case is not None:
            for name in ("system", "topology", "queues"):
                if not SLUG.match(getattr(case, name)):
                    raise ValueError(f"{name} should be a short name of a-z, 0-9, - and _")
            if case.threads > WIDEST or case.load_s > LONGEST_S:
                raise ValueError("no load has so many threads, or is so long")
        return case

    @model_validator(mode="after")
    def _consistent_kinds(self) -> Self:
        for process in self.processes:
            if self.kinds.get(process.label, process.kind) != process.kind:
                raise ValueError(f"kinds: {process.label} is no {self.kinds[process.label]}")
        for node in self.system.nodes:
            if self.kinds.get(node.label, "broker") != "broker":
                raise ValueError(f"kinds: {node.label} is no {self.kinds[node.label]}")
        return self

    def compared(self, host: Label | None) -> ClockFacts:
        """Return the comparison of a host's own clock; for None that of the only clock.

        It is the controller's where no clock is recorded.
        """
        if host is None:
            return next(iter(self.clocks.values())) if len(self.clocks) == 1 else OWN
        return self.clocks.get(host, OWN)

    def clock(self, host: Label | None) -> ClockFacts:
        """Return the clock of a host: the most certain comparison of all hosts of its machine."""
        comparisons = [self.compared(name) for name in self._same_clock.get(host, (host,))]
        return min(comparisons, key=attrgetter("uncertainty_s"))

    def uncertainty_s(self, host: Label | None, other: Label | None) -> float:
        """Return the error of a duration between two hosts: 0 where they share a clock."""
        if host == other or other in self._same_clock.get(host, ()):
            return 0.0
        return self.clock(host).uncertainty_s + self.clock(other).uncertainty_s

    @cached_property
    def _same_clock(self) -> Mapping[Label | None, Collection[Label]]:
        """By host, the compared hosts of the same machine, if their offsets agree.

        They do not where virtual machines were copied while running, boot identifier included.
        """
        machines: dict[str, list[Label]] = defaultdict(list)
        for host in self.hosts:
            if host.machine and host.label and host.label in self.clocks:
                machines[host.machine].append(host.label)
        return {host: hosts for hosts in machines.values() if self._agree(hosts) for host in hosts}

    def _agree(self, hosts: Collection[Label]) -> bool:
        """Whether one offset is within the uncertainty of all these hosts' clocks."""
        clocks = [self.clocks[host] for host in hosts]
        least_s = max(clock.offset_s - clock.uncertainty_s for clock in clocks)
        return least_s <= min(clock.offset_s + clock.uncertainty_s for clock in clocks)

    @property
    def clock_offset_s(self) -> float | None:
        """The largest offset between the clocks of the hosts; None when none was recorded."""
        offsets = [
            offset
            for clock in self.clocks.values()
            for offset in (clock.before, clock.after)
            if offset
        ]
        return max((abs(offset.offset_s) for offset in offsets), default=None)


def finite(text: str) -> float:
    """Reject NaN and infinity, as ``parse_constant`` of ``json.loads``."""
    raise ValueError(f"{text} is not a JSON number")
