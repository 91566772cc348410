"""What the plan of a runs folder asks for, to be held against what is there."""

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
    """The plan of a runs folder, if it has one that can be read; and else why not, as a clause.

    A folder without a plan, or with one of another time or of a package that is not installed, is
    no reason to refuse its runs.
    """
    path = folder / PLAN
    if not path.exists():
        return None, ""
    try:
        return load_plan(path), ""
    except PlanError as error:
        why = one_line(str(error))
        return None, f"the plan of the runs cannot be read, so nothing is held against it: {why}"


def planned(folder: Path, attempts: Iterable[Run] = ()) -> pd.DataFrame:
    """The table ``planned``: one row per run that the plan asks for; none where it cannot be read.

    With a search, the plan asks for those of the ``attempts`` that belong to it, as what it runs
    depends on results; and for the first run of a search that has none.  With ``decide``, for its
    first repeats, and those of the attempts that are further ones.
    """
    plan, _ = plan_of(folder)
    if plan is None:
        return empty("planned")
    named = [*dict.fromkeys(_names(case) for case in plan.turn(1))]
    against = _compared(plan)
    rows = []
    for case, search in _cases(plan, attempts):
        row = keys(case.id, case) | {"control_run": case.control_run}
        if len(named) > 1 and (names := _names(case)) in named:
            row["condition_place"] = named.index(names) + 1
        if (name := case.condition) is not None:
            row |= {"condition": name, "published_factor": plan.conditions[name].published_factor}
        if search is not None:
            settings = {"repeats": search.repeats, **search.plan.model_dump(exclude_none=True)}
            row |= {"search_place": search.place, "search": json.dumps(settings)}
        if plan.decide is not None:
            settings = {**plan.decide.model_dump(), "repeats": plan.first_repeats}
            row["decide"] = json.dumps({**settings, "against": against.get(case.point, {})})
        rows.append(row)
    return in_order(conform("planned", pd.DataFrame(rows)))


def _names(case: Case) -> tuple[object, ...]:
    """Its condition, and what else of its load is no number: they stand as in the plan."""
    words = (value for value in case.parameters.values() if isinstance(value, str | bool))
    return (case.condition, *words)


def _cases(plan: Plan, attempts: Iterable[Run]) -> Iterator[tuple[Case, Search | None]]:
    """The cases of a plan, each with the search that it belongs to, if there are searches."""
    tried = {case.id: case for run in attempts if (case := run.known_case()) is not None}
    if plan.search is None:
        yield from ((case, None) for case in plan.cases_beside(tried.values()))
        return
    for search in plan.searches():
        covered = [case for case in tried.values() if search.covers(case)]
        first = search.next({})
        yield from ((case, search) for case in covered or filter(None, [first]))


def _compared(plan: Plan) -> dict[str, dict[str, str]]:
    """Point -> name -> the point that it is compared with, of a plan with ``decide``."""
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

    Rows of the same names keep their order; those of points that the plan does not know are last.
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
    """Positions of these rows by the places of their points, those without one last."""
    return np.argsort(points.map(places).to_numpy(dtype=float, na_value=np.nan), kind="stable")
