"""Plans: what to measure, and every point of the sweep.

A plan names systems, test cases and a load; ``Plan.cases()`` multiplies them out into frozen
``Case`` objects.  A case's id is a readable slug and a hash of its parameters, so that a changed
parameter is a new case and a repeated command finds the runs it already has.
"""

import hashlib
import json
import random
import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

TestCase = Literal["rpc-call", "rpc-cast", "notify"]
TEST_CASES: tuple[TestCase, ...] = ("rpc-call", "rpc-cast", "notify")

Count = Annotated[int, Field(ge=1, strict=True)]
Seconds = Annotated[int, Field(ge=0, le=86_400, strict=True)]


class Frozen(BaseModel):
    """Checked once, never changed, and no key that it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Case(Frozen):
    """One resolved point of a sweep, and one repeat of it."""

    system: str
    topology: str
    queues: str
    test_case: TestCase
    green_threads: Count
    processes: Count = 1
    hosts: Count = 1
    duration_s: Count
    warmup_s: Seconds = 2
    cooldown_s: Seconds = 1
    timeout_s: Count = 10
    targets: Literal["own", "shared"] = "own"
    settings: Mapping[str, JsonValue] = Field(default_factory=dict)
    repeat: Count = 1
    sentinel: Annotated[int, Field(ge=0, le=3, strict=True)] = 0

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
        """Id of the point: what all repeats of this case, and its sentinels, have in common."""
        common = self.model_dump(exclude_defaults=True, exclude={"repeat", "sentinel"})
        return f"{self._slug}-{_digest(common)}"

    @property
    def id(self) -> str:
        """Name of the case's run folder."""
        turn = f"s{self.sentinel}" if self.sentinel else f"r{self.repeat}"
        return f"{self._slug}-{turn}-{_digest(self.model_dump(exclude_defaults=True))}"

    @property
    def _slug(self) -> str:
        return (
            f"{self.system}-{self.topology}-{self.queues}-{self.test_case}"
            f"-t{self.threads:04d}-p{self.processes}"
        )


class SystemPlan(Frozen):
    """What to vary about one system, and how to get it."""

    topologies: Annotated[tuple[str, ...], Field(min_length=1)]
    queues: Annotated[tuple[str, ...], Field(min_length=1)] = ("classic",)
    settings: Mapping[str, JsonValue] = Field(default_factory=dict)


class LoadPlan(Frozen):
    """The load of every point; ``green_threads`` and ``processes`` are swept."""

    green_threads: Annotated[tuple[Count, ...], Field(min_length=1)]
    processes: Annotated[tuple[Count, ...], Field(min_length=1)] = (1,)
    duration_s: Count
    warmup_s: Seconds = 2
    cooldown_s: Seconds = 1
    timeout_s: Count = 10
    targets: Literal["own", "shared"] = "own"


class Plan(Frozen):
    """A whole experiment, as one YAML file holds it."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    title: str
    systems: Annotated[Mapping[str, SystemPlan], Field(min_length=1)]
    test_cases: Annotated[tuple[TestCase, ...], Field(min_length=1)] = TEST_CASES
    load: LoadPlan
    repeats: Count = 1
    order: Literal["listed", "random"] = "listed"
    seed: int = 0
    sentinel: bool = False

    def cases(self) -> list[Case]:
        """Every case in the order in which it runs.

        Systems follow each other; within a system all points of the first repeat come before
        those of the second, so that a drift of the machine does not hide between repeats.  With
        ``order: random`` each repeat is shuffled by ``seed``.  With ``sentinel: true`` each
        system's first point is measured three times more: before, amid and after the others.
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
            cases += self._watched(name, block) if self.sentinel else block
        return cases

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
        """The block with the sentinel at its start, middle and end."""
        first = next(self._points(name, repeat=1))
        start, middle, end = (first.model_copy(update={"sentinel": turn}) for turn in (1, 2, 3))
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
                repeat=repeat,
                **fixed,
            )


def redacted(settings: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The settings with every password of a URL replaced, fit for files that may be published."""
    cleaned: dict[str, JsonValue] = json.loads(without_passwords(json.dumps(dict(settings))))
    return cleaned


def without_passwords(text: str) -> str:
    """The text with the password of every ``scheme://user:password@host`` replaced by ``***``."""
    return re.sub(r"(\w+://[^\s:/@\"']+):[^\s@\"']+@", r"\1:***@", text)


def _digest(parameters: Mapping[str, object]) -> str:
    canonical = json.dumps(parameters, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:8]
