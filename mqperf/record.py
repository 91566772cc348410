"""The record: run folders on disk, the only thing that measuring and reading share.

A runs folder holds ``plan.yaml`` and one folder per attempt at a case.  The name of a folder is its
state: ``<case-id>`` is whole, ``<case-id>.partial`` is being written, ``<case-id>.failed-N`` is an
attempt that failed, ``<case-id>.interrupted-N`` one that was cut off, both kept as evidence.
Finishing is one rename, so a run is either whole or not there, whenever the power goes.
"""

import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, cast

from filelock import FileLock, Timeout
from pydantic import ValidationError

from mqperf.errors import RecordError
from mqperf.plan import Case
from mqperf.plan_file import public
from mqperf.redaction import scrubbed, without_passwords

SCHEMA = 1
"""Version of the run folder.  1: first."""

Status = Literal["done", "failed", "interrupted", "partial"]
FOLDER = re.compile(
    r"^(?P<case>.+-[0-9a-f]{8})(?:\.(?P<state>partial|failed|interrupted)(?:-\d+)?)?$"
)


@dataclass(frozen=True, slots=True)
class Run:
    """One attempt at a case, as it lies on disk."""

    path: Path
    case_id: str
    status: Status

    @property
    def id(self) -> str:
        """Name of the folder; unique within the runs folder."""
        return self.path.name

    def facts(self) -> dict[str, Any]:
        """The content of ``run.json``; empty when the attempt died before writing one."""
        file = self.path / "run.json"
        try:
            facts: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise RecordError(f"{file}: not a sound run.json ({error}); remove this run") from None
        if facts.get("schema") != SCHEMA:
            raise RecordError(
                f"{file}: schema {facts.get('schema')!r}, this mqperf reads {SCHEMA};"
                " read it with the mqperf that wrote it"
            )
        return facts

    def case(self) -> Case | None:
        """The resolved case, or None when the attempt died before it was written down."""
        data = self.facts().get("case")
        try:
            return None if data is None else Case.model_validate(data)
        except ValidationError as error:
            problem = error.errors()[0]
            raise RecordError(
                f"{self.path / 'run.json'}: case.{problem['loc'][0]}: {problem['msg'].lower()}"
            ) from None

    def damaged(self) -> list[str]:
        """Names of recorded files that are missing, or whose sha256 is no longer the recorded."""
        files: dict[str, str] = self.facts().get("files", {})
        return [
            name
            for name, digest in files.items()
            if not (self.path / name).is_file() or _sha256(self.path / name) != digest
        ]


class Attempt:
    """An attempt being recorded, in its ``.partial`` folder."""

    def __init__(self, folder: Path, case: Case, facts: Mapping[str, Any] | None = None) -> None:
        """Make the folder and write down what is going to be measured, and on what."""
        self.case = case
        self.folder = folder / f"{case.id}.partial"
        self.facts: dict[str, Any] = {
            "schema": SCHEMA,
            "case": case.model_dump(mode="json"),
            **(facts or {}),
        }
        try:
            with disk_errors(self.folder):
                for name in ("load", "probes", "broker"):
                    (self.folder / name).mkdir(parents=True)
                self._write_facts()
        except RecordError:
            self.discard()
            raise

    def event(self, what: str, host: str = "local", **detail: object) -> None:
        """Append a line to ``events.jsonl``: now, where, what."""
        now = time.time()
        line = {"time": utc(now), "epoch": now, "host": host, "what": what, **detail}
        with disk_errors(self.folder), (self.folder / "events.jsonl").open("a") as file:
            file.write(json.dumps(scrubbed(line)) + "\n")

    def finish(self) -> Run:
        """Seal the run: checksums, everything on disk, then the one rename that makes it whole."""
        target = self.folder.with_name(self.case.id)
        with disk_errors(self.folder):
            self._seal()
            self.folder.rename(target)
            _sync(target.parent)
        return Run(target, self.case.id, "done")

    def fail(self, reason: str) -> Run:
        """Keep the attempt as evidence, with the reason of its failure."""
        self.facts["failure"] = without_passwords(reason)
        with disk_errors(self.folder):
            self._seal()
        return set_aside(self.folder, "failed")

    def interrupt(self) -> Run:
        """Keep what there is of an attempt that was cut off; the next command tries it again."""
        return set_aside(self.folder, "interrupted")

    def discard(self) -> None:
        """Remove an attempt at which nothing was measured yet."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _seal(self) -> None:
        files = sorted(p for p in self.folder.rglob("*") if p.is_file() and p.name != "run.json")
        self.facts["files"] = {
            str(path.relative_to(self.folder)): _sha256(path, sync=True) for path in files
        }
        self._write_facts()

    def _write_facts(self) -> None:
        file = self.folder / "run.json"
        draft = file.with_suffix(".draft")
        text = json.dumps(scrubbed(self.facts), indent=1, sort_keys=True)
        draft.write_text(text + "\n", encoding="utf-8")
        _sync(draft)
        draft.replace(file)


@contextmanager
def recording(folder: Path, plan_text: str) -> Iterator[None]:
    """Hold the runs folder for writing: one mqperf at a time, earlier attempts set aside.

    Raises ``RecordError`` when another mqperf holds it, or it cannot be written.
    """
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / ".lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise RecordError(
                f"{folder}: another mqperf is measuring into this folder; wait for it to end,"
                " or choose another with --runs"
            ) from None
    try:
        with disk_errors(folder):
            (folder / "plan.yaml").write_text(public(plan_text), encoding="utf-8")
        for run in list(runs(folder)):
            if run.status == "partial":
                set_aside(run.path, "interrupted")
        yield
    finally:
        lock.release()


def runs(folder: Path) -> Iterator[Run]:
    """Every attempt in a runs folder, in the order of names."""
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())
    except OSError as error:
        raise RecordError(f"{folder}: cannot read the runs folder: {error.strerror}") from None
    for name in names:
        match = FOLDER.match(name)
        if match:
            status = cast("Status", match["state"] or "done")
            yield Run(folder / name, match["case"], status)


def pending(folder: Path, cases: Iterable[Case]) -> list[Case]:
    """The cases which have no whole run yet, in their order."""
    done = {run.case_id for run in runs(folder) if run.status == "done"} if folder.exists() else ()
    return [case for case in cases if case.id not in done]


def set_aside(folder: Path, status: Literal["failed", "interrupted"]) -> Run:
    """Rename a ``.partial`` folder to the next free ``.failed-N`` or ``.interrupted-N``."""
    case_id = folder.name.removesuffix(".partial")
    number = 1
    while (target := folder.with_name(f"{case_id}.{status}-{number}")).exists():
        number += 1
    with disk_errors(folder):
        folder.rename(target)
    return Run(target, case_id, status)


def utc(epoch: float) -> str:
    """An instant as ISO 8601 in UTC with milliseconds."""
    return datetime.fromtimestamp(epoch, UTC).isoformat(timespec="milliseconds")


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn the system's refusal (disk full, not writable) into one sentence about ``path``."""
    try:
        yield
    except OSError as error:
        raise RecordError(
            f"{error.filename or path}: cannot write the record: {error.strerror};"
            " free space or rights there, or choose another folder with --runs"
        ) from None


def _sha256(path: Path, *, sync: bool = False) -> str:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        if sync:
            os.fsync(file.fileno())
    return digest


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
