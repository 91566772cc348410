"""The numbers of messages that a process recorded, for either kind of record."""

from collections.abc import Mapping
from pathlib import Path

from mqperf.record import counts_lines, messages

INSTANTS, COUNTS = "instants", "counts"
ENDS = {INSTANTS: ".messages", COUNTS: ".counts"}
"""Suffix of the files of each kind of record."""


def is_recorded(load: Path, label: str) -> bool:
    """Whether the process left its record in the folder."""
    return any((load / f"{label}{suffix}").exists() for suffix in ENDS.values())


def totals(load: Path, label: str) -> Mapping[str, int]:
    """Return message counts by stream; raises `LoadError` for a missing file or invalid header."""
    instants, counts = (load / f"{label}{suffix}" for suffix in ENDS.values())
    if counts.exists():
        return {stream.name: stream.count for stream in counts_lines.read_header(counts).streams}
    return {stream.name: stream.count for stream in messages.read_header(instants).streams}
