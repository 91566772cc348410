"""Creation of a bundle: copy the runs, make tables and pages of the copies, list and pack all."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from mqperf.base import processes
from mqperf.base.errors import RecordError
from mqperf.base.one_line import amount
from mqperf.pages.report.build import publish_file
from mqperf.plan.columns import TABLES as REGISTER
from mqperf.record import Run, runs
from mqperf.study import tables
from mqperf.study.stats.seconds import write_complete
from mqperf_bundle.base import archive, signature
from mqperf_bundle.front.versions import versions
from mqperf_bundle.record import layout
from mqperf_bundle.record.anonymous import Rename, rename_hosts, renaming
from mqperf_bundle.record.copied import copy_runs
from mqperf_bundle.record.crate import About, write_crate
from mqperf_bundle.study.differences import compared

NO_LICENCE = "No licence is stated: ask those who published this what you may do with it."


def bundle(
    folder: Path, out: Path, *, key: Path | None = None, anonymous: bool = False, licence: str = ""
) -> Iterator[str]:
    """Write the bundle of a folder of runs into the file ``out``; yield a line for each step.

    It is signed by ``key``, if given.  With ``anonymous`` hosts are renamed.  Raises
    ``RecordError`` if a run is damaged, a file seems to hold a secret, or ``out`` exists already.
    """
    if out.exists():
        raise RecordError(f"{out}: already exists; give another name")
    out.parent.mkdir(parents=True, exist_ok=True)
    with processes.scratch_beside(out) as scratch:
        stage = scratch / "bundle"
        copies = copy_runs(folder, stage / layout.RUNS)
        yield f"{amount(len(copies), 'run')}, in which no secret was found"
        yield from _hosts(scratch, stage / layout.RUNS, copies, anonymous=anonymous)
        _fill(stage, list(runs(stage / layout.RUNS)), licence or NO_LICENCE)
        names = layout.write_manifest(stage)
        if key is not None:
            signature.sign(stage / layout.MANIFEST, key)
            names.insert(1, layout.SIGNATURE)
        packed = scratch / "packed"
        archive.pack(stage, names, packed)
        packed.rename(out)
    yield f"{amount(len(names), 'file')}, {'signed' if key else 'not signed'}: {out}"


def _hosts(scratch: Path, folder: Path, copies: Sequence[Run], *, anonymous: bool) -> Iterator[str]:
    """List the hosts named in files, or rename them and check that no result changes."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    names, rename = renaming(copies, files)
    if not names:
        yield "hosts: no names"
    elif not anonymous:
        yield f"hosts named: {', '.join(names)}; --anonymous renames them"
    else:
        write_complete(folder, scratch / "before", "csv")
        rename_hosts(folder, copies, rename)
        _check_unchanged(scratch, folder, rename)
        yield f"hosts renamed: {', '.join(names)}"


def _check_unchanged(scratch: Path, folder: Path, rename: Rename) -> None:
    """Raise ``RecordError`` if the tables of renamed runs differ from the renamed tables."""
    write_complete(folder, scratch / "after", "csv")
    for file in (scratch / "before").iterdir():
        file.write_text(rename(file.read_text(encoding="utf-8")), encoding="utf-8")
    if changed := compared(scratch / "before", scratch / "after").everything:
        raise RecordError(
            f"hosts cannot be renamed without changing results ({changed[0]}): one has the name of"
            " something else; bundle without --anonymous"
        )


def _fill(stage: Path, attempts: Sequence[Run], licence: str) -> None:
    """Write tables, report, versions and description of the bundled runs."""
    folder, used = stage / layout.RUNS, versions()
    write_complete(folder, stage / layout.TABLES, "csv")
    publish_file(folder, stage / layout.PAGES)
    text = json.dumps(used, indent=1)
    (stage / layout.VERSIONS).write_text(f"{text}\n", encoding="utf-8")
    stopped = [when for run in attempts if (when := run.facts().stopped) is not None]
    published = max(stopped, default="1970-01-01")
    made = sorted((stage / layout.TABLES).iterdir())
    write_crate(
        stage,
        About(tables.title(folder), published, licence, used["mqperf"]),
        [run.id for run in attempts],
        {file.stem: REGISTER[file.stem].row for file in made},
    )
