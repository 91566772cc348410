"""Files beside a plan, which keys of its loads and actions name: read once, and known by digest.

A key of a load or of an action that ends in ``_file`` names one, and one that ends in ``_files``
several, in the plan's folder or of a git repository: whatever it is, it is sent somewhere.  What
the rest of mqperf sees, records and copies is its pin, ``body.json (2048 bytes, sha256
0123456789abcdef)``: so another content is another case, and no path of this machine is in any
record.
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
"""How keys end whose value is the name of a file, or a list of such."""

MOST_BYTES = 10_000_000
"""Of a file: brokers refuse much larger messages, and a script has no need of so many."""

DIGITS = 16
"""Of the SHA-256, in hexadecimal."""

_PIN = re.compile(rf"(?P<name>.+) \((?P<size>\d+) bytes, sha256 (?P<digest>[0-9a-f]{{{DIGITS}}})\)")


@dataclass(frozen=True, slots=True)
class Pin:
    """A file as it was when the plan was read."""

    name: str
    size: int
    digest: str

    @override
    def __str__(self) -> str:
        """As it stands in a case."""
        return f"{self.name} ({self.size} bytes, sha256 {self.digest})"


@dataclass(slots=True)
class Attached:
    """The files of a plan: contents by pin, pins by their place in the document, and problems."""

    contents: dict[str, bytes] = field(default_factory=dict)
    pins: dict[Where, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def pin_of(text: str) -> Pin | None:
    """The pin in the text; None if it is only a name."""
    if (match := _PIN.fullmatch(text)) is None:
        return None
    return Pin(match["name"], int(match["size"]), match["digest"])


def name_of(text: str) -> str:
    """The name of a file as the plan says it, pinned or not."""
    pin = pin_of(text)
    return pin.name if pin else text


def attached(data: object, folder: Path) -> Attached:
    """Every file that loads and actions of a plan name, from the plan's folder on."""
    files = Attached()
    with repositories() as fetched:
        for where, text in _named(data):
            try:
                pin, content = _read(text, folder, fetched)
            except UnreadableError as error:
                files.problems.append(Problem(where, f"the file cannot be used: {error}"))
                continue
            files.contents[str(pin)] = content
            files.pins[where] = str(pin)
    return files


def pinned(data: Any, pins: Mapping[Where, str]) -> Any:  # noqa: ANN401 (data of YAML)
    """A copy of the data with pins in their places."""
    data = copy.deepcopy(data)
    for where, pin in pins.items():
        at = data
        for part in where[:-1]:
            at = at[part]
        at[where[-1]] = pin
    return data


def _read(text: str, folder: Path, fetched: Repositories) -> tuple[Pin, bytes]:
    """The file, which must be as it was when it was pinned."""
    expected, name = pin_of(text), name_of(text)
    if PurePosixPath(name).is_absolute():
        raise UnreadableError("it is an absolute path: give it from the plan's folder on")
    place = fetched.place(name) if is_source(name) else _below(folder, name)
    content = first_bytes(place, MOST_BYTES + 1)
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
    """The file of that name, wherever links lead, if that is in the folder."""
    try:
        place = (folder / name).resolve()
    except (OSError, RuntimeError, ValueError):  # a loop of links, or no name
        raise UnreadableError("its name leads nowhere") from None
    if not place.is_relative_to(folder.resolve()):
        raise UnreadableError("it is outside the plan's folder: put a copy of it there")
    return place


def _named(data: object) -> Iterator[tuple[Where, str]]:
    """Every value of a load or action that names a file, and its place."""
    for where, load in _naming(data):
        for key, value in load.items():
            if not key.endswith(ENDS):
                continue
            if isinstance(value, str):
                yield (*where, key), value
            elif isinstance(value, list):
                yield from (
                    ((*where, key, place), text)
                    for place, text in enumerate(value)
                    if isinstance(text, str)
                )


def _naming(data: object) -> Iterator[tuple[Where, Mapping[str, object]]]:
    """The loads of a plan, measured and beside it, and its actions, under every condition."""
    if not isinstance(data, Mapping):
        return
    if isinstance(load := data.get("load"), Mapping):
        yield ("load",), load
        for name, alone in as_mapping(load.get("generator")).items():
            yield ("load", "generator", name), as_mapping(alone)
    yield from _around(data, ())
    for name, condition in as_mapping(data.get("conditions")).items():
        yield from _around(as_mapping(condition), ("conditions", name))


def _around(
    spec: Mapping[str, object], where: Where
) -> Iterator[tuple[Where, Mapping[str, object]]]:
    for key in ("background", "actions"):
        for place, entry in enumerate(as_list(spec.get(key))):
            yield (*where, key, place), as_mapping(entry)
