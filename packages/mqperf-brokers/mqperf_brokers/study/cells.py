"""Sustained rates from runs: a cell for each layout at each workload."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import pandas as pd

from mqperf.base.releases import released
from mqperf.plan.columns import parameters
from mqperf.plan.pace import PACE
from mqperf.study.stats.contrasts import LOAD
from mqperf.study.stats.differences import core_speed
from mqperf.study.stats.doubt_kinds import CHECKS, NOTE, SPREAD, weight_of
from mqperf.study.stats.rules.finding import in_parts, offered
from mqperf.study.tables import Tables, completed, of_plan, of_points, varied
from mqperf.study.tables.axes import SWEEP
from mqperf_brokers.study.rates import Sustained, sustained

MEASURING = {*PACE, *LOAD, "asked_s", "warmup_s", "cooldown_s", "timeout_s"}
"""Parameters of the search for a rate, which do not belong to the workload."""

THREADS, BESIDE = "threads", "load_beside"
"""Further columns of a workload; but at full load the best number of threads is searched for."""


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """The rate that one layout of a system sustains at one workload, and its basis.

    ``given`` has the parameters of load and system by column, without those of the search for a
    rate.  ``confirmed`` is whether senders got confirms, as recorded; None if that is not known.
    ``release`` is the operating system of the hosts, ``doubts`` are reasons why the rate does not
    count.  ``bundle`` is the name of the bundle with the runs, ``day`` the day on which they began,
    and ``core_speed`` how fast a core was meanwhile; NaN if that is not recorded.
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
    core_speed: float
    sustained: Sustained
    doubts: tuple[str, ...]

    @property
    def counts(self) -> bool:
        """Whether its rate may be compared: it has no doubts, and a known interval."""
        return not self.doubts and self.sustained.known

    @property
    def layout(self) -> tuple[str, ...]:
        """The key of the layout within a workload."""
        return self.system, self.topology, self.queues

    @property
    def key(self) -> object:
        """The key that a second measurement of the same cell must have as well."""
        load = (self.test_case, self.sustained.how, self.confirmed, frozenset(self.given.items()))
        return (*self.layout, self.generator, *load, self.release, self.machine)


def cells(tables: Tables, bundle: str) -> Iterator[Cell]:
    """Yield the cells of the complete tables of one plan, in its order.

    Runs with actions, and runs that consist of parts, have no cells: they sustain no rate.
    """
    planned = of_plan(tables)
    runs, points = planned["runs"], planned["points"]
    unsteady = in_parts(runs) | runs["run"].isin(planned["outages"]["run"])
    points = points[~points["point"].isin(runs.loc[unsteady, "point"])]
    at_rates = bool(offered(runs).notna().any())
    measuring = {*PACE} if at_rates else MEASURING
    distinguishing = [name for name in varied(points) if name not in measuring]
    distinguishing += [THREADS] if at_rates else []
    for _, group in points.groupby([*SWEEP, *distinguishing], sort=False, dropna=False):
        workload = {**of_points(planned, group["point"]), "doubts": tables["doubts"]}
        yield _cell(workload, bundle, {*parameters(), BESIDE} - MEASURING | {*distinguishing})


def _cell(workload: Tables, bundle: str, names: Iterable[str]) -> Cell:
    """Return the cell of the tables of one workload on one layout; ``names`` are for ``given``."""
    runs, rate = workload["runs"], sustained(workload)
    measured = runs if (good := completed(runs)).empty else good
    row, confirms = measured.iloc[0].to_dict(), workload["latency"]["confirm_p50_s"]
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
        machine=_machine(measured, workload["hosts"]),
        versions=", ".join(_versions(measured)),
        day=min(measured["started"].dropna().dt.strftime("%Y-%m-%d"), default=""),
        core_speed=core_speed(workload),
        sustained=rate,
        doubts=(*rate.faults, *_doubts(workload["doubts"], rate.points)),
    )


def _doubts(doubts: pd.DataFrame, points: Iterable[str]) -> Iterator[str]:
    """Yield the findings of doubts about these points, or about the runs as a whole.

    Notes are left out, and the spread of repeats, as the interval includes it.
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
