"""Run folders: their names, their states, and the facts in ``run.json``."""

import json
import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import ValidationError

from mqperf.base import raw
from mqperf.base.errors import RecordError
from mqperf.plan import Case
from mqperf.record.facts import READABLE, SCHEMA, Facts, finite
from mqperf.record.seal import SEAL, digest, sha256

Status = Literal["done", "failed", "interrupted", "partial"]
FACTS = "run.json"
PLAN = "plan.yaml"
"""The copy of the plan in a runs folder."""
FOLDER = re.compile(
    r"^(?P<case>.+-[0-9a-f]{8})(?:\.(?P<state>partial|failed|interrupted)(?:-\d+)?)?$"
)
RECORDED = ("load", "background", "probes", "broker")
"""The subfolders of a run in which every file must be recorded in ``run.json``."""


@dataclass(frozen=True, slots=True)
class Run:
    """One attempt at a case, as a folder on disk."""

    path: Path
    case_id: str
    status: Status

    @property
    def id(self) -> str:
        """Name of the folder; unique within the runs folder."""
        return self.path.name

    def facts(self) -> Facts:
        """Return the content of ``run.json``; defaults when the attempt died before it.

        Raises ``RecordError`` for an invalid file, and for a whole run without it.
        """
        content = self._content()
        try:
            return Facts.model_validate(content)
        except ValidationError as error:
            problem = raw.first_problem(error)
            raise RecordError(f"{self.path / FACTS}: {problem}") from None

    def case(self) -> Case | None:
        """Return the resolved case; None when the attempt died before it was recorded."""
        return self.facts().case

    def known_case(self) -> Case | None:
        """Return the case; None also where ``run.json`` cannot be read."""
        try:
            return self.case()
        except RecordError:
            return None

    def damaged(
        self, facts: Facts | None = None, *, read_bytes: int = raw.MESSAGES_LIMIT_BYTES
    ) -> list[str]:
        """Return the names of damaged files: missing, changed, or never recorded.

        ``run.json`` is among them when it was changed after it was sealed.  ``facts`` are those of
        this run, if known already.  Files with more than ``read_bytes`` are only checked for
        presence.
        """
        digests = (self.facts() if facts is None else facts).files
        changed = [
            name for name, known in digests.items() if not self._matches(name, known, read_bytes)
        ]
        added = (
            [name for name in self.files() if name not in digests] if self.status == "done" else []
        )
        return [*sorted([*changed, *added]), *([] if self._has_valid_seal() else [FACTS])]

    def files(self) -> list[str]:
        """Return the names of all files in the subfolders that ``RECORDED`` lists.

        Raises ``RecordError`` for links, named pipes and devices.
        """
        names: list[str] = []
        for folder in RECORDED:
            names += _below(self.path / folder, f"{folder}/")
        return sorted(names)

    def _matches(self, name: str, checksum: str, read_bytes: int) -> bool:
        file = self.path / name
        try:
            file_stat = file.lstat()
            if stat.S_ISREG(file_stat.st_mode) and read_bytes < file_stat.st_size:
                return file_stat.st_size <= raw.MESSAGES_LIMIT_BYTES
            return sha256(file, limit_bytes=raw.MESSAGES_LIMIT_BYTES) == checksum
        except (OSError, RecordError):
            return False

    def _has_valid_seal(self) -> bool:
        """Whether ``run.json`` matches its own checksum; True for one that is not sealed."""
        content = self._content()
        return SEAL not in content or content[SEAL] == digest(content)

    def _content(self) -> dict[str, Any]:
        file = self.path / FACTS
        try:
            text = raw.content(file, raw.FACTS_LIMIT_BYTES)
            content = json.loads(text, parse_constant=finite)
        except FileNotFoundError:
            if self.status == "done":
                raise RecordError(f"{file}: is missing") from None
            return {}
        except OSError as error:
            raise RecordError(f"{file}: cannot be read: {error.strerror}") from None
        except (ValueError, RecursionError) as error:
            raise RecordError(f"{file}: not a sound run.json: {error}") from None
        if not isinstance(content, dict):
            raise RecordError(f"{file}: not a sound run.json: no object")
        if content.get("schema") not in READABLE:
            raise RecordError(
                f"{file}: schema {content.get('schema')!r}, this mqperf reads up to {SCHEMA};"
                " read it with the mqperf that wrote it"
            )
        return content


def runs(folder: Path) -> Iterator[Run]:
    """Yield every attempt in a runs folder, sorted by name.

    A file with the name of a run is included: it is a run that cannot be read.
    """
    try:
        names = sorted(entry.name for entry in os.scandir(folder))
    except OSError as error:
        raise RecordError(f"{folder}: cannot read the runs folder: {error.strerror}") from None
    for name in names:
        match = FOLDER.match(name)
        if match:
            status = cast("Status", match["state"] or "done")
            yield Run(folder / name, match["case"], status)


def pending(folder: Path, cases: Iterable[Case]) -> list[Case]:
    """Return the cases which have no whole run yet, in their order."""
    done = {run.case_id for run in runs(folder) if run.status == "done"} if folder.exists() else ()
    return [case for case in cases if case.id not in done]


def _below(folder: Path, prefix: str) -> Iterator[str]:
    try:
        entries = list(os.scandir(folder))
    except FileNotFoundError:
        return
    except OSError as error:
        raise RecordError(f"{folder}: cannot be read: {error.strerror}") from None
    for entry in entries:
        mode = entry.stat(follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode):
            yield from _below(folder / entry.name, f"{prefix}{entry.name}/")
        elif stat.S_ISREG(mode):
            yield prefix + entry.name
        else:
            raise RecordError(
                f"{folder / entry.name}: {raw.kind(mode)}, where a recorded file should be"
            )
