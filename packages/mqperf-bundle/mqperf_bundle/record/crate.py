"""The metadata of a bundle: RO-Crate 1.1, JSON-LD in ``ro-crate-metadata.json``.

The specification: https://www.researchobject.org/ro-crate/specification/1.1/
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from mqperf_bundle.record.layout import CRATE, PAGES, PLAN, RUNS, TABLES, VERSIONS

SPECIFICATION = "https://w3id.org/ro/crate/1.1"
MQPERF = "#mqperf"
FORMATS = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".json": "application/json",
    ".yaml": "application/yaml",
}

Entity = dict[str, Any]


@dataclass(frozen=True, slots=True)
class About:
    """General metadata; ``published`` is in ISO 8601, ``licence`` a URL or a text."""

    title: str
    published: str
    licence: str
    version: str


def write_crate(folder: Path, about: About, runs: Iterable[str], tables: Mapping[str, str]) -> None:
    """Write the metadata of the bundle in a folder; ``tables`` maps each to what a row is."""
    files = {
        PLAN: "The plan: what was measured.",
        PAGES: "The report: figures, tables and doubts, in one page.",
        VERSIONS: "The versions that made tables and report.",
        **{f"{TABLES}/{name}.csv": f"One row is {row}." for name, row in tables.items()},
    }
    run_folders = [
        {"@id": f"{RUNS}/{quote(run)}/", "@type": "Dataset", "name": run} for run in runs
    ]
    parts = [_file(folder, name, description) for name, description in files.items()]
    of_runs: Entity = {"@id": f"{RUNS}/", "@type": "Dataset", "name": "Runs, as recorded"}
    of_runs["hasPart"] = _references(run_folders)
    root: Entity = {
        "@id": "./",
        "@type": "Dataset",
        "name": about.title,
        "description": "Runs of a message-queue performance test, with their plan, tables and"
        " report. `mqperf verify` checks them.",
        "datePublished": about.published,
        "license": {"@id": about.licence} if "://" in about.licence else about.licence,
        "hasPart": _references([of_runs, *parts]),
        "mentions": {"@id": "#measurement"},
    }
    measurement: Entity = {
        "@id": "#measurement",
        "@type": "CreateAction",
        "name": "Measurement, and what was computed of it",
        "instrument": {"@id": MQPERF},
        "object": {"@id": PLAN},
        "result": _references([of_runs, *parts[1:]]),
    }
    descriptor: Entity = {
        "@id": CRATE,
        "@type": "CreativeWork",
        "conformsTo": {"@id": SPECIFICATION},
        "about": {"@id": "./"},
    }
    program = {
        "@id": MQPERF,
        "@type": "SoftwareApplication",
        "name": "mqperf",
        "version": about.version,
    }
    graph = [descriptor, root, of_runs, *run_folders, *parts, measurement, program]
    if "://" in about.licence:
        graph.append({"@id": about.licence, "@type": "CreativeWork", "name": about.licence})
    crate = {"@context": f"{SPECIFICATION}/context", "@graph": graph}
    (folder / CRATE).write_text(f"{json.dumps(crate, indent=1)}\n", encoding="utf-8")


def _file(folder: Path, name: str, description: str) -> Entity:
    return {
        "@id": quote(name),
        "@type": "File",
        "name": Path(name).name,
        "description": description,
        "contentSize": str((folder / name).stat().st_size),
        "encodingFormat": FORMATS[Path(name).suffix],
    }


def _references(entities: Iterable[Entity]) -> list[Entity]:
    return [{"@id": entity["@id"]} for entity in entities]
