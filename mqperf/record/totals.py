"""How many messages a process recorded, whichever kind of record it left."""

from collections.abc import Mapping
from pathlib import Path

from mqperf.record import counts_lines, messages

INSTANTS, COUNTS = "instants", "counts"
ENDS = {INSTANTS: ".messages", COUNTS: ".counts"}
"""How the files of each kind of record end."""


def is_recorded(load: Path, label: str) -> bool:
    """Whether the process left its record in the folder."""
    return any((load / f"{label}{end}").exists() for end in ENDS.values())


def totals(load: Path, label: str) -> Mapping[str, int]:
    """By stream; raises `LoadError` when the file is missing, or its header is none."""
    instants, counts = (load / f"{label}{end}" for end in ENDS.values())
    if counts.exists():
        return {stream.name: stream.count for stream in counts_lines.read_header(counts).streams}
    return {stream.name: stream.count for stream in messages.read_header(instants).streams}
