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

ID_DEFAULTS: Mapping[str, object] = {
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
"""Parameter values that the id of a case omits.  Each is the value that all cases had, by default
or implicitly, when ids first covered the parameter.  They must never change, so that recorded cases
keep their ids; a case with a newer default gets another id."""


class Case(Frozen):
    """One resolved point of a sweep, and one repeat of it.

    ``parameters`` are the generator's parameters that the plan sets; their meaning, and the
    defaults of the others, are defined by the generator.
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
        """Number of threads as the published reports count them: over all processes and hosts."""
        return self.green_threads * self.processes * self.hosts

    @property
    def load_s(self) -> int:
        """Seconds for which clients send: warm-up, window and cool-down."""
        return self.warmup_s + self.duration_s + self.cooldown_s

    def load_words(self) -> str:
        """Return a short description of the load: ``rpc-cast by simulator, 2 threads``."""
        threads = f"{self.threads} thread{'s' if self.threads > 1 else ''}"
        parameters = (f"{name} {value}" for name, value in self.parameters.items())
        return ", ".join([f"{self.test_case} by {self.generator}", threads, *parameters])

    def beside(self) -> "list[Case]":
        """Return the background loads as separate cases, each with the same measured window."""
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
        """Id of the point, which all repeats of this case and its control runs share."""
        return f"{self._slug}-{_digest(self._id_parameters(exclude={'repeat', 'control_run'}))}"

    @property
    def id(self) -> str:
        """Name of the case's run folder."""
        turn = f"s{self.control_run}" if self.control_run else f"r{self.repeat}"
        return f"{self._slug}-{turn}-{_digest(self._id_parameters())}"

    def _id_parameters(self, exclude: frozenset[str] | set[str] = frozenset()) -> dict[str, object]:
        """Return all parameters that differ from ``ID_DEFAULTS``, which ids are hashes of."""
        fields = self.model_dump(by_alias=True, exclude={"parameters", *exclude})
        values = {**fields, **self.parameters}
        return {
            name: value
            for name, value in values.items()
            if name not in ID_DEFAULTS or value != ID_DEFAULTS[name]
        }

    @property
    def _slug(self) -> str:
        return (
            f"{self.system}-{self.topology}-{self.queues}-{self.test_case}"
            f"-t{self.threads:04d}-p{self.processes}"
        )


class CaseParameters(Frozen):
    """Parameters of a load generator as one case has them: a single value each."""

    @classmethod
    def of_case(cls, case: Case) -> Self:
        """Validate the parameters of a case."""
        return cls.model_validate(dict(case.parameters))


def deployments(cases: Iterable[Case], own_deployment: Callable[[Case], bool]) -> list[list[Case]]:
    """Group consecutive cases that run on one deployment: same system and same settings.

    Topologies share a deployment, except cases with ``own_deployment``: these need one each.
    """

    def deployment(case: Case) -> tuple[object, ...]:
        return case.system, case.settings, case.topology if own_deployment(case) else None

    return [[*group] for _, group in groupby(cases, key=deployment)]


def _digest(parameters: Mapping[str, object]) -> str:
    canonical = json.dumps(parameters, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:8]
