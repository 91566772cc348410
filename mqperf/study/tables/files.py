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

    A failed attempt, or a run that cannot be read, has a row in ``runs`` and no others; an attempt
    that is still being written, or was interrupted, is left out.  ``reduce`` is applied to each
    batch of runs, and not to published tables.  Raises ``TableError`` or ``RecordError`` when the
    folder holds neither.
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
    plan_rows = planned(path, attempts)
    return by_condition({**of_runs(attempts, reduce), "planned": plan_rows})


def _check_packages(path: Path) -> None:
    """Raise ``TableError`` for probe records whose package is not installed."""
    for record in (*(path / name for name in BESIDE_RUNS), *path.glob("*/probes/*/*.log")):
        if record.exists() and (package := lacking(record.stem)) is not None:
            raise TableError(f"{record}: to read it, install {package}")


def write(tables: Tables, folder: Path, form: str = "csv", parts: Path | None = None) -> list[Path]:
    """Write each table as a ``csv`` or ``parquet`` file named after it; return the files.

    Tables of which the folder ``parts`` has the rows of each run are joined from these.  Raises
    ``TableError`` when a file cannot be written.
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
    """The title of the folder's plan, or of the published report; else the folder's name."""
    if is_published(path):
        return str(facts(path)["title"])
    plan, _ = plan_of(path)
    return path.resolve().name if plan is None else plan.title
