"""Writing the record: an attempt in its folder, and the lock on the runs folder."""

import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock, Timeout

from mqperf.base import raw
from mqperf.base.errors import RecordError
from mqperf.base.one_line import one_line
from mqperf.base.redaction import scrubbed, without_passwords
from mqperf.onhost.errors import refusals
from mqperf.plan import Case
from mqperf.plan.file import public
from mqperf.record.facts import SCHEMA
from mqperf.record.folder import FACTS, PLAN, Run, runs
from mqperf.record.instants import utc
from mqperf.record.seal import SEAL, checksums, digest

LOCK = ".lock"
LOCK_BYTES = 1000
LOOK_S = 0.2
"""Timeout of the lock: longer than ``holder`` takes it to test whether a folder is held."""


class Attempt:
    """An attempt being recorded, in its ``.partial`` folder."""

    def __init__(
        self,
        folder: Path,
        case: Case,
        facts: Mapping[str, Any] | None = None,
        host: str = "local",
    ) -> None:
        """Create the folder, and record the case and the facts known so far.

        ``host`` is the one whose clock gives the instants of events.
        """
        self.case = case
        self.host = host
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

    def event(self, what: str, **detail: object) -> None:
        """Append an event to ``events.jsonl``, with the time and the host of its clock."""
        now = time.time()
        line = {"time": utc(now), "epoch": now, "host": self.host, "what": what, **detail}
        with disk_errors(self.folder), (self.folder / "events.jsonl").open("a") as file:
            file.write(json.dumps(scrubbed(line)) + "\n")

    def keep(self, name: str, content: bytes) -> None:
        """Store the output of an action, without passwords, in ``actions/``."""
        file = self.folder / "actions" / name
        with disk_errors(self.folder):
            file.parent.mkdir(exist_ok=True)
            text = content.decode(errors="replace")
            file.write_text(without_passwords(text), encoding="utf-8")

    def finish(self) -> Run:
        """Seal the run: checksums, flush to disk, then the one rename that makes it whole."""
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
        """Keep an attempt that was cut off as it is; the next command repeats it."""
        return set_aside(self.folder, "interrupted")

    def discard(self) -> None:
        """Remove an attempt in which nothing was measured yet."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _seal(self) -> None:
        self.facts["files"] = checksums(self.folder, sync=True)
        self._write_facts(sealed=True)

    def _write_facts(self, *, sealed: bool = False) -> None:
        file = self.folder / FACTS
        draft = file.with_suffix(".draft")
        content = json.loads(json.dumps(scrubbed(self.facts)))
        if sealed:
            content[SEAL] = digest(content)
        text = json.dumps(content, indent=1, sort_keys=True)
        draft.write_text(text + "\n", encoding="utf-8")
        _sync(draft)
        draft.replace(file)


@contextmanager
def recording(folder: Path, plan_text: str) -> Iterator[None]:
    """Lock the runs folder, write the plan's copy, and set aside earlier unfinished attempts.

    Raises ``RecordError`` when another mqperf holds the lock, or the folder cannot be written.
    """
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK)
        try:
            lock.acquire(timeout=LOOK_S)
        except Timeout:
            raise RecordError(
                f"{folder}: another mqperf is measuring into this folder ({holder(folder)}); wait"
                " for it to end, or choose another with --runs"
            ) from None
    try:
        with disk_errors(folder):
            (folder / LOCK).write_text(f"process {os.getpid()}, since {utc(time.time())}")
            (folder / PLAN).write_text(public(plan_text), encoding="utf-8")
        for run in list(runs(folder)):
            if run.status == "partial":
                set_aside(run.path, "interrupted")
        yield
    finally:
        lock.release()


def holder(folder: Path) -> str:
    """Return which process measures into a runs folder, and since when; empty when none does.

    The lock is the kernel's, so that nothing remains of it after a kill or a restart.
    """
    with suppress(RecordError, OSError), raw.opened(folder / LOCK, LOCK_BYTES) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return one_line(file.read().decode(errors="replace")) or "process unknown"
    return ""


def set_aside(folder: Path, status: Literal["failed", "interrupted"]) -> Run:
    """Rename a ``.partial`` folder to the next free ``.failed-N`` or ``.interrupted-N``."""
    case_id = folder.name.removesuffix(".partial")
    number = 1
    while (target := folder.with_name(f"{case_id}.{status}-{number}")).exists():
        number += 1
    with disk_errors(folder):
        folder.rename(target)
    return Run(target, case_id, status)


def disk_errors(path: Path) -> AbstractContextManager[None]:
    """Turn an ``OSError`` (disk full, not writable) into one sentence about ``path``."""
    advice = "free space or rights there, or choose another folder with --runs"
    return refusals(RecordError, path, "cannot write the record: ", advice)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
