"""Reading folders into tables, and writing tables as files."""

import os
from pathlib import Path

import pandas as pd

from mqperf.base.errors import TableError
from mqperf.base.packages import BESIDE_RUNS, lacking
from mqperf.record import runs
from mqperf.study.tables.batches import Reduce, of_runs, read_names, unreduced
from mqperf.study.tables.given import writing
from mqperf.study.tables.parts import join_parts, write_table
from mqperf.study.tables.planned import by_condition, plan_of, planned
from mqperf.study.tables.published_folder import facts, is_published, read_tables
from mqperf.study.tables.shape import Tables


def read(path: Path, reduce: Reduce = unreduced) -> dict[str, pd.DataFrame]:
    """All tables of a runs folder or of a folder of published tables, except the computed ones.

    A failed attempt, and a run that cannot be read, has a row in ``runs`` and no others; an attempt
    that is being written, or was cut off, is left out.  Of run folders is kept what ``reduce``
    leaves of a few at a time; published tables stay whole.  Raises ``TableError`` or
    ``RecordError`` when the folder holds neither.
    """
    if is_published(path):
        return read_tables(path, (*read_names(), "doubts"))
    if not os.path.isdir(path):  # noqa: PTH112 (which says no where it may not look)
        raise TableError(f"{path}: no such folder; give a runs folder or a published one")
    attempts = [run for run in runs(path) if run.status in {"done", "failed"}]
    if not attempts:
        raise TableError(
            f"{path}: holds no runs; measure with: mqperf run PLAN --runs {path}; what another tool"
            f" measured is imported first: mqperf import {path} --out TABLES"
        )
    _check_packages(path)
    asked = planned(path, attempts)
    return by_condition({**of_runs(attempts, reduce), "planned": asked})


def _check_packages(path: Path) -> None:
    """Raise ``TableError`` for records of probes which a package reads that is not installed."""
    for place in (*(path / name for name in BESIDE_RUNS), *path.glob("*/probes/*/*.log")):
        if place.exists() and (package := lacking(place.stem)) is not None:
            raise TableError(f"{place}: to read it, install {package}")


def write(tables: Tables, folder: Path, form: str = "csv", parts: Path | None = None) -> list[Path]:
    """One file per table, named after it, as ``csv`` or ``parquet``; gives the files.

    Of tables for which the folder ``parts`` has the rows of runs, it takes these.  Raises
    ``TableError`` when one cannot be written.
    """
    files = {name: folder / f"{name}.{form}" for name in tables}
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, frame in tables.items():
            if parts is not None and (parts / name).is_dir():
                join_parts(parts, name, tables["runs"]["run"], files[name])
            else:
                write_table(frame, files[name], form)
    return list(files.values())


def title(path: Path) -> str:
    """What the folder calls itself: the title of its plan, or of the published report."""
    if is_published(path):
        return str(facts(path)["title"])
    plan, _ = plan_of(path)
    return path.resolve().name if plan is None else plan.title
