"""Copies of runs for a bundle: undamaged, and without secrets."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from mqperf.base import raw
from mqperf.base.errors import RecordError
from mqperf.base.packages import BESIDE_RUNS
from mqperf.record import PLAN, Run, runs
from mqperf_bundle.base.secrets import line_with_secret


def copy_runs(folder: Path, copy: Path) -> list[Run]:
    """Copy the input of tables: the plan, whole and failed runs, and files of probes beside them.

    Returns the runs in the copy.  Raises ``RecordError`` for a damaged run, for a folder without
    runs or plan, and for a file that seems to hold a secret.
    """
    attempts = [run for run in runs(folder) if run.status in {"done", "failed"}]
    if not attempts or not (folder / PLAN).is_file():
        raise RecordError(f"{folder}: a bundle needs a plan and its runs: mqperf run PLAN")
    for run in attempts:
        if damaged := run.damaged():
            raise RecordError(
                f"{run.path / damaged[0]}: is not what was recorded, and no bundle can vouch for"
                " it: restore it from a copy, or remove this run folder"
            )
    beside = (folder / name for name in BESIDE_RUNS)
    paths = (folder / PLAN, *(run.path for run in attempts), *(p for p in beside if p.exists()))
    for file in (file for path in paths for file in _files(path)):
        if (line := line_with_secret(file)) is not None:
            raise RecordError(
                f"{file}:{line}: seems to hold a secret, so nothing was written: if it is one,"
                " change it where it is used, and measure again"
            )
        target = copy / file.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        with raw.opened(file, raw.MESSAGES_LIMIT_BYTES) as content, target.open("xb") as written:
            shutil.copyfileobj(content, written)
    return list(runs(copy))


def _files(path: Path) -> Iterator[Path]:
    """Yield all files below a folder in the order of names, or the path itself if it is a file."""
    if path.is_symlink() or not path.is_dir():
        yield path
        return
    for entry in sorted(path.iterdir()):
        yield from _files(entry)
