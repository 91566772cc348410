"""The runs that the plan of a folder asks for, for comparison with the runs that it holds."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mqperf.base.errors import PlanError
from mqperf.base.one_line import one_line
from mqperf.plan import Case, Plan, Search
from mqperf.plan.file import load_plan
from mqperf.record import PLAN, Run
from mqperf.study.tables.of_run import keys
from mqperf.study.tables.shape import Tables, conform, empty, in_order

ABOUT_CONDITIONS = ("condition", "published_factor")


def plan_of(folder: Path) -> tuple[Plan | None, str]:
    """The plan of a runs folder, or None, and a clause with the reason if it cannot be read.

    Runs remain usable without a plan, or with one of another version or of a package that is not
    installed.
    """
    path = folder / PLAN
    if not path.exists():
        return None, ""
    try:
        return load_plan(path), ""
    except PlanError as error:
        reason = one_line(str(error))
        return None, f"the plan of the runs cannot be read, so nothing is held against it: {reason}"


def planned(folder: Path, attempts: Iterable[Run] = ()) -> pd.DataFrame:
    """The table ``planned``: one row per run that the plan asks for; none if it cannot be read.

    What a search runs depends on results: its rows are those of the ``attempts`` that belong to it,
    or its first run if there are none.  With ``decide``, rows are the first repeats, and further
    repeats among the attempts.
    """
    plan, _ = plan_of(folder)
    if plan is None:
        return empty("planned")
    places = [*dict.fromkeys(_names(case) for case in plan.turn(1))]
    references = _reference_points(plan)
    rows = []
    for case, search in _cases(plan, attempts):
        row = keys(case.id, case) | {"control_run": case.control_run}
        if len(places) > 1 and (names := _names(case)) in places:
            row["condition_place"] = places.index(names) + 1
        if (name := case.condition) is not None:
            row |= {"condition": name, "published_factor": plan.conditions[name].published_factor}
        if search is not None:
            settings = {"repeats": search.repeats, **search.plan.model_dump(exclude_none=True)}
            row |= {"search_place": search.place, "search": json.dumps(settings)}
        if plan.decide is not None:
            settings = {**plan.decide.model_dump(), "repeats": plan.first_repeats}
            row["decide"] = json.dumps({**settings, "against": references.get(case.point, {})})
        rows.append(row)
    return in_order(conform("planned", pd.DataFrame(rows)))


def _names(case: Case) -> tuple[object, ...]:
    """The condition and the non-numeric parameters of a case; rows keep their order in the plan."""
    texts = (value for value in case.parameters.values() if isinstance(value, str | bool))
    return (case.condition, *texts)


def _cases(plan: Plan, attempts: Iterable[Run]) -> Iterator[tuple[Case, Search | None]]:
    """Yield the cases of a plan, each with the search that it belongs to, or None."""
    tried = {case.id: case for run in attempts if (case := run.known_case()) is not None}
    if plan.search is None:
        yield from ((case, None) for case in plan.cases_beside(tried.values()))
        return
    for search in plan.searches():
        covered = [case for case in tried.values() if search.covers(case)]
        first = search.next({})
        yield from ((case, search) for case in covered or filter(None, [first]))


def _reference_points(plan: Plan) -> dict[str, dict[str, str]]:
    """Point -> axis -> its reference point, for a plan with ``decide``; else empty."""
    references: dict[str, dict[str, str]] = {}
    for comparison in plan.comparisons() if plan.decide is not None else ():
        (_, reference), (_, other) = comparison.points
        references.setdefault(other, {})[comparison.axis] = reference
    return references


def conditions(tables: Tables) -> pd.DataFrame:
    """One row per condition of the plan, in its order: ``condition`` and ``published_factor``."""
    rows = tables.get("planned")
    if rows is None or rows["condition"].isna().all():
        return empty("planned")[list(ABOUT_CONDITIONS)]
    named = rows.dropna(subset=["condition"]).drop_duplicates("condition")
    return named.sort_values("condition_place")[list(ABOUT_CONDITIONS)].reset_index(drop=True)


def by_condition(tables: Tables) -> dict[str, pd.DataFrame]:
    """The tables with their rows in the order of the plan's conditions and other names, if any.

    Rows of the same names keep their order; points outside the plan come last.
    """
    placed = tables["planned"].dropna(subset=["condition_place"]).drop_duplicates("point")
    if placed.empty:
        return dict(tables)
    places = placed.set_index("point")["condition_place"].astype("float64")
    return {
        name: frame.iloc[_order(frame["point"], places)].reset_index(drop=True)
        if "point" in frame.columns
        else frame
        for name, frame in tables.items()
    }


def _order(points: pd.Series, places: pd.Series) -> NDArray[np.intp]:
    """Row positions sorted by the place of each row's point; points without a place come last."""
    return np.argsort(points.map(places).to_numpy(dtype=float, na_value=np.nan), kind="stable")
