"""Run folders: their names, their states, and what ``run.json`` says of each."""

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
"""The copy of its plan in a folder of runs."""
FOLDER = re.compile(
    r"^(?P<case>.+-[0-9a-f]{8})(?:\.(?P<state>partial|failed|interrupted)(?:-\d+)?)?$"
)
RECORDED = ("load", "background", "probes", "broker")
"""The folders of a run in which every file is a recorded one."""


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

    def facts(self) -> Facts:
        """The content of ``run.json``; nothing but defaults when the attempt died before it.

        Raises ``RecordError`` for a file that is no sound one, and for a whole run without it.
        """
        content = self._content()
        try:
            return Facts.model_validate(content)
        except ValidationError as error:
            problem = raw.first_problem(error)
            raise RecordError(f"{self.path / FACTS}: {problem}") from None

    def case(self) -> Case | None:
        """The resolved case, or None when the attempt died before it was written down."""
        return self.facts().case

    def known_case(self) -> Case | None:
        """The same, and None as well where ``run.json`` cannot be read."""
        try:
            return self.case()
        except RecordError:
            return None

    def damaged(
        self, facts: Facts | None = None, *, read_bytes: int = raw.MESSAGES_LIMIT_BYTES
    ) -> list[str]:
        """Names of files that are not what was recorded: missing, changed, or never recorded.

        ``run.json`` is among them when it was changed after it was sealed.  ``facts`` are those of
        this run, when they are known already.  Of files with more than ``read_bytes`` only the
        presence is asked.
        """
        digests = (self.facts() if facts is None else facts).files
        changed = [
            name for name, recorded in digests.items() if not self._is(name, recorded, read_bytes)
        ]
        added = (
            [name for name in self.files() if name not in digests] if self.status == "done" else []
        )
        return [*sorted([*changed, *added]), *([] if self._is_sealed_well() else [FACTS])]

    def files(self) -> list[str]:
        """Names of all files in the folders of recorded ones, and of no others.

        Raises ``RecordError`` for what is no file: a link, a named pipe.
        """
        names: list[str] = []
        for folder in RECORDED:
            names += _below(self.path / folder, f"{folder}/")
        return sorted(names)

    def _is(self, name: str, recorded: str, read_bytes: int) -> bool:
        file = self.path / name
        try:
            file_stat = file.lstat()
            if stat.S_ISREG(file_stat.st_mode) and read_bytes < file_stat.st_size:
                return file_stat.st_size <= raw.MESSAGES_LIMIT_BYTES
            return sha256(file, limit_bytes=raw.MESSAGES_LIMIT_BYTES) == recorded
        except (OSError, RecordError):
            return False

    def _is_sealed_well(self) -> bool:
        """Whether ``run.json`` has the checksum that it says it has; one without is not sealed."""
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
    """Every attempt in a runs folder, in the order of names.

    What has the name of a run and is no folder is one as well: one that cannot be read.
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
    """The cases which have no whole run yet, in their order."""
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
