"""Reads Java property files as written by Maestro: keys, values, and escaped characters."""

import re
from collections.abc import Mapping
from pathlib import Path

from mqperf.base.errors import TableError
from mqperf.study.tables.given import MIB, text_of

LINE = re.compile(r"((?:\\.|[^\\=:\s])+)\s*[=:\s]\s*(.*)")
ESCAPED = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)")
CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def read_properties(file: Path) -> Mapping[str, str]:
    """Return values by key; raises ``TableError`` with the number of a malformed line."""
    values = {}
    for number, line in enumerate(text_of(file, file, MIB).splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped[0] in "#!":
            continue
        match = LINE.fullmatch(stripped)
        if match is None:
            raise TableError(f"{file}:{number}: is no property, such as rate=100")
        values[_unescaped(match[1])] = _unescaped(match[2])
    return values


def _unescaped(text: str) -> str:
    return ESCAPED.sub(lambda match: _character(match[1]), text)


def _character(escaped: str) -> str:
    if len(escaped) > 1:
        return chr(int(escaped[1:], 16))
    return CONTROLS.get(escaped, escaped)
