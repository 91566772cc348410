"""Files that a plan refers to: read once, and identified by a digest.

A key of a load or of an action that ends in ``_file`` names a file, one that ends in ``_files``
several, in the plan's folder or in a git repository.  The rest of mqperf sees, records and copies
only its pin, ``body.json (2048 bytes, sha256 0123456789abcdef)``: so a changed content makes
another case, and records contain no paths of this machine.
"""

import copy
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from typing_extensions import override

from mqperf.base.document import as_list, as_mapping
from mqperf.base.problems import Problem, Where
from mqperf.plan.file.reading import UnreadableError, first_bytes
from mqperf.plan.file.repositories import Repositories, is_source, repositories

ENDS = ("_file", "_files")
"""Suffixes of keys whose value is a file name, or a list of file names."""

MOST_BYTES = 10_000_000
"""Most bytes of a file: brokers refuse much larger messages, and scripts are smaller."""

DIGITS = 16
"""Hexadecimal digits of the SHA-256 in a pin."""

_PIN = re.compile(rf"(?P<name>.+) \((?P<size>\d+) bytes, sha256 (?P<digest>[0-9a-f]{{{DIGITS}}})\)")


@dataclass(frozen=True, slots=True)
class Pin:
    """A file as it was when the plan was read."""

    name: str
    size: int
    digest: str

    @override
    def __str__(self) -> str:
        """The form of the pin in cases."""
        return f"{self.name} ({self.size} bytes, sha256 {self.digest})"


@dataclass(slots=True)
class Attached:
    """The files of a plan: contents by pin, pins by path in the document, and problems."""

    contents: dict[str, bytes] = field(default_factory=dict)
    pins: dict[Where, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def pin_of(text: str) -> Pin | None:
    """Parse a pin; None if the text is only a name."""
    if (match := _PIN.fullmatch(text)) is None:
        return None
    return Pin(match["name"], int(match["size"]), match["digest"])


def name_of(text: str) -> str:
    """Return the file name in a value of the plan, pinned or not."""
    pin = pin_of(text)
    return pin.name if pin else text


def attached(data: object, folder: Path) -> Attached:
    """Read every file that loads and actions name, relative to the plan's folder."""
    files = Attached()
    with repositories() as fetched:
        for where, text in _file_values(data):
            try:
                pin, content = _read(text, folder, fetched)
            except UnreadableError as error:
                files.problems.append(Problem(where, f"the file cannot be used: {error}"))
                continue
            files.contents[str(pin)] = content
            files.pins[where] = str(pin)
    return files


def pinned(data: Any, pins: Mapping[Where, str]) -> Any:  # noqa: ANN401 (data of YAML)
    """Return a copy of the data in which pins replace the file names."""
    data = copy.deepcopy(data)
    for where, pin in pins.items():
        parent = data
        for step in where[:-1]:
            parent = parent[step]
        parent[where[-1]] = pin
    return data


def _read(text: str, folder: Path, fetched: Repositories) -> tuple[Pin, bytes]:
    """Read the file; one that is already pinned must not have changed."""
    expected, name = pin_of(text), name_of(text)
    if PurePosixPath(name).is_absolute():
        raise UnreadableError("it is an absolute path: give it from the plan's folder on")
    path = fetched.place(name) if is_source(name) else _below(folder, name)
    content = first_bytes(path, MOST_BYTES + 1)
    if not content:
        raise UnreadableError("it is empty")
    if len(content) > MOST_BYTES:
        raise UnreadableError(
            f"it has more than {MOST_BYTES:,} bytes, which no message and no script should"
        )
    pin = Pin(name, len(content), hashlib.sha256(content).hexdigest()[:DIGITS])
    if expected not in {None, pin}:
        raise UnreadableError("it has changed since the plan was copied")
    return pin, content


def _below(folder: Path, name: str) -> Path:
    """Resolve the name and all links; the result must be in the folder."""
    try:
        path = (folder / name).resolve()
    except (OSError, RuntimeError, ValueError):  # a loop of links, or an invalid name
        raise UnreadableError("its name leads nowhere") from None
    if not path.is_relative_to(folder.resolve()):
        raise UnreadableError("it is outside the plan's folder: put a copy of it there")
    return path


def _file_values(data: object) -> Iterator[tuple[Where, str]]:
    """Yield the path and value of every key of a load or action that names a file."""
    for where, spec in _loads_and_actions(data):
        for key, value in spec.items():
            if not key.endswith(ENDS):
                continue
            if isinstance(value, str):
                yield (*where, key), value
            elif isinstance(value, list):
                yield from (
                    ((*where, key, index), text)
                    for index, text in enumerate(value)
                    if isinstance(text, str)
                )


def _loads_and_actions(data: object) -> Iterator[tuple[Where, Mapping[str, object]]]:
    """Yield the measured load, all background loads and all actions, under every condition."""
    if not isinstance(data, Mapping):
        return
    if isinstance(load := data.get("load"), Mapping):
        yield ("load",), load
        for name, alone in as_mapping(load.get("generator")).items():
            yield ("load", "generator", name), as_mapping(alone)
    yield from _background_and_actions(data, ())
    for name, condition in as_mapping(data.get("conditions")).items():
        yield from _background_and_actions(as_mapping(condition), ("conditions", name))


def _background_and_actions(
    spec: Mapping[str, object], where: Where
) -> Iterator[tuple[Where, Mapping[str, object]]]:
    for key in ("background", "actions"):
        for index, entry in enumerate(as_list(spec.get(key))):
            yield (*where, key, index), as_mapping(entry)
