"""Long tables that are never in memory as a whole: written run by run, and joined on disk."""

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
"""Rows per row group of Parquet files."""


def write_parts(tables: Tables, names: Iterable[str], folder: Path, form: str) -> None:
    """Write the rows of each run in these tables to a separate file in the folder.

    Raises ``TableError`` when one cannot be written.
    """
    with writing(folder):
        for name in names:
            table_folder = folder / name
            table_folder.mkdir(exist_ok=True)
            for run, rows in tables[name].groupby("run", sort=False):
                _write(rows, table_folder / f"{run}.{form}", form, header=False)


def join_parts(folder: Path, name: str, runs: Iterable[str], file: Path) -> None:
    """Join the rows of these runs into the table ``name``, in the order of the runs.

    The parts are deleted.  Raises ``TableError`` when the file cannot be written.
    """
    form = file.suffix.removeprefix(".")
    parts = [folder / name / f"{run}.{form}" for run in runs]
    existing = (part for part in parts if part.exists())
    with writing(file.parent):
        if form == "parquet":
            _join_parquet(name, existing, file)
        else:
            _join_csv(name, existing, file)


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
    with file.open("ab") as joined:
        for part in parts:
            with part.open("rb") as rows:
                shutil.copyfileobj(rows, joined, 1 << 20)
            part.unlink()


def _join_parquet(name: str, parts: Iterable[Path], file: Path) -> None:
    schema = pa.Table.from_pandas(empty(name), preserve_index=False).schema
    with closing(pq.ParquetWriter(file, schema)) as joined:
        for rows in _grouped(parts, schema):
            joined.write_table(rows)


def _grouped(parts: Iterable[Path], schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield the rows of all parts, at least ``GROUP`` at a time."""
    pending: list[pa.Table] = []
    for part in parts:
        pending.append(pq.read_table(part).cast(schema))
        part.unlink()
        if sum(map(len, pending)) >= GROUP:
            yield pa.concat_tables(pending)
            pending = []
    if pending:
        yield pa.concat_tables(pending)
