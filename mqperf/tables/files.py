"""Reading folders into tables, and writing tables as files."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from mqperf.columns import COMPUTED, TABLES
from mqperf.errors import TableError
from mqperf.plan_file import load_plan
from mqperf.record import Run, runs
from mqperf.tables.attempts import Attempt, conforming, read_attempts
from mqperf.tables.given import writing
from mqperf.tables.planned import planned
from mqperf.tables.published_folder import facts, is_published, read_tables
from mqperf.tables.shape import Tables, conform, empty, in_order

PLAN = "plan.yaml"

READ = tuple(name for name in TABLES if name not in COMPUTED)
"""The tables that are read; the others are computed from them."""


def read(path: Path) -> dict[str, pd.DataFrame]:
    """All tables of a runs folder or of a folder of published tables, except the computed ones.

    A failed attempt, and a run that cannot be read, has a row in ``runs`` and no others; an attempt
    that is being written, or was cut off, is left out.  Raises ``TableError`` or ``RecordError``
    when the folder holds neither.
    """
    if is_published(path):
        return read_tables(path, (*READ, "doubts"))
    if not os.path.isdir(path):  # noqa: PTH112 (which says no where it may not look)
        raise TableError(f"{path}: no such folder; give a runs folder or a published one")
    attempts = [run for run in runs(path) if run.status in {"done", "failed"}]
    if not attempts:
        raise TableError(f"{path}: holds no runs; measure with: mqperf run PLAN --runs {path}")
    return {**of_runs(attempts), "planned": planned(path / PLAN)}


def of_runs(attempts: Iterable[Run]) -> dict[str, pd.DataFrame]:
    """The tables of these runs, by the axes of the sweep: threads rise within a test case.

    A run that cannot be read has a row in ``runs`` with the reason, and no others.  Raises
    ``TableError`` when there are such and no other.
    """
    tried = list(attempts)
    found = read_attempts(tried)
    try:
        tables = _all(found)
    except TableError:
        found = conforming(tried, found)
        tables = _all(found)
    problems = [one.problem for one in found if one.problem is not None]
    if problems and len(problems) == len(found):
        raise TableError(
            f"none of {len(found)} runs can be read: {problems[0].rstrip('.')};"
            " restore the files from a copy, or remove the run folders and measure again"
        )
    return tables


def _all(found: Sequence[Attempt]) -> dict[str, pd.DataFrame]:
    owners = pd.DataFrame([dict(one.keys) for one in found])
    return {
        name: in_order(_joined(name, owners, [one.frames.get(name) for one in found]))
        for name in READ
    }


def write(tables: Tables, folder: Path, form: str = "csv") -> list[Path]:
    """One file per table, named after it, as ``csv`` or ``parquet``; gives the files.

    Raises ``TableError`` when one cannot be written.
    """
    files = {name: folder / f"{name}.{form}" for name in tables}
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, frame in tables.items():
            if form == "parquet":
                frame.to_parquet(files[name], index=False)
            else:
                frame.to_csv(files[name], index=False, date_format="%Y-%m-%dT%H:%M:%S.%fZ")
    return list(files.values())


def _joined(name: str, owners: pd.DataFrame, frames: Sequence[pd.DataFrame | None]) -> pd.DataFrame:
    """The rows of all frames, each with the keys of its owner, the attempt at the same place."""
    lengths = [0 if frame is None else len(frame) for frame in frames]
    filled = [frame for frame in frames if frame is not None and len(frame)]
    if not filled:
        return empty(name)
    rows = pd.concat(filled, ignore_index=True)
    of_rows = owners.take(np.repeat(np.arange(len(owners)), lengths)).reset_index(drop=True)
    return conform(name, pd.concat([of_rows, rows], axis="columns"))


def title(path: Path) -> str:
    """What the folder calls itself: the title of its plan, or of the published report."""
    if is_published(path):
        return str(facts(path)["title"])
    plan = path / PLAN
    return load_plan(plan).title if plan.exists() else path.name
