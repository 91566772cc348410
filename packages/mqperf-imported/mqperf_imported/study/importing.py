"""Results of others as data: published reports, and runs of other tools, in, tables out.

Every figure keeps the file, and in reports the line, that it comes from.  What is left open there
is left empty, a report's contradictions become doubts, and what cannot be read for certain is an
error.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from mqperf.base.errors import TableError
from mqperf.plan.columns import TABLES
from mqperf.record.streams.hdr_log import Interval, write_log
from mqperf.study import tables
from mqperf.study.importer import IMPORTERS, Importer
from mqperf.study.tables import Tables
from mqperf.study.tables.given import writing
from mqperf.study.tables.latency_map import log_file
from mqperf.study.tables.published_folder import PUBLISHED, is_published
from mqperf_imported.study import assemble, measured, reference_csv, rst
from mqperf_imported.study.cells import Report

READERS: Mapping[str, Callable[[Path, str], Report]] = {
    ".rst": rst.read,
    ".csv": reference_csv.read,
}


@dataclass(frozen=True, slots=True)
class Imported:
    """What was read: tables, and by run the latencies over time, where they are told."""

    tables: Tables
    latencies: Mapping[str, Sequence[Interval]]


def import_paths(paths: Sequence[Path], about: measured.About) -> Imported:
    """Reports by their files, and runs of other tools, by folder mostly, one run in each.

    ``about`` says of the latter what their files do not.  Raises ``TableError`` for what is
    neither, and whenever it cannot be told which figure is which.
    """
    runs = {path: (importer_of(path), label) for path, label in _labels(paths).items()}
    measurements = [
        importer.read(path, label) for path, (importer, label) in runs.items() if importer
    ]
    read = [measured.assembled(measurements, about)] if measurements else []
    if reports := [path for path, (importer, _) in runs.items() if importer is None]:
        read.append(import_reports(reports))
    latencies = {
        measurement.source: measurement.histograms
        for measurement in measurements
        if measurement.histograms
    }
    names = dict.fromkeys(name for source in read for name in source)
    return Imported({name: _joined(name, read) for name in names}, latencies)


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


def importer_of(path: Path) -> Importer | None:
    """The importer of the run that a folder or file holds; None for a file that holds none.

    Raises ``TableError`` for a folder that no importer knows.
    """
    importer = next((candidate for candidate in IMPORTERS.values() if candidate.holds(path)), None)
    if importer is None and path.is_dir():
        titles = [f"{candidate.title} ({candidate.known_by})" for candidate in IMPORTERS.values()]
        raise TableError(
            f"{path}: holds no run of {' nor of '.join(titles)}; give the folder of one run"
        )
    return importer


def write(
    imported: Tables,
    folder: Path,
    title: str = "",
    latencies: Mapping[str, Sequence[Interval]] | None = None,
) -> list[Path]:
    """A folder of published tables: CSV without the empty columns, and ``published.json``.

    ``latencies`` are those over time by run: histogram logs beside the tables.  Tables
    of an earlier import are replaced as a whole.  Raises ``TableError`` when the folder cannot be
    written; without its ``published.json``, the last file, it counts for nothing.
    """
    filled = {
        name: frame.dropna(axis="columns", how="all")
        for name, frame in imported.items()
        if len(frame)
    }
    with writing(folder):
        _clear(folder)
    files = tables.write(filled, folder)
    runs = imported["runs"]
    titles = runs["system_title"].fillna(runs["system"]).unique()
    facts = {
        "title": title or " and ".join(titles) + ", as published",
        "sources": sorted(runs["run"].str.rsplit(":", n=1).str[0].unique()),
    }
    about = folder / PUBLISHED
    with writing(folder):
        files += [_log(folder, run, intervals) for run, intervals in (latencies or {}).items()]
        about.write_text(json.dumps(facts, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return [*files, about]


def _clear(folder: Path) -> None:
    """Remove what an earlier import wrote there, if any."""
    if is_published(folder):
        logs = log_file(folder, "").parent.glob("*.hlog")
        for file in (folder / PUBLISHED, *(folder / f"{table}.csv" for table in TABLES), *logs):
            file.unlink(missing_ok=True)


def _log(folder: Path, run: str, intervals: Sequence[Interval]) -> Path:
    file = log_file(folder, run)
    file.parent.mkdir(exist_ok=True)
    write_log(file, 0.0, intervals, f"[Latencies of {run}, in nanoseconds]")
    return file


def _joined(name: str, read: Sequence[Tables]) -> pd.DataFrame:
    """The table of all these; each has the columns of the register already."""
    parts = [source[name] for source in read if name in source and len(source[name])]
    return tables.conform(name, pd.concat(parts)) if parts else tables.empty(name)


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
