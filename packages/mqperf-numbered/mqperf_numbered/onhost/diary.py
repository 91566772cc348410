"""Events of one process other than its messages, written as ``LABEL.json`` at its end."""

import json
import time
from pathlib import Path

MOST_EVENTS = 1_000
"""The most events that are kept; more are only counted."""


class Diary:
    """Events with their instants, and counts, of a process of a generator."""

    def __init__(self, generator: str, label: str, kind: str) -> None:
        self.header: dict[str, object] = {"format": f"mqperf-{generator}", "version": 1}
        self.header |= {"label": label, "kind": kind}
        self.counts: dict[str, int] = {}
        self.events: list[dict[str, object]] = []

    def happened(self, event: str, **detail: object) -> None:
        """Record an event at the current time."""
        self.count(event)
        if len(self.events) < MOST_EVENTS:
            self.events.append({"time": time.time(), "what": event, **detail})

    def count(self, event: str, more: int = 1) -> None:
        """Count events that are too frequent to be recorded each."""
        self.counts[event] = self.counts.get(event, 0) + more

    def save(self, path: Path) -> None:
        """Write the file atomically."""
        draft = path.with_suffix(".json-draft")
        content = {**self.header, "counts": self.counts, "events": self.events}
        draft.write_text(json.dumps(content, indent=1))
        draft.replace(path)
