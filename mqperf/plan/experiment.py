"""The model of a plan file: a whole experiment, and the cases that it expands to."""

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
"""Extra runs of a system's first point with ``control_runs``, beside its repeats."""


@dataclass(frozen=True, slots=True)
class _Source:
    """Line numbers of the text that a plan was read from; ignored when plans are compared."""

    line: Callable[[Where], int | None] = field(compare=False)


def _no_password(title: str) -> str:
    """Reject a title with a URL that may hold a password: titles are printed on every page."""
    if "://" in title and "@" in title and suspicious(title):
        raise ValueError("it holds a URL with a user: a title is printed everywhere, remove it")
    return title


class SystemPlan(Frozen):
    """One system of a plan: its topologies, kinds of queue and settings."""

    topologies: Listed[str]
    queues: Listed[str] = ("classic",)
    settings: Settings = Field(default_factory=dict)

    def variants(self) -> list[dict[str, JsonValue]]:
        """Return the settings of every deployment: one for each combination of swept values."""
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
    _source: _Source = PrivateAttr(default=_Source(lambda _where: None))

    @property
    def files(self) -> Mapping[str, bytes]:
        """Contents of the files that its loads and actions name, by pin (``file.attached``)."""
        return self._files

    def with_files(self, files: Mapping[str, bytes], line: Callable[[Where], int | None]) -> "Plan":
        """Return a copy with the contents of its files, and a function from paths to lines."""
        plan = self.model_copy()
        plan._files, plan._source = dict(files), _Source(line)  # noqa: SLF001 (a copy of itself)
        return plan

    def place(self, where: Where) -> str:
        """Format a path for a message, with its line where that is known."""
        line = self._source.line(where)
        return path(where) if line is None else f"{path(where)} (line {line} of the plan)"

    @model_validator(mode="after")
    def _agreed(self) -> Self:
        agree(self)
        return self

    def place_of(self, kind: str, surroundings: Surroundings) -> tuple[int | str, ...]:
        """Return the path of ``kind`` (such as "actions"): in the condition, or at the top."""
        if (name := surroundings.name) is None or getattr(self.conditions[name], kind) is None:
            return (kind,)
        return "conditions", name, kind

    @property
    def surroundings(self) -> list[Surroundings]:
        """The surroundings of all points under each condition; a single one without conditions."""
        links = tuple(self.link.points()) if self.link else (None,)
        plain = Surroundings(None, links, self.background, self.actions)
        return [plain.under(*condition) for condition in self.conditions.items()] or [plain]

    @property
    def generators(self) -> list[str]:
        """Names of the generators of the measured load and of all background loads."""
        background = (load.generator for each in self.surroundings for load in each.background)
        return [*dict.fromkeys((*self.load.generator, *background))]

    def every_action(self) -> Iterator[tuple[Surroundings, ActionPlan]]:
        """Yield the actions under each condition, with its surroundings."""
        for surroundings in self.surroundings:
            for action in surroundings.actions:
                yield surroundings, action

    @property
    def number_of_cases(self) -> int:
        """The number of cases, without building them; with a search, the most."""
        layouts = sum(
            len(system.topologies) * len(system.queues) * len(system.variants())
            for system in self.systems.values()
        )
        links = sum(len(surroundings.links) for surroundings in self.surroundings)
        points = layouts * len(self.test_cases) * links * self.load.number_of_points
        control_runs = CONTROL_RUNS * len(self.systems) if self.control_runs else 0
        runs = self.repeats if self.search is None else self.search.most_runs(self.repeats + AGAIN)
        runs = runs if self.decide is None else max(self.repeats, MOST)
        return points * runs + control_runs

    def cases(self) -> list[Case]:
        """Return every case in the order in which it runs.

        Systems run one after another; within a system all points of the first repeat come before
        those of the second, so that a drift of the machine does not hide between repeats.  Points
        with the same settings of the system are adjacent, since other settings need a restart.
        With ``order: random`` each repeat is shuffled by ``seed``.  With ``control_runs: true`` the
        first point of each system is measured three more times: before, between and after the
        others.  With a search, only the first case of each: the next ones depend on its results.
        With ``decide``, the repeats before anything is decided, in turns over all systems.
        """
        if self.decide is not None:
            return [case for turn in range(self.first_repeats) for case in self.turn(turn + 1)]
        if self.search is not None:
            firsts = (search.next({}) for search in self.searches())
            return [case for case in firsts if case is not None]
        return self._listed()

    def cases_beside(self, tried: Iterable[Case]) -> list[Case]:
        """Return its cases, and with ``decide`` the further repeats among the ``tried`` ones."""
        cases = self.cases()
        points = {case.point for case in cases} if self.decide is not None else set()
        further = [case for case in tried if case.point in points] if points else []
        return [*{case.id: case for case in (*cases, *further)}.values()]

    @property
    def first_repeats(self) -> int:
        """Repeats of every point before anything is decided."""
        return max(FIRST, self.repeats)

    def turn(self, repeat: int) -> list[Case]:
        """Return one repeat of every point of all systems, in reverse order if it is even."""
        cases = [
            case
            for name in self.systems
            for points in self._points(name, repeat)
            for case in points
        ]
        return cases if repeat % 2 else cases[::-1]

    def comparisons(self) -> list[Comparison]:
        """Return the comparisons for ``decide`` within the plan; none when it is between plans."""
        within = self.decide is None or not self.decide.plans
        alone = self.load.generator.values()
        fixed = {name for own in alone for name, values in own.items() if len(values) == 1}
        return comparisons(self.turn(1), fixed) if within else []

    def searches(self) -> list[Search]:
        """Return the searches of the plan, one for each point of its other axes; maybe none."""
        if self.search is None:
            return []
        return [
            Search(self.search, case, self.repeats, number)
            for number, case in enumerate(self.turn(1), 1)
        ]

    def _listed(self) -> list[Case]:
        """Return every case of a plan without ``search`` and ``decide``."""
        shuffle = random.Random(self.seed).shuffle if self.order == "random" else None
        cases: list[Case] = []
        for name in self.systems:
            block: list[Case] = []
            for repeat in range(1, self.repeats + 1):
                for points in self._points(name, repeat):
                    if shuffle:
                        shuffle(points)
                    block += points
            cases += self._with_control_runs(name, block) if self.control_runs else block
        return cases

    def turns(self) -> list[list[Case]]:
        """Return the cases by repeat: a turn runs before the next plan has its turn.

        The control runs of a system come before its first turn, in the middle and after its last.
        """
        turns: list[list[Case]] = [[] for _ in range(self.repeats)]
        turn = 1
        for case in self.cases():
            turn = case.repeat if case.control_run in {0, 1} else turn
            turns[turn - 1].append(case)
        return turns

    def with_queues(self, kinds: Mapping[str, Mapping[str, str]]) -> "Plan":
        """Return the plan with kinds of queue replaced, by system and name."""
        systems = {
            name: system.model_copy(
                update={"queues": tuple(kinds[name].get(kind, kind) for kind in system.queues)}
            )
            for name, system in self.systems.items()
        }
        return self.model_copy(update={"systems": systems})

    def on(self, client_hosts: int) -> "Plan":
        """Return the plan for this number of client hosts; without ``load.hosts`` it uses them all.

        Raises ``PlanError`` when it needs more, or when all of them make too many threads.
        """
        if "hosts" not in self.load.model_fields_set:
            load = self.load.model_copy(update={"hosts": (client_hosts,)})
            for surroundings in self.surroundings:
                if problem := too_many_threads(load, surroundings.background):
                    raise PlanError(f"plan {self.name}: {problem}, or say load.hosts")
            return self.model_copy(update={"load": load})
        if max(self.load.hosts) > client_hosts:
            raise PlanError(
                f"plan {self.name}: load.hosts: {max(self.load.hosts)} client hosts are asked for,"
                f" there are {client_hosts}: name more in the group client of the inventory"
            )
        return self

    def _with_control_runs(self, name: str, block: list[Case]) -> list[Case]:
        """Insert control runs at the start, in the middle and at the end of a system's cases."""
        first = next(self._points(name, repeat=1))[0]
        start, middle, end = (
            first.model_copy(update={"control_run": turn}) for turn in range(1, CONTROL_RUNS + 1)
        )
        half = len(block) // 2
        return [start, *block[:half], middle, *block[half:], end]

    def settings_of(self, case: Case) -> Mapping[str, JsonValue]:
        """Return the settings with which the case's system is started, secrets included."""
        variants = self.systems[case.system].variants()
        return next(variant for variant in variants if redacted(variant) == case.settings)

    def _points(self, name: str, repeat: int) -> Iterator[list[Case]]:
        """Yield the cases of a repeat, a list for each deployment of the system."""
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
                    actions=surroundings.actions,
                    background=surroundings.background,
                    condition=surroundings.name,
                    fail_when=self.fail_when,
                    repeat=repeat,
                    **point,
                )
                for topology, queues, test_case, surroundings in layouts
                for link in surroundings.links
                for point in self.load.points()
            ]


def compared(plans: Sequence[Plan]) -> list[Comparison]:
    """Return the comparisons for ``decide``: within one plan, or between the points of two."""
    if len(plans) == 1:
        return plans[0].comparisons()
    first, second = plans
    return across((first.name, second.name), first.turn(1), second.turn(1))
