"""What runs say that systems sustain: a cell for each layout at each workload."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import pandas as pd

from mqperf.base.releases import released
from mqperf.plan.columns import parameters
from mqperf.plan.pace import PACE
from mqperf.study.stats.contrasts import LOAD
from mqperf.study.stats.doubt_kinds import CHECKS, NOTE, SPREAD, weight_of
from mqperf.study.stats.rules.finding import in_parts, offered
from mqperf.study.tables import Tables, completed, of_plan, of_points, varied
from mqperf.study.tables.axes import SWEEP
from mqperf_brokers.study.rates import Sustained, sustained

MEASURING = {*PACE, *LOAD, "asked_s", "warmup_s", "cooldown_s", "timeout_s"}
"""Parameters that say how a rate was looked for, and not at which workload."""

THREADS, BESIDE = "threads", "load_beside"
"""What else of a run tells its workload; at full load the best number of threads is looked for."""


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """What one layout of a system sustains at one workload, and on what that rests.

    ``given`` has the parameters of load and system by their columns, without those that say how a
    rate was looked for.  ``confirmed`` says whether senders learn what became of messages, as was
    recorded, if anything was.  ``release`` is the operating system of the hosts, ``doubts`` say why
    its rate counts for nothing.  ``bundle`` is the name of the bundle that has its runs, ``day``
    that on which they began.
    """

    bundle: str
    system: str
    title: str
    topology: str
    queues: str
    test_case: str
    generator: str
    given: Mapping[str, object]
    confirmed: bool | None
    release: str
    machine: str
    versions: str
    day: str
    sustained: Sustained
    doubts: tuple[str, ...]

    @property
    def counts(self) -> bool:
        """Whether its rate may be compared: nothing is doubted, and its interval is known."""
        return not self.doubts and self.sustained.known

    @property
    def layout(self) -> tuple[str, ...]:
        """What tells it from others of a workload."""
        return self.system, self.topology, self.queues

    @property
    def key(self) -> object:
        """What a second measurement of the same must have in common with it."""
        load = (self.test_case, self.sustained.how, self.confirmed, frozenset(self.given.items()))
        return (*self.layout, self.generator, *load, self.release, self.machine)


def cells(tables: Tables, bundle: str) -> Iterator[Cell]:
    """The cells of the complete tables of one plan, in its order.

    None of runs that were disturbed, nor of those that are of several parts: nothing of these is
    sustained.
    """
    planned = of_plan(tables)
    runs, points = planned["runs"], planned["points"]
    unsteady = in_parts(runs) | runs["run"].isin(planned["outages"]["run"])
    points = points[~points["point"].isin(runs.loc[unsteady, "point"])]
    at_rates = bool(offered(runs).notna().any())
    measuring = {*PACE} if at_rates else MEASURING
    telling = [name for name in varied(points) if name not in measuring]
    telling += [THREADS] if at_rates else []
    for _, group in points.groupby([*SWEEP, *telling], sort=False, dropna=False):
        part = {**of_points(planned, group["point"]), "doubts": tables["doubts"]}
        yield _cell(part, bundle, {*parameters(), BESIDE} - MEASURING | {*telling})


def _cell(part: Tables, bundle: str, names: Iterable[str]) -> Cell:
    """That of the tables of one workload on one layout; ``names`` are of all that tells these."""
    runs, rate = part["runs"], sustained(part)
    measured = runs if (good := completed(runs)).empty else good
    row, confirms = measured.iloc[0].to_dict(), part["latency"]["confirm_p50_s"]
    return Cell(
        bundle=bundle,
        system=str(row["system"]),
        title=_texts(measured, "system_title") or str(row["system"]),
        topology=str(row["topology"]),
        queues=str(row["queues"]),
        test_case=str(row["test_case"]),
        generator=str(row["generator"]),
        given={name: row[name] for name in names if pd.notna(row.get(name))},
        confirmed=bool(confirms.notna().any()) if len(confirms) else None,
        release=_texts(measured, "os"),
        machine=_machine(measured, part["hosts"]),
        versions=", ".join(_versions(measured)),
        day=min(measured["started"].dropna().dt.strftime("%Y-%m-%d"), default=""),
        sustained=rate,
        doubts=(*rate.faults, *_doubts(part["doubts"], rate.points)),
    )


def _doubts(doubts: pd.DataFrame, points: Iterable[str]) -> Iterator[str]:
    """What is wrong, or limited by something else, at these points or in all of the runs.

    Not that repeats differ: how much they do is in the interval.
    """
    about = doubts[doubts["point"].isna() | doubts["point"].isin([*points])]
    for kind, texts in about.groupby("kind", sort=False)["text"]:
        if kind != SPREAD and weight_of(str(kind)) != NOTE:
            yield f"{CHECKS[str(kind)].finding if kind in CHECKS else texts.iloc[0]} ({kind})"


def _versions(runs: pd.DataFrame) -> Iterator[str]:
    for title, names in {
        _texts(runs, "system_title"): ("system_version", "runtime_version"),
        _texts(runs, "generator"): ("generator_version",),
        "mqperf": ("mqperf_version",),
    }.items():
        versions = " on ".join(filter(None, (_texts(runs, name) for name in names)))
        yield released(title, versions)


def _machine(runs: pd.DataFrame, hosts: pd.DataFrame) -> str:
    kinds = runs[["cores", "cpu_model"]].dropna().drop_duplicates()
    words = " and ".join(f"{kind.cores} cores of {kind.cpu_model}" for kind in kinds.itertuples())
    count = hosts["host"].nunique()
    return f"{words}, {count} hosts" if count > 1 else words


def _texts(frame: pd.DataFrame, name: str) -> str:
    return " and ".join(map(str, frame[name].dropna().unique()))
