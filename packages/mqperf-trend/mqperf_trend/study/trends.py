"""Many folders of runs in the order of time: the steps of each point, judged together.

A step leads to the figure of a point in one folder from a reference: the same figure in earlier
folders that were *made on the same machine*, since the point last changed (``references``).  Each
machine has a series of its own.  Steps are judged like ratios in a comparison of two sets
(``stats.compare``), with the minimum relevant difference, and p-values that are corrected for all
steps to the same folder.  So the chance that a folder without a change shows even one is at most
about ``RISK``, however many points it has, once the history shows how much days differ; and a
verdict does not depend on later folders.

The variation between days is part of the error.  A lasting change of the machine is not: control
runs show that, and are compared by the same rules (``control_cause``).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

import pandas as pd

from mqperf.base.errors import TableError
from mqperf.plan.columns import TABLES, VERSIONS, parameters
from mqperf.plan.columns.computed import FOLLOWED
from mqperf.study.stats.compare import (
    CANNOT_TELL,
    MIN_EFFECT,
    POINT_KEYS,
    judged,
    kinds_by_point,
    one_side,
)
from mqperf.study.stats.differences import differences
from mqperf.study.stats.offered_rates import with_middle_rates
from mqperf.study.stats.summary import points
from mqperf.study.stats.sustained import FIGURE, YES
from mqperf.study.tables import Tables, at, completed, conform, empty, of_plan, varied
from mqperf.study.tables.axes import SWEEP
from mqperf.study.tables.shape import shaped
from mqperf_trend.study.control_cause import found_by, with_causes
from mqperf_trend.study.machines import Machines, hardware
from mqperf_trend.study.references import Series

TREND_FIGURES = FOLLOWED
"""The figures whose steps are judged: each further figure lowers the power for all others."""

SPREAD = tuple(f"{name}{end}" for name in TREND_FIGURES for end in ("", "_sd", "_low", "_high"))
"""The columns of these figures, with standard deviation and interval over the repeats."""

RISK = 0.01
"""The chance that a folder in which nothing changed has any verdict."""

AT_ANOTHER_POINT = "at another point"
FIRST = "none"

FOLDER_VERSIONS = tuple(name for name in VERSIONS if name in TABLES["trend_folders"].columns)
"""The versions in the row of each folder."""

Row = Mapping[Any, Any]
Folders = Sequence[tuple[str, Tables]]
"""The unique name of each folder, and its complete tables."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A folder with its place in time: the points of its plan, its name and label."""

    place: int
    name: str
    label: str
    machine: int
    started: pd.Timestamp | None
    tables: Tables

    def keys(self) -> dict[str, Any]:
        """The columns that identify the folder of a row."""
        return {
            "folder": self.name,
            "folder_place": self.place,
            "folder_label": self.label,
            "machine_number": self.machine,
        }


def trend(folders: Folders, *, min_effect: float | None = None) -> dict[str, pd.DataFrame]:
    """The tables of a trend over two or more folders, by their names.

    ``trend_folders``, ``trend_differences``, ``trend_sustained``, ``trend_steps``,
    ``trend_control_runs`` and ``trend_points``.  Runs that are not of the plan of their folder are
    left out.  ``min_effect`` is the minimum relevant difference, by default ``MIN_EFFECT``.  Raises
    ``TableError`` where there are fewer than two folders, or no point is in two of them.
    """
    if len(folders) < 2:
        raise TableError("a trend needs two folders of runs or more: give them all")
    placed = list(_placed(folders))
    least = MIN_EFFECT if min_effect is None else min_effect
    keys = [*POINT_KEYS, *_varying(placed)]
    sides = _sides(placed, keys)
    _check_common(sides, keys)
    steps = _judged("trend_steps", sides, keys, least)
    control = _judged_control(_sides(placed, POINT_KEYS, control=True), steps, least)
    pairs = {(a.name, b.name): (a, b) for a, b in _compared(placed, steps)}
    differing = _differences(pairs.values())
    steps = with_causes(steps, control, {folder.name: folder.tables for folder in placed}, least)
    points = pd.concat([_points(folder, keys) for folder in placed], ignore_index=True)
    return {
        "trend_folders": conform("trend_folders", pd.DataFrame(_folders(placed))),
        "trend_differences": differing,
        "trend_sustained": _sustained(placed, points, steps, keys),
        "trend_steps": conform("trend_steps", steps.assign(differs=_differs(steps, differing))),
        "trend_control_runs": control,
        "trend_points": conform("trend_points", points),
    }


def _placed(folders: Folders) -> Iterator[Placed]:
    """The folders in the order of time, numbered."""
    planned = [(name, _with_staircases(of_plan(tables))) for name, tables in folders]
    starts = [tables["runs"]["started"].min() for _, tables in planned]
    order = sorted(range(len(planned)), key=lambda n: (pd.notna(starts[n]), starts[n]))
    labels = _labels([starts[n] for n in order], [planned[n][0] for n in order])
    machines = Machines()
    for place, (number, label) in enumerate(zip(order, labels, strict=True), 1):
        name, tables = planned[number]
        started = None if pd.isna(starts[number]) else starts[number]
        yield Placed(place, name, label, machines.number(tables["runs"]), started, tables)


def _with_staircases(tables: Tables) -> Tables:
    """The tables, with the middle rate of each staircase as its throughput.

    Where it is known, it is its sustained throughput as well.
    """
    staircases = tables["rate_steps"]["point"].unique()
    if not len(staircases):
        return tables
    middle = with_middle_rates(tables)
    figures, rows = points(middle), tables["sustained"]
    ends = figures[figures["point"].isin(staircases)].dropna(subset=[FIGURE])
    best = ends.sort_values(FIGURE, ascending=False).drop_duplicates([*SWEEP])
    axes = ("threads", *varied(figures))
    places = [at(row, axes) for row in best[[*axes]].to_dict("records")]
    columns: dict[str, Any] = {
        "sustained_throughput_msg_s": best[FIGURE],
        "sustained_at": places,
        "keeps_up": YES,
    }
    names = ["point", *columns]
    of_sweeps = best.assign(**columns)[[*SWEEP, *names]]
    found = rows[[*SWEEP]].merge(of_sweeps, how="left").set_index(rows.index)
    filled = rows.assign(**{name: found[name].fillna(rows[name]) for name in names})
    return {**middle, "points": figures, "sustained": conform("sustained", filled)}


def _labels(starts: Sequence[Any], names: Sequence[str]) -> list[str]:
    """The days of folders; their names if days repeat; days with numbers if names repeat, too."""
    short_names = pd.Series([name.rstrip("/").rpartition("/")[2] for name in names], dtype=object)
    days = [f"{start:%Y-%m-%d}" if pd.notna(start) else None for start in starts]
    labels = pd.Series(days, dtype=object).fillna(short_names)
    if labels.is_unique:
        return list(labels)
    if short_names.is_unique:
        return list(short_names)
    repeated = labels.duplicated(keep=False)
    return [f"{label}, {n + 1}" if repeated[n] else str(label) for n, label in enumerate(labels)]


def _varying(placed: Iterable[Placed]) -> list[str]:
    """The parameters that distinguish points in any of the folders."""
    varying = {name for folder in placed for name in varied(folder.tables["runs"])}
    return [name for name in parameters() if name in varying]


def _sides(placed: Sequence[Placed], keys: Sequence[str], *, control: bool = False) -> pd.DataFrame:
    """One row per figure of a point in a folder, in the order of time."""
    parts = []
    for folder in placed:
        tables = _of_control_runs(folder.tables) if control else folder.tables
        rows = one_side(tables, folder.name, keys, TREND_FIGURES)
        columns: dict[str, Any] = {
            "folder": folder.name,
            "folder_place": folder.place,
            "machine_number": folder.machine,
        }
        parts.append(rows.assign(**columns))
    return pd.concat([rows for rows in parts if len(rows)] or parts, ignore_index=True)


def _of_control_runs(tables: Tables) -> Tables:
    """Control runs as the tables of a sweep of their own."""
    rows = tables["control_runs"]
    parts = {name: shaped(name, rows) for name in ("messages", "latency")}
    return {"runs": rows, **parts, "cpu": empty("cpu"), "doubts": empty("doubts")}


def _check_common(sides: pd.DataFrame, keys: Sequence[str]) -> None:
    """Raise ``TableError`` when no point is in two folders."""
    if sides.empty:
        raise TableError("none of these folders has figures: measure with mqperf run PLAN")
    if sides.groupby([*keys, "figure"], dropna=False).size().max() < 2:
        raise TableError(
            "these folders have no point in common: give folders of the same plan, or of plans with"
            " the same systems, topologies, queues, test cases and numbers of threads"
        )


def _judged(
    table: str, sides: pd.DataFrame, keys: Sequence[str], min_effect: float
) -> pd.DataFrame:
    """Each figure of a point compared with its reference on the same machine, folder by folder."""
    step_keys = ["folder_place", *keys, "figure"]
    parts = [empty(table)]
    for folder in _by_folder(sides, keys):
        between = _median_day_variances(folder)
        pairs = [
            series.pair(row, reference, keys, between[row["figure"]])
            for series, row in folder
            if (reference := series.reference(row))
        ]
        parts.append(_judged_pairs(table, pairs, min_effect))
        verdicts = parts[-1][parts[-1]["verdict"] != CANNOT_TELL].to_dict("records")
        changed = {_key(step, step_keys) for step in verdicts}
        for series, row in folder:
            series.add(row, changed=_key(row, step_keys) in changed)
    return pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)


def _judged_control(sides: pd.DataFrame, steps: pd.DataFrame, min_effect: float) -> pd.DataFrame:
    """The same for control runs, with the same reference folders as the steps to each folder."""
    table = "trend_control_runs"
    lengths = steps.groupby(["folder_place", "folder_a"])["reference_folders"].max()
    parts = [empty(table)]
    for folder in _by_folder(sides, POINT_KEYS):
        between = _median_day_variances(folder)
        pairs = []
        for series, row in folder:
            names = [earlier["folder"] for earlier in series.rows]
            spans = lengths[lengths.index.get_level_values(0) == row["folder_place"]]
            for (_, last), length in spans.items():
                if last in names:
                    end = names.index(last) + 1
                    reference = series.rows[max(0, end - length) : end]
                    pairs.append(series.pair(row, reference, POINT_KEYS, between[row["figure"]]))
            series.add(row, changed=False)
        parts.append(_judged_pairs(table, pairs, min_effect))
    return pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)


def _by_folder(
    sides: pd.DataFrame, keys: Sequence[str]
) -> Iterator[Sequence[tuple[Series, Mapping[Any, Any]]]]:
    """Yield the rows of each folder, each with the series that it continues."""
    series: defaultdict[tuple[str, ...], Series] = defaultdict(Series)
    series_keys = [*keys, "figure", "machine_number"]
    for _, rows in sides.groupby("folder_place"):
        yield [(series[_key(row, series_keys)], row) for row in rows.to_dict("records")]


def _median_day_variances(folder: Iterable[tuple[Series, Row]]) -> dict[str, float]:
    """Figure -> the median of the variance between days over the points of a folder."""
    variances = defaultdict[str, list[float]](list)
    for series, row in folder:
        variances[row["figure"]].append(series.between())
    return {figure: median(values) for figure, values in variances.items()}


def _judged_pairs(table: str, pairs: Sequence[Row], min_effect: float) -> pd.DataFrame:
    if not pairs:
        return empty(table)
    return judged(table, pd.DataFrame(pairs), min_effect=min_effect, risk=RISK)


def _compared(placed: Sequence[Placed], steps: pd.DataFrame) -> Iterator[tuple[Placed, Placed]]:
    """Each folder with the next, and every other pair of folders with a verdict between them."""
    by_name = {folder.name: folder for folder in placed}
    yield from pairwise(placed)
    judged_steps = steps[steps["verdict"] != CANNOT_TELL]
    for a, b in judged_steps[["folder_a", "folder_b"]].drop_duplicates().itertuples(index=False):
        yield by_name[a], by_name[b]


def _differences(pairs: Iterable[tuple[Placed, Placed]]) -> pd.DataFrame:
    """The table ``trend_differences``: the differences of these folders, without the days."""
    parts = [empty("trend_differences")]
    for a, b in pairs:
        differing = differences(a.tables, b.tables)
        keys: dict[str, Any] = {"folder_place": b.place, "folder_a": a.name, "folder_b": b.name}
        parts.append(differing[differing["what"] != "Days of measuring"].assign(**keys))
    rows = pd.concat([part for part in parts if len(part)] or parts)
    return conform("trend_differences", rows.sort_values("folder_place", kind="stable"))


def _differs(steps: pd.DataFrame, differing: pd.DataFrame) -> pd.Series:
    """The differences between the folders of each step, in words."""
    by_pair = {
        pair: "; ".join(
            f"{row['what']}: {row['value_in_a']} | {row['value_in_b']}"
            for row in rows.to_dict("records")
        )
        for pair, rows in differing.groupby(["folder_a", "folder_b"])
    }
    pairs = zip(steps["folder_a"], steps["folder_b"], strict=True)
    return pd.Series([by_pair.get(pair) for pair in pairs], steps.index, "string")


def _folders(placed: Sequence[Placed]) -> Iterator[dict[str, object]]:
    contents: dict[frozenset[str], str] = {}
    for folder in placed:
        runs = folder.tables["runs"]
        content = frozenset(runs["content"].dropna())
        earlier = contents.setdefault(content, folder.name) if content else folder.name
        yield {
            **folder.keys(),
            "started": folder.started,
            **{
                name: ", ".join(sorted(runs[name].dropna().unique())) or None
                for name in FOLDER_VERSIONS
            },
            "hardware": hardware(runs),
            "points_measured": int(folder.tables["points"]["throughput_msg_s"].notna().sum()),
            "doubts_raised": len(folder.tables["doubts"]),
            "control_runs_made": len(completed(folder.tables["control_runs"])),
            "copy_of": earlier if earlier != folder.name else None,
        }


def _points(folder: Placed, keys: Sequence[str]) -> pd.DataFrame:
    """The points of a folder, with the parameters that distinguish points in any folder."""
    points = folder.tables["points"].dropna(subset=["throughput_msg_s"])
    rows = points.reindex(columns=["point", *keys, "repeats", *SPREAD])
    kinds = kinds_by_point(folder.tables)
    doubted = pd.Series([kinds.get(str(point)) for point in rows["point"]], rows.index, "string")
    return conform("trend_points", rows.assign(**folder.keys(), doubted=doubted))


def _sustained(
    placed: Sequence[Placed], points: pd.DataFrame, steps: pd.DataFrame, keys: Sequence[str]
) -> pd.DataFrame:
    """The table ``trend_sustained``: the sustained throughput of each folder, and its steps."""
    parts = []
    for folder in placed:
        rows = folder.tables["sustained"]
        of_folder = points[points["folder_place"] == folder.place]
        point_columns = of_folder[["point", *(name for name in keys if name not in SWEEP), *SPREAD]]
        parts.append(rows.merge(point_columns, on="point", how="left").assign(**folder.keys()))
    rows = pd.concat(parts, ignore_index=True)
    ordered = rows.sort_values("folder_place", kind="stable")
    series = ordered.groupby([*SWEEP, "machine_number"], dropna=False, sort=False)
    before = series[["sustained_throughput_msg_s", "sustained_at", *keys]].shift()
    rate = ordered["sustained_throughput_msg_s"]
    ratio = rate / before["sustained_throughput_msg_s"].where(lambda value: value > 0)
    throughput = steps[steps["figure"] == TREND_FIGURES[0]].to_dict("records")
    step_keys = ["folder_place", *keys]
    verdicts = {_key(row, step_keys): (found_by(row), row["detectable"]) for row in throughput}
    steps_of_rows = [
        _sustained_step(row, previous, step_keys, verdicts) if compared else (FIRST, None)
        for row, previous, compared in zip(
            ordered.to_dict("records"), before.to_dict("records"), ratio.notna(), strict=True
        )
    ]
    step_texts, detectable = zip(*steps_of_rows, strict=True)
    sustained = ordered.assign(
        step=step_texts, detectable=pd.Series(detectable, ordered.index, "float64")
    )
    moved = sustained["step"] == AT_ANOTHER_POINT
    sustained = sustained.assign(
        ratio=ratio.mask(moved), moved_from=before["sustained_at"].where(moved)
    )
    return shaped("trend_sustained", sustained)


def _sustained_step(
    row: Row, prior: Row, keys: Sequence[str], verdicts: Mapping[tuple[str, ...], tuple[str, float]]
) -> tuple[str, float | None]:
    """The verdict on the point that sustains it in both folders, and the detectable change.

    Without a common point, the reason instead of the verdict.  Verdicts are those of
    ``trend_steps``, and no further tests.
    """
    if _key(row, keys[1:]) != _key(prior, keys[1:]):
        return AT_ANOTHER_POINT, None
    return verdicts.get(_key(row, keys), (FIRST, None))


def _key(row: Row, keys: Sequence[str]) -> tuple[str, ...]:
    """The values of these columns of a row, as text."""
    return tuple(str(row[name]) for name in keys)
