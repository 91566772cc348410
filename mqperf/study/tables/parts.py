"""Long tables that are never held whole: written run by run, and put together on disk."""

import shutil
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from mqperf.study.tables.given import writing
from mqperf.study.tables.shape import Tables, empty
from mqperf.study.tables.spreadsheets import write_csv

GROUP = 1_000_000
"""Rows of a row group, in the files that have such."""


def write_parts(tables: Tables, names: Iterable[str], folder: Path, form: str) -> None:
    """Write the rows of each run in these tables as a file of its own into the folder.

    Raises ``TableError`` when one cannot be written.
    """
    with writing(folder):
        for name in names:
            table_folder = folder / name
            table_folder.mkdir(exist_ok=True)
            for run, rows in tables[name].groupby("run", sort=False):
                _write(rows, table_folder / f"{run}.{form}", form, header=False)


def join_parts(folder: Path, name: str, runs: Iterable[str], file: Path) -> None:
    """Put the rows of these runs together as the table ``name``, in the order of the runs.

    Their parts are removed on the way.  Raises ``TableError`` when the file cannot be written.
    """
    form = file.suffix.removeprefix(".")
    parts = [folder / name / f"{run}.{form}" for run in runs]
    there = (part for part in parts if part.exists())
    with writing(file.parent):
        if form == "parquet":
            _join_parquet(name, there, file)
        else:
            _join_csv(name, there, file)


def write_table(frame: pd.DataFrame, file: Path, form: str) -> None:
    """Write a table as a file."""
    _write(frame, file, form, header=True)


def _write(frame: pd.DataFrame, file: Path, form: str, *, header: bool) -> None:
    if form == "parquet":
        frame.to_parquet(file, index=False)
    else:
        write_csv(frame, file, header=header)


def _join_csv(name: str, parts: Iterable[Path], file: Path) -> None:
    write_table(empty(name), file, "csv")
    with file.open("ab") as whole:
        for part in parts:
            with part.open("rb") as rows:
                shutil.copyfileobj(rows, whole, 1 << 20)
            part.unlink()


def _join_parquet(name: str, parts: Iterable[Path], file: Path) -> None:
    schema = pa.Table.from_pandas(empty(name), preserve_index=False).schema
    with closing(pq.ParquetWriter(file, schema)) as whole:
        for rows in _grouped(parts, schema):
            whole.write_table(rows)


def _grouped(parts: Iterable[Path], schema: pa.Schema) -> Iterator[pa.Table]:
    """The rows of all parts, some ``GROUP`` at a time."""
    waiting: list[pa.Table] = []
    for part in parts:
        waiting.append(pq.read_table(part).cast(schema))
        part.unlink()
        if sum(map(len, waiting)) >= GROUP:
            yield pa.concat_tables(waiting)
            waiting = []
    if waiting:
        yield pa.concat_tables(waiting)
