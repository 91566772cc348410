"""Reading folders into tables, and writing tables as files."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from mqperf.columns import COMPUTED, TABLES
from mqperf.errors import TableError
from mqperf.plan_file import load_plan
from mqperf.record import Run, runs
from mqperf.tables.of_run import keys, of_run
from mqperf.tables.shape import Tables, conform, empty, in_order

PLAN = "plan.yaml"
PUBLISHED = "published.json"
"""The file by which a folder of published tables is known."""

READ = tuple(name for name in TABLES if name not in COMPUTED)
"""The tables that are read; the others are computed from them."""


def read(path: Path) -> dict[str, pd.DataFrame]:
    """All tables of a runs folder or of a folder of published tables, except the computed ones.

    A failed attempt has a row in ``runs`` and no others; an attempt that is being written, or was
    cut off, is left out.  Raises ``TableError`` or ``RecordError`` when the folder holds neither.
    """
    if (path / PUBLISHED).exists():
        return read_csv(path)
    if not path.is_dir():
        raise TableError(f"{path}: no such folder; give a runs folder or a published one")
    attempts = [run for run in runs(path) if run.status in {"done", "failed"}]
    if not attempts:
        raise TableError(f"{path}: holds no runs; measure with: mqperf run PLAN --runs {path}")
    return of_runs(attempts)


def of_runs(attempts: Iterable[Run]) -> dict[str, pd.DataFrame]:
    """The tables of these runs, by the axes of the sweep: threads rise within a test case."""
    found = [(keys(run), of_run(run)) for run in attempts]
    owners = pd.DataFrame([owner for owner, _ in found])
    return {
        name: in_order(_joined(name, owners, [frames.get(name) for _, frames in found]))
        for name in READ
    }


def read_csv(folder: Path) -> dict[str, pd.DataFrame]:
    """The tables that stand as CSV in the folder; the others are empty."""
    return {name: _read_csv(name, folder / f"{name}.csv") for name in (*READ, "doubts")}


def write(tables: Tables, folder: Path, form: str = "csv") -> list[Path]:
    """One file per table, named after it, as ``csv`` or ``parquet``; gives the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name, frame in tables.items():
        file = folder / f"{name}.{form}"
        if form == "parquet":
            frame.to_parquet(file, index=False)
        else:
            frame.to_csv(file, index=False, date_format="%Y-%m-%dT%H:%M:%S.%fZ")
        files.append(file)
    return files


def _joined(name: str, owners: pd.DataFrame, frames: Sequence[pd.DataFrame | None]) -> pd.DataFrame:
    """The rows of all frames, each with the keys of its owner, the attempt at the same place."""
    lengths = [0 if frame is None else len(frame) for frame in frames]
    filled = [frame for frame in frames if frame is not None and len(frame)]
    if not filled:
        return empty(name)
    rows = pd.concat(filled, ignore_index=True)
    of_rows = owners.take(np.repeat(np.arange(len(owners)), lengths)).reset_index(drop=True)
    return conform(name, pd.concat([of_rows, rows], axis="columns"))


def _read_csv(name: str, file: Path) -> pd.DataFrame:
    if not file.exists():
        return empty(name)
    try:
        frame = pd.read_csv(file, dtype_backend="numpy_nullable")
        return conform(name, frame)
    except (ValueError, TableError) as error:
        raise TableError(f"{file}: {error}") from None


def title(path: Path) -> str:
    """What the folder calls itself: the title of its plan, or of the published report."""
    plan, published = path / PLAN, path / PUBLISHED
    if published.exists():
        return str(json.loads(published.read_text(encoding="utf-8"))["title"])
    return load_plan(plan).title if plan.exists() else path.name
