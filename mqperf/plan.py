"""Plans: what to measure, and every point of the sweep.

A plan names systems, test cases and a load; ``Plan.cases()`` multiplies them out into frozen
``Case`` objects.  A case's id is a readable slug and a hash of its parameters, so that a changed
parameter is a new case and a repeated command finds the runs it already has.
"""

import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations, product
from typing import Annotated, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    PlainSerializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from mqperf.redaction import hidden, redacted_value, shown, suspicious
from mqperf.test_cases import STANDARD, TEST_CASES

CONTROL_RUNS = 3
"""Times that a system's first point is measured besides its repeats, with ``control_runs``."""

MAX_CASES = 10_000
"""Cases of a plan."""

MAX_THREADS = 100_000
"""Green threads of a case, over all its processes."""

T = TypeVar("T")

Count = Annotated[int, Field(ge=1, le=10_000, strict=True)]
Processes = Annotated[int, Field(ge=1, le=1_000, strict=True)]
Seconds = Annotated[int, Field(ge=0, le=86_400, strict=True)]
Window = Annotated[int, Field(ge=1, le=604_800, strict=True)]
GeneratorName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$", max_length=50)]
Timeout = Annotated[int, Field(ge=1, le=86_400, strict=True)]


def _test_case(name: object) -> object:
    """A registered test case, told as pydantic tells of a choice."""
    if not isinstance(name, str) or name not in TEST_CASES:
        known = ", ".join(f"'{case}'" for case in TEST_CASES)
        raise PydanticCustomError("literal_error", "one of {expected}", {"expected": known})
    return name


TestCase = Annotated[str, BeforeValidator(_test_case)]


def _public(settings: Mapping[str, JsonValue]) -> JsonValue:
    return redacted_value(settings, variables=True)


Settings = Annotated[Mapping[str, JsonValue], AfterValidator(hidden), PlainSerializer(_public)]
"""Settings of a system; in them, what holds a password is a type that cannot be printed."""


def _no_password(title: str) -> str:
    """A title is printed on every page: it may hold no URL with a password."""
    if "://" in title and "@" in title and suspicious(title):
        raise ValueError("it holds a URL with a user: a title is printed everywhere, remove it")
    return title


def _distinct(entries: tuple[T, ...]) -> tuple[T, ...]:
    """Two equal entries would be one case, measured twice into one folder."""
    counted = Counter(entries)
    repeated = [entry for entry in counted if counted[entry] > 1]
    if repeated:
        raise ValueError(f"{shown(repeated[0])} is listed twice: keep one; repeats: measures again")
    return entries


Listed = Annotated[tuple[T, ...], Field(min_length=1), AfterValidator(_distinct)]
"""At least one entry, none of them twice."""


class Frozen(BaseModel):
    """Checked once, never changed, and no key that it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class ActionPlan(Frozen):
    """Something done to a node of the system, at its time in the measured window, and undone."""

    do: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$", max_length=50)]
    node: Annotated[str, Field(min_length=1, max_length=100)]
    at_s: Annotated[float, Field(ge=0, le=604_800, allow_inf_nan=False)]
    for_s: Annotated[float, Field(gt=0, le=604_800, allow_inf_nan=False)]

    @property
    def end_s(self) -> float:
        """When it is undone, in seconds since the start of the window."""
        return self.at_s + self.for_s


def _apart(actions: tuple[ActionPlan, ...]) -> tuple[ActionPlan, ...]:
    """One node is under one action at a time: what both do could not be told apart."""
    for first, second in combinations(sorted(actions, key=lambda one: one.at_s), 2):
        if first.node == second.node and second.at_s < first.end_s:
            raise ValueError(
                f"{second.do} at {second.at_s:g} s begins before {first.do} of the same node"
                f" has ended, at {first.end_s:g} s: move one of them"
            )
    return actions


Actions = Annotated[tuple[ActionPlan, ...], Field(max_length=100), AfterValidator(_apart)]


UNSAID: Mapping[str, object] = {
    "generator": "simulator",
    "processes": 1,
    "hosts": 1,
    "warmup_s": 2,
    "cooldown_s": 1,
    "timeout_s": 10,
    "targets": "own",
    "settings": {},
    "actions": (),
    "repeat": 1,
    "sentinel": 0,
}
"""What the id of a case leaves out: the value that a parameter had for all cases, by default or
because there was no such parameter, when ids first knew it.  It never changes: another default is
another id, and no case recorded before gets a new one."""


class Case(Frozen):
    """One resolved point of a sweep, and one repeat of it."""

    system: str
    topology: str
    queues: str
    test_case: TestCase
    generator: GeneratorName = "simulator"
    green_threads: Count
    processes: Processes = 1
    hosts: Processes = 1
    duration_s: Window
    warmup_s: Seconds = 2
    cooldown_s: Seconds = 1
    timeout_s: Timeout = 10
    targets: Literal["own", "shared"] = "own"
    settings: Mapping[str, JsonValue] = Field(default_factory=dict)
    actions: Actions = ()
    repeat: Count = 1
    control_run: Annotated[
        int,
        Field(
            ge=0,
            le=3,
            strict=True,
            validation_alias=AliasChoices("control_run", "sentinel"),
            serialization_alias="sentinel",  # its former name, which the ids of cases hold
        ),
    ] = 0

    @property
    def threads(self) -> int:
        """Threads as the published reports count them."""
        return self.green_threads * self.processes * self.hosts

    @property
    def load_s(self) -> int:
        """Seconds that the clients send: the window and the ragged ends around it."""
        return self.warmup_s + self.duration_s + self.cooldown_s

    @property
    def point(self) -> str:
        """Id of the point: what all repeats of this case, and its control runs, have in common."""
        return f"{self._slug}-{_digest(self._said(exclude={'repeat', 'control_run'}))}"

    @property
    def id(self) -> str:
        """Name of the case's run folder."""
        turn = f"s{self.control_run}" if self.control_run else f"r{self.repeat}"
        return f"{self._slug}-{turn}-{_digest(self._said())}"

    def _said(self, exclude: set[str] | None = None) -> dict[str, object]:
        """The parameters, without those that ids leave out."""
        parameters = self.model_dump(by_alias=True, exclude=exclude)
        return {
            name: value
            for name, value in parameters.items()
            if name not in UNSAID or value != UNSAID[name]
        }

    @property
    def _slug(self) -> str:
        return (
            f"{self.system}-{self.topology}-{self.queues}-{self.test_case}"
            f"-t{self.threads:04d}-p{self.processes}"
        )


class SystemPlan(Frozen):
    """What to vary about one system, and how to get it."""

    topologies: Listed[str]
    queues: Listed[str] = ("classic",)
    settings: Settings = Field(default_factory=dict)


class LoadPlan(Frozen):
    """The load of every point; ``green_threads`` and ``processes`` are swept."""

    generator: GeneratorName = "simulator"
    green_threads: Listed[Count]
    processes: Listed[Processes] = (1,)
    duration_s: Window
    warmup_s: Seconds = 2
    cooldown_s: Seconds = 1
    timeout_s: Timeout = 10
    targets: Literal["own", "shared"] = "own"

    @model_validator(mode="after")
    def _bearable(self) -> Self:
        threads = max(self.green_threads) * max(self.processes)
        if threads > MAX_THREADS:
            raise ValueError(
                f"a case has {threads:,} green threads over its processes,"
                f" at most {MAX_THREADS:,} are allowed: lower green_threads or processes"
            )
        return self


class Plan(Frozen):
    """A whole experiment, as one YAML file holds it."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)
    title: Annotated[str, Field(max_length=300), AfterValidator(_no_password)]
    systems: Annotated[Mapping[str, SystemPlan], Field(min_length=1)]
    test_cases: Listed[TestCase] = STANDARD
    load: LoadPlan
    actions: Actions = ()
    repeats: Count = 1
    order: Literal["listed", "random"] = "listed"
    seed: int = 0
    control_runs: Annotated[
        bool, Field(validation_alias=AliasChoices("control_runs", "sentinel"))
    ] = False

    @model_validator(mode="after")
    def _inside(self) -> Self:
        for action in self.actions:
            if action.end_s > self.load.duration_s:
                raise ValueError(
                    f"{action.do} of {action.node} ends {action.end_s:g} s after the start of a"
                    f" window of {self.load.duration_s} s: lengthen load.duration_s, so that the"
                    " recovery is measured, too"
                )
        return self

    @model_validator(mode="after")
    def _finite(self) -> Self:
        number = self.number_of_cases
        if number > MAX_CASES:
            raise ValueError(
                f"{number:,} cases, a plan may have at most {MAX_CASES:,}:"
                " shorten its lists or repeats, or split it into several plans"
            )
        return self

    @property
    def number_of_cases(self) -> int:
        """How many cases there are, without making them."""
        load = len(self.load.green_threads) * len(self.load.processes) * len(self.test_cases)
        layouts = sum(len(one.topologies) * len(one.queues) for one in self.systems.values())
        watched = CONTROL_RUNS * len(self.systems) if self.control_runs else 0
        return layouts * load * self.repeats + watched

    def cases(self) -> list[Case]:
        """Every case in the order in which it runs.

        Systems follow each other; within a system all points of the first repeat come before
        those of the second, so that a drift of the machine does not hide between repeats.  With
        ``order: random`` each repeat is shuffled by ``seed``.  With ``control_runs: true`` each
        system's first point is measured three times more: before, between and after the others.
        """
        shuffle = random.Random(self.seed).shuffle if self.order == "random" else None
        cases: list[Case] = []
        for name in self.systems:
            block: list[Case] = []
            for repeat in range(1, self.repeats + 1):
                points = list(self._points(name, repeat))
                if shuffle:
                    shuffle(points)
                block += points
            cases += self._watched(name, block) if self.control_runs else block
        return cases

    def turns(self) -> list[list[Case]]:
        """The same cases by repeats, each in its order: what runs before another plan's turn comes.

        The control runs of a system stand before its first turn, in the middle and after its last.
        """
        turns: list[list[Case]] = [[] for _ in range(self.repeats)]
        turn = 1
        for case in self.cases():
            turn = case.repeat if case.control_run in {0, 1} else turn
            turns[turn - 1].append(case)
        return turns

    def with_queues(self, kinds: Mapping[str, Mapping[str, str]]) -> "Plan":
        """The plan with kinds of queue replaced, by system and name."""
        systems = {
            name: system.model_copy(
                update={"queues": tuple(kinds[name].get(kind, kind) for kind in system.queues)}
            )
            for name, system in self.systems.items()
        }
        return self.model_copy(update={"systems": systems})

    def _watched(self, name: str, block: list[Case]) -> list[Case]:
        """The block with control runs at its start, middle and end."""
        first = next(self._points(name, repeat=1))
        start, middle, end = (
            first.model_copy(update={"control_run": turn}) for turn in range(1, CONTROL_RUNS + 1)
        )
        half = len(block) // 2
        return [start, *block[:half], middle, *block[half:], end]

    def _points(self, name: str, repeat: int) -> Iterator[Case]:
        system, load = self.systems[name], self.load
        fixed = load.model_dump(exclude={"green_threads", "processes"})
        for topology, queues, test_case, processes, green_threads in product(
            system.topologies, system.queues, self.test_cases, load.processes, load.green_threads
        ):
            yield Case(
                system=name,
                topology=topology,
                queues=queues,
                test_case=test_case,
                green_threads=green_threads,
                processes=processes,
                settings=redacted(system.settings),
                actions=self.actions,
                repeat=repeat,
                **fixed,
            )


def redacted(settings: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The settings with ``***`` for every secret, fit for files that may be published."""
    return {key: redacted_value(value) for key, value in settings.items()}


def _digest(parameters: Mapping[str, object]) -> str:
    canonical = json.dumps(parameters, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:8]
