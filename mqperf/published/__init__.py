"""Published reports as data: performance-docs reports and CSV files in, tables out.

Every figure keeps the file and line it comes from.  What a report leaves open is left empty, what
it contradicts itself in becomes a doubt, and what cannot be read for certain is an error.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from mqperf import tables
from mqperf.columns import TABLES
from mqperf.errors import TableError
from mqperf.published import assemble, reference_csv, rst
from mqperf.published.cells import Report
from mqperf.tables import Tables
from mqperf.tables.given import writing
from mqperf.tables.published_folder import PUBLISHED, is_published

READERS: Mapping[str, Callable[[Path, str], Report]] = {
    ".rst": rst.read,
    ".csv": reference_csv.read,
}


def import_reports(files: Sequence[Path]) -> Tables:
    """The tables ``runs``, ``messages``, ``latency``, ``cpu`` and ``doubts`` of these reports.

    A run is one row of a report, its status is ``published``.  Raises ``TableError`` for a file
    that is no such report, and whenever it cannot be told which figure is which.
    """
    reports = [_reader(file)(file, label) for file, label in _labels(files).items()]
    if not any(report.cells for report in reports):
        named = ", ".join(str(file) for file in files) or "no file given"
        raise TableError(f"{named}: no figures of any point; give reports or their CSV files")
    return assemble.assembled(reports)


def write(imported: Tables, folder: Path, title: str = "") -> list[Path]:
    """A folder of published tables: CSV without the empty columns, and ``published.json``.

    Tables of an earlier import are replaced as a whole.  Raises ``TableError`` when the folder
    cannot be written; without its ``published.json``, the last file, it counts for nothing.
    """
    filled = {
        name: frame.dropna(axis="columns", how="all")
        for name, frame in imported.items()
        if len(frame)
    }
    with writing(folder):
        if is_published(folder):
            for name in (PUBLISHED, *(f"{table}.csv" for table in TABLES)):
                (folder / name).unlink(missing_ok=True)
    files = tables.write(filled, folder)
    runs = imported["runs"]
    facts = {
        "title": title or " and ".join(runs["system_title"].dropna().unique()) + ", as published",
        "sources": sorted(runs["run"].str.rsplit(":", n=1).str[0].unique()),
    }
    about = folder / PUBLISHED
    with writing(folder):
        about.write_text(json.dumps(facts, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return [*files, about]


def _reader(file: Path) -> Callable[[Path, str], Report]:
    if not os.path.lexists(file):
        raise TableError(f"{file}: no such file")
    if file.suffix not in READERS:
        raise TableError(f"{file}: can import {' and '.join(READERS)}, not {file.suffix or 'this'}")
    return READERS[file.suffix]


def _labels(files: Sequence[Path]) -> dict[Path, str]:
    """A short name for each file that no other one has: reports are often all ``index.rst``."""
    real = [os.path.realpath(file) for file in files]
    for twice in {file for file in real if real.count(file) > 1}:
        raise TableError(f"{twice}: given twice; import it once")
    whole = [file.absolute() for file in files]
    depth = 1
    while len({path.parts[-depth:] for path in whole}) < len(whole):
        depth += 1
    return {file: "/".join(path.parts[-depth:]) for file, path in zip(files, whole, strict=True)}
