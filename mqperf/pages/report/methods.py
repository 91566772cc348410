"""The appendix on methods: how the runs were made, and how figures are computed."""

from collections.abc import Callable, Mapping

import pandas as pd

from mqperf.base.one_line import amount
from mqperf.pages.report.rst import Grid
from mqperf.pages.report.words import joined, repeats_of
from mqperf.pages.sections.points import POINTS
from mqperf.plan.columns import COLUMNS, COUNTS, TABLES
from mqperf.study.stats.bottleneck import BROKER_FULL, LINK_FULL, LOSSY
from mqperf.study.stats.doubt_kinds import CHECKS
from mqperf.study.stats.law import WORST_FIT
from mqperf.study.stats.rules.tester import HOST_FULL, ONE_CORE
from mqperf.study.stats.scaling import DRAWS, FEWEST
from mqperf.study.tables import Tables, all_attempts, completed, select
from mqperf.study.tables.axes import further
from mqperf.study.tables.axis_words import titled

Describe = Callable[[Tables], str]
"""Returns a text on the tables of a system; their runs are all attempts."""


def _values(column: str) -> Describe:
    def describe(tables: Tables) -> str:
        shown, runs = COLUMNS[column], tables["runs"]
        values = [
            f"{value * shown.scale:g}" if isinstance(value, float) else str(value)
            for value in sorted(runs[column].dropna().unique())
        ]
        unit = shown.shown or shown.unit
        return f"{joined(values)} {unit}".strip() if values else ""

    return describe


def _order(tables: Tables) -> str:
    orders = tables["runs"][["order", "seed"]].dropna(subset="order").drop_duplicates()
    return "; ".join(
        f"random, seed {seed}" if order == "random" else "as the plan lists them"
        for order, seed in orders.itertuples(index=False)
    )


def _control_runs(tables: Tables) -> str:
    count = len(completed(tables["control_runs"]))
    return f"the first point measured {amount(count, 'time')} more" if count else "none"


def _attempts(tables: Tables) -> str:
    runs = tables["runs"]
    failed, unreadable = (int(runs["status"].eq(s).sum()) for s in ("failed", "unreadable"))
    also = f" and {unreadable} cannot be read" if unreadable else ""
    return f"{len(runs)}, of which {failed or 'none'} failed{also}"


def _largest(column: str) -> Describe:
    def describe(tables: Tables) -> str:
        largest = tables["runs"][column].max()
        return "" if pd.isna(largest) else f"at most {largest:.3g} {COLUMNS[column].unit}"

    return describe


def _memory(tables: Tables) -> str:
    sizes = sorted(tables["runs"]["memory_bytes"].dropna().unique())
    return joined([f"{size / 2**30:.1f} GiB" for size in sizes])


def _by_title(by_column: Mapping[str, Describe]) -> dict[str, Describe]:
    """Replace the names of columns by their titles."""
    return {titled(column): describe for column, describe in by_column.items()}


def _all_values(*columns: str) -> dict[str, Describe]:
    return _by_title({column: _values(column) for column in columns})


SWEEP_SECTION = "The sweep"

PARAMETERS: Mapping[str, Mapping[str, Describe]] = {
    SWEEP_SECTION: {
        "points": lambda tables: str(tables["runs"]["point"].nunique()),
        "attempts": _attempts,
        "whole runs of each point": lambda tables: repeats_of(tables["points"]),
        "control runs": _control_runs,
        **_by_title({"order": _order}),
        **_all_values("green_threads", "processes", "hosts", "targets", "warmup_s"),
        **_by_title({"warmup_found_s": _largest("warmup_found_s")}),
        **_all_values("asked_s", "cooldown_s"),
        **_by_title({"drain_s": _largest("drain_s")}),
        **_all_values("timeout_s"),
    },
    "The machine": {
        **_all_values("cpu_model", "cores"),
        **_by_title({"memory_bytes": _memory}),
        **_all_values("os", "kernel", "clock_source"),
        **_by_title({"clock_offset_s": _largest("clock_offset_s")}),
        **_all_values("cpu_governor", "tcp_congestion_control", "somaxconn", "network_card"),
    },
    "Versions": _all_values(
        "mqperf_version",
        "system_version",
        "runtime_version",
        "generator_version",
        "python_version",
    ),
}
"""Section -> parameter -> function that describes it; an empty text if it was not recorded."""


def recorded(tables: Tables, titles: Mapping[str, str]) -> tuple[dict[str, Grid], list[str]]:
    """Return tables of the parameters, a column per system, and the names of unrecorded ones."""
    grids, missing = {}, []
    tables = {**tables, "runs": all_attempts(tables)}
    by_system = {system: select(tables, system=system) for system in titles}
    varied = _all_values(*further(tables["runs"]))
    sections = {**PARAMETERS, SWEEP_SECTION: {**PARAMETERS[SWEEP_SECTION], **varied}}
    for section, parameters in sections.items():
        rows = []
        for name, describe in parameters.items():
            values = [describe(of_system) for of_system in by_system.values()]
            if any(values):
                rows.append((name, *(value or "not recorded" for value in values)))
            else:
                missing.append(name)
        if rows:
            headings = ("Parameter", *titles.values())
            grids[section] = Grid("", headings, tuple(rows), style="")
    return grids, missing


def formulas() -> dict[str, str]:
    """Return the heading of each column of the pages -> how it is computed."""
    names = [
        name
        for name in dict.fromkeys(("threads", *COUNTS, *POINTS))
        if not name.endswith(("_low", "_high"))
    ]
    return {COLUMNS[name].heading(): COLUMNS[name].meaning for name in names}


def law() -> dict[str, str]:
    """Return the terms of the fitted law -> their meaning."""
    keys = TABLES["points"].columns
    names = [name for name in TABLES["saturation_points"].columns if name not in (*keys, "text")]
    return {COLUMNS[name].heading(): COLUMNS[name].meaning for name in names}


def limits() -> dict[str, str]:
    """Return the thresholds for trusting the fitted law, and for naming a bottleneck."""
    shares = {
        "worst_fit": WORST_FIT,
        "tester": ONE_CORE,
        "broker": BROKER_FULL,
        "host": HOST_FULL,
        "link": LINK_FULL,
        "lossy": LOSSY,
    }
    values = {name: f"{100 * share:.0f} %" for name, share in shares.items()}
    return values | {"fewest": f"{FEWEST}", "draws": f"{DRAWS}"}


def checks(doubts: pd.DataFrame) -> Grid:
    """Return a table of all checks: question, reason, and number of doubts raised here."""
    counted = doubts["kind"].value_counts()
    rows = [
        (kind, check.question, check.reason, str(counted.get(kind, 0)))
        for kind, check in CHECKS.items()
    ]
    return Grid("", ("kind", "question", "why it matters", "doubts"), tuple(rows), style="")
