"""Imports published reports and runs of other tools, and writes them as published tables.

Every figure keeps its source: the file and, for reports, the line.  Missing figures stay empty,
contradictions of a report become doubts, and ambiguous input is an error.
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
    """Imported tables, and the latencies over time of runs that have them."""

    tables: Tables
    latencies: Mapping[str, Sequence[Interval]]


def import_paths(paths: Sequence[Path], about: measured.About) -> Imported:
    """Import reports, which are files, and runs of other tools, a folder or file for each run.

    ``about`` has what the files of runs do not say.  Raises ``TableError`` for anything else, and
    for ambiguous figures.
    """
    runs = {path: (importer_of(path), label) for path, label in _labels(paths).items()}
    measurements = [
        importer.read(path, label) for path, (importer, label) in runs.items() if importer
    ]
    sources = [measured.assembled(measurements, about)] if measurements else []
    if reports := [path for path, (importer, _) in runs.items() if importer is None]:
        sources.append(import_reports(reports))
    latencies = {
        measurement.source: measurement.histograms
        for measurement in measurements
        if measurement.histograms
    }
    names = dict.fromkeys(name for source in sources for name in source)
    return Imported({name: _joined(name, sources) for name in names}, latencies)


def import_reports(files: Sequence[Path]) -> Tables:
    """Return the tables ``runs``, ``messages``, ``latency``, ``cpu`` and ``doubts`` of reports.

    A run is one row of a report; its status is ``published``.  Raises ``TableError`` for a file
    that is not a report, and for ambiguous figures.
    """
    reports = [_reader(file)(file, label) for file, label in _labels(files).items()]
    if not any(report.cells for report in reports):
        names = ", ".join(str(file) for file in files) or "no file given"
        raise TableError(f"{names}: no figures of any point; give reports or their CSV files")
    return assemble.assembled(reports)


def importer_of(path: Path) -> Importer | None:
    """Return the importer of the run in a folder or file; None for a file without a run.

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
    """Write a folder of published tables: CSV without empty columns, and ``published.json``.

    ``latencies`` over time are written as histogram logs, one for each run.  Tables of an earlier
    import are replaced as a whole.  Raises ``TableError`` if the folder cannot be written.
    ``published.json`` is written last; without it, the folder is ignored.
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
    """Remove the files of an earlier import, if any."""
    if is_published(folder):
        logs = log_file(folder, "").parent.glob("*.hlog")
        for file in (folder / PUBLISHED, *(folder / f"{table}.csv" for table in TABLES), *logs):
            file.unlink(missing_ok=True)


def _log(folder: Path, run: str, intervals: Sequence[Interval]) -> Path:
    file = log_file(folder, run)
    file.parent.mkdir(exist_ok=True)
    write_log(file, 0.0, intervals, f"[Latencies of {run}, in nanoseconds]")
    return file


def _joined(name: str, sources: Sequence[Tables]) -> pd.DataFrame:
    """Concatenate a table of all sources, which have its columns already."""
    frames = [source[name] for source in sources if name in source and len(source[name])]
    return tables.conform(name, pd.concat(frames)) if frames else tables.empty(name)


def _reader(file: Path) -> Callable[[Path, str], Report]:
    if not os.path.lexists(file):
        raise TableError(f"{file}: no such file")
    if file.suffix not in READERS:
        raise TableError(f"{file}: can import {' and '.join(READERS)}, not {file.suffix or 'this'}")
    return READERS[file.suffix]


def _labels(files: Sequence[Path]) -> dict[Path, str]:
    """Return a short, unique name for each file, as reports are often all ``index.rst``."""
    real = [os.path.realpath(file) for file in files]
    for repeated in {file for file in real if real.count(file) > 1}:
        raise TableError(f"{repeated}: given twice; import it once")
    paths = [file.absolute() for file in files]
    depth = 1
    while len({path.parts[-depth:] for path in paths}) < len(paths):
        depth += 1
    return {file: "/".join(path.parts[-depth:]) for file, path in zip(files, paths, strict=True)}
