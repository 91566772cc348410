"""A case: one resolved point of a sweep, and one repeat of it."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from typing import Annotated, Self

from pydantic import AliasChoices, Field, JsonValue

from mqperf.plan.actions import Actions
from mqperf.plan.background import AFTER_S, BEFORE_S
from mqperf.plan.conditions import Background, ConditionName
from mqperf.plan.fail_when import FailWhen
from mqperf.plan.link import LinkPoint
from mqperf.plan.values import (
    Count,
    Frozen,
    GeneratorName,
    Parameter,
    Processes,
    Scalar,
    Seconds,
    TestCase,
    Timeout,
    Window,
)

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
    "link": None,
    "background": (),
    "condition": None,
    "fail_when": None,
    "repeat": 1,
    "sentinel": 0,
}
"""What the id of a case leaves out: the value that a parameter had for all cases, by default or
because there was no such parameter, when ids first knew it.  It never changes: another default is
another id, and no case recorded before gets a new one."""


class Case(Frozen):
    """One resolved point of a sweep, and one repeat of it.

    ``parameters`` are those of the generator that the plan says; what they mean, and the others'
    defaults, only the generator knows.
    """

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
    parameters: Annotated[Mapping[Parameter, Scalar], Field(max_length=100)] = Field(
        default_factory=dict
    )
    settings: Mapping[str, JsonValue] = Field(default_factory=dict)
    actions: Actions = ()
    link: LinkPoint | None = None
    background: Background = ()
    condition: ConditionName | None = None
    fail_when: FailWhen | None = None
    repeat: Count = 1
    control_run: int = Field(
        0,
        ge=0,
        le=3,
        strict=True,
        validation_alias=AliasChoices("control_run", "sentinel"),
        serialization_alias="sentinel",
    )

    @property
    def threads(self) -> int:
        """Threads as the published reports count them."""
        return self.green_threads * self.processes * self.hosts

    @property
    def load_s(self) -> int:
        """Seconds that the clients send: the window and the ragged ends around it."""
        return self.warmup_s + self.duration_s + self.cooldown_s

    def load_words(self) -> str:
        """The load in a few words: ``rpc-cast by simulator, 2 threads``."""
        threads = f"{self.threads} thread{'s' if self.threads > 1 else ''}"
        named = (f"{name} {value}" for name, value in self.parameters.items())
        return ", ".join([f"{self.test_case} by {self.generator}", threads, *named])

    def beside(self) -> "list[Case]":
        """Its background loads as cases of their own, each with the same measured window."""
        return [
            self.model_copy(
                update={
                    "generator": load.generator,
                    "test_case": load.test_case,
                    "green_threads": load.green_threads,
                    "processes": load.processes,
                    "timeout_s": load.timeout_s,
                    "parameters": load.parameters,
                    "warmup_s": self.warmup_s + BEFORE_S,
                    "cooldown_s": self.cooldown_s + AFTER_S,
                    "actions": (),
                    "background": (),
                    "condition": None,
                    "fail_when": None,
                }
            )
            for load in self.background
        ]

    @property
    def point(self) -> str:
        """Id of the point: what all repeats of this case, and its control runs, have in common."""
        return f"{self._slug}-{_digest(self._known_to_ids(exclude={'repeat', 'control_run'}))}"

    @property
    def id(self) -> str:
        """Name of the case's run folder."""
        turn = f"s{self.control_run}" if self.control_run else f"r{self.repeat}"
        return f"{self._slug}-{turn}-{_digest(self._known_to_ids())}"

    def _known_to_ids(self, exclude: frozenset[str] | set[str] = frozenset()) -> dict[str, object]:
        """The parameters, without those that ids leave out."""
        fields = self.model_dump(by_alias=True, exclude={"parameters", *exclude})
        values = {**fields, **self.parameters}
        return {
            name: value
            for name, value in values.items()
            if name not in UNSAID or value != UNSAID[name]
        }

    @property
    def _slug(self) -> str:
        return (
            f"{self.system}-{self.topology}-{self.queues}-{self.test_case}"
            f"-t{self.threads:04d}-p{self.processes}"
        )


class CaseParameters(Frozen):
    """What a load generator takes from a plan, of which a case has one value each."""

    @classmethod
    def of_case(cls, case: Case) -> Self:
        """The parameters of a case."""
        return cls.model_validate(dict(case.parameters))


def deployments(cases: Iterable[Case], own_deployment: Callable[[Case], bool]) -> list[list[Case]]:
    """The cases in their order, a list for each start of a system, in which it has its settings.

    Topologies share a start, but for cases of an ``own_deployment``: of their topology alone.
    """

    def start(case: Case) -> tuple[object, ...]:
        return case.system, case.settings, case.topology if own_deployment(case) else None

    return [[*block] for _, block in groupby(cases, key=start)]


def _digest(parameters: Mapping[str, object]) -> str:
    canonical = json.dumps(parameters, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:8]
