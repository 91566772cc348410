"""A whole experiment, as one file holds it, and the cases that it multiplies out to."""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    AliasChoices,
    BeforeValidator,
    Field,
    JsonValue,
    PrivateAttr,
    model_validator,
)

from mqperf.base.errors import PlanError
from mqperf.base.problems import Where, path
from mqperf.base.redaction import suspicious
from mqperf.plan.actions import ActionPlan, Actions
from mqperf.plan.agreement import agree, too_many_threads
from mqperf.plan.case import Case
from mqperf.plan.conditions import Background, Conditions, Surroundings
from mqperf.plan.decide import FIRST, MOST, Comparison, DecidePlan, across, comparisons
from mqperf.plan.fail_when import FailWhen
from mqperf.plan.link import LinkPlan
from mqperf.plan.load_plan import LoadPlan
from mqperf.plan.questions import known_questions
from mqperf.plan.search import AGAIN, Search, SearchPlan
from mqperf.plan.settings import Settings, redacted, swept_settings
from mqperf.plan.test_cases import STANDARD
from mqperf.plan.values import Count, Frozen, Listed, ProbeName, TestCase, as_tuple, distinct

CONTROL_RUNS = 3
"""Times that a system's first point is measured besides its repeats, with ``control_runs``."""


@dataclass(frozen=True, slots=True)
class _Text:
    """The text that a plan was read from; plans that say the same are equal without it."""

    line: Callable[[Where], int | None] = field(compare=False)


def _no_password(title: str) -> str:
    """A title is printed on every page: it may hold no URL with a password."""
    if "://" in title and "@" in title and suspicious(title):
        raise ValueError("it holds a URL with a user: a title is printed everywhere, remove it")
    return title


class SystemPlan(Frozen):
    """What to vary about one system, and how to get it."""

    topologies: Listed[str]
    queues: Listed[str] = ("classic",)
    settings: Settings = Field(default_factory=dict)

    def variants(self) -> list[dict[str, JsonValue]]:
        """The settings of every deployment: one for each combination of what is swept."""
        axes = swept_settings(self.settings)
        return [
            {**self.settings, **dict(zip(axes, values, strict=True))}
            for values in product(*axes.values())
        ]


class Plan(Frozen):
    """A whole experiment, as one YAML file holds it."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)
    title: Annotated[str, AfterValidator(_no_password)] = Field(max_length=300)
    systems: Mapping[str, SystemPlan] = Field(min_length=1)
    test_cases: Listed[TestCase] = STANDARD
    load: LoadPlan
    hosts: Annotated[str, Field(min_length=1, max_length=1_000)] | None = None
    link: LinkPlan | None = None
    actions: Actions = ()
    background: Background = ()
    conditions: Conditions = Field(default_factory=dict)
    probes: Annotated[tuple[ProbeName, ...], AfterValidator(distinct)] = Field((), max_length=20)
    repeats: Count = 1
    order: Literal["listed", "random"] = "listed"
    seed: int = 0
    control_runs: bool = Field(
        default=False, validation_alias=AliasChoices("control_runs", "sentinel")
    )
    search: SearchPlan | None = None
    decide: DecidePlan | None = None
    fail_when: FailWhen | None = None
    question: Annotated[
        tuple[str, ...],
        BeforeValidator(as_tuple),
        AfterValidator(distinct),
        AfterValidator(known_questions),
    ] = ()
    _files: Mapping[str, bytes] = PrivateAttr(default_factory=dict)
    _text: _Text = PrivateAttr(default=_Text(lambda _where: None))

    @property
    def files(self) -> Mapping[str, bytes]:
        """The contents of the files that its loads name, by what these say of them."""
        return self._files

    def with_files(self, files: Mapping[str, bytes], line: Callable[[Where], int | None]) -> "Plan":
        """The plan with the contents of its files, and what gives the lines of its own."""
        plan = self.model_copy()
        plan._files, plan._text = dict(files), _Text(line)  # noqa: SLF001 (of a copy of itself)
        return plan

    def place(self, where: Where) -> str:
        """A place in words, with its line where that is known."""
        line = self._text.line(where)
        return path(where) if line is None else f"{path(where)} (line {line} of the plan)"

    @model_validator(mode="after")
    def _agreed(self) -> Self:
        agree(self)
        return self

    def place_of(self, kind: str, around: Surroundings) -> tuple[int | str, ...]:
        """Where the plan says what is around its points: in a condition, or for all of them."""
        condition = None if around.name is None else self.conditions[around.name]
        overridden = condition is not None and getattr(condition, kind) is not None
        return ("conditions", around.name, kind) if overridden and around.name else (kind,)

    @property
    def surroundings(self) -> list[Surroundings]:
        """What is around every point, under each condition; one without a name where none is."""
        links = tuple(self.link.points()) if self.link else (None,)
        plain = Surroundings(None, links, self.background, self.actions)
        return [plain.under(*named) for named in self.conditions.items()] or [plain]

    @property
    def generators(self) -> list[str]:
        """The names of those of its load, and of the loads beside that under any condition."""
        beside = (load.generator for around in self.surroundings for load in around.background)
        return [*dict.fromkeys((*self.load.generator, *beside))]

    def every_action(self) -> Iterator[tuple[Surroundings, ActionPlan]]:
        """The actions under each condition, with what else is around the points then."""
        for around in self.surroundings:
            for action in around.actions:
                yield around, action

    @property
    def number_of_cases(self) -> int:
        """How many cases there are, without making them; with a search, at most."""
        layouts = sum(
            len(system.topologies) * len(system.queues) * len(system.variants())
            for system in self.systems.values()
        )
        links = sum(len(around.links) for around in self.surroundings)
        points = layouts * len(self.test_cases) * links * self.load.number_of_points
        watched = CONTROL_RUNS * len(self.systems) if self.control_runs else 0
        runs = self.repeats if self.search is None else self.search.most_runs(self.repeats + AGAIN)
        runs = runs if self.decide is None else max(self.repeats, MOST)
        return points * runs + watched

    def cases(self) -> list[Case]:
        """Every case in the order in which it runs.

        Systems follow each other; within a system all points of the first repeat come before
        those of the second, so that a drift of the machine does not hide between repeats.  Points
        with the same settings of the system stand together, as it is started anew for others.  With
        ``order: random`` each repeat is shuffled by ``seed``.  With ``control_runs: true`` each
        system's first point is measured three times more: before, between and after the others.
        With a search, only the first case of each: what comes next depends on what was measured.
        With ``decide``, the repeats before anything is decided, in turns over all systems.
        """
        if self.decide is not None:
            return [case for turn in range(self.first_repeats) for case in self.turn(turn + 1)]
        if self.search is not None:
            firsts = (search.next({}) for search in self.searches())
            return [case for case in firsts if case is not None]
        return self._listed()

    def cases_beside(self, tried: Iterable[Case]) -> list[Case]:
        """Its cases, and of those that were tried the further repeats of what it decides."""
        cases = self.cases()
        points = {case.point for case in cases} if self.decide is not None else set()
        further = [case for case in tried if case.point in points] if points else []
        return [*{case.id: case for case in (*cases, *further)}.values()]

    @property
    def first_repeats(self) -> int:
        """Repeats of every point before anything is decided."""
        return max(FIRST, self.repeats)

    def turn(self, repeat: int) -> list[Case]:
        """A repeat of every point of all systems; every other one is the other way round."""
        cases = [
            case
            for name in self.systems
            for points in self._points(name, repeat)
            for case in points
        ]
        return cases if repeat % 2 else cases[::-1]

    def comparisons(self) -> list[Comparison]:
        """What ``decide`` is about within the plan: each value of a name against the first."""
        within = self.decide is None or not self.decide.plans
        alone = self.load.generator.values()
        fixed = {name for of in alone for name, values in of.items() if len(values) == 1}
        return comparisons(self.turn(1), fixed) if within else []

    def searches(self) -> list[Search]:
        """The searches of the plan, one for each point of all else that it varies; maybe none."""
        if self.search is None:
            return []
        return [
            Search(self.search, case, self.repeats, place)
            for place, case in enumerate(self.turn(1), 1)
        ]

    def _listed(self) -> list[Case]:
        """Every case of a plan without a search."""
        shuffle = random.Random(self.seed).shuffle if self.order == "random" else None
        cases: list[Case] = []
        for name in self.systems:
            block: list[Case] = []
            for repeat in range(1, self.repeats + 1):
                for points in self._points(name, repeat):
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

    def on(self, client_hosts: int) -> "Plan":
        """The plan on so many client hosts: all of them are used where it says nothing else.

        Raises ``PlanError`` when it says more, or all of them are too many for its threads.
        """
        if "hosts" not in self.load.model_fields_set:
            load = self.load.model_copy(update={"hosts": (client_hosts,)})
            for around in self.surroundings:
                if problem := too_many_threads(load, around.background):
                    raise PlanError(f"plan {self.name}: {problem}, or say load.hosts")
            return self.model_copy(update={"load": load})
        if max(self.load.hosts) > client_hosts:
            raise PlanError(
                f"plan {self.name}: load.hosts: {max(self.load.hosts)} client hosts are asked for,"
                f" there are {client_hosts}: name more in the group client of the inventory"
            )
        return self

    def _watched(self, name: str, block: list[Case]) -> list[Case]:
        """The block with control runs at its start, middle and end."""
        first = next(self._points(name, repeat=1))[0]
        start, middle, end = (
            first.model_copy(update={"control_run": turn}) for turn in range(1, CONTROL_RUNS + 1)
        )
        half = len(block) // 2
        return [start, *block[:half], middle, *block[half:], end]

    def settings_of(self, case: Case) -> Mapping[str, JsonValue]:
        """The settings with which the case's system is started, secrets included."""
        variants = self.systems[case.system].variants()
        return next(variant for variant in variants if redacted(variant) == case.settings)

    def _points(self, name: str, repeat: int) -> Iterator[list[Case]]:
        """The cases of a repeat, a list for each deployment of the system."""
        system = self.systems[name]
        layouts = [*product(system.topologies, system.queues, self.test_cases, self.surroundings)]
        for settings in system.variants():
            yield [
                Case(
                    system=name,
                    topology=topology,
                    queues=queues,
                    test_case=test_case,
                    settings=redacted(settings),
                    link=link,
                    actions=around.actions,
                    background=around.background,
                    condition=around.name,
                    fail_when=self.fail_when,
                    repeat=repeat,
                    **point,
                )
                for topology, queues, test_case, around in layouts
                for link in around.links
                for point in self.load.points()
            ]


def compared(plans: Sequence[Plan]) -> list[Comparison]:
    """What ``decide`` is about: of one plan within it, of two the points which both have."""
    if len(plans) == 1:
        return plans[0].comparisons()
    first, second = plans
    return across((first.name, second.name), first.turn(1), second.turn(1))
