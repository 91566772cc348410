"""What happened to one process beside its messages: written as ``LABEL.json`` at its end."""

import json
import time
from pathlib import Path

MOST_EVENTS = 1_000
"""More are counted, and not kept one by one."""


class Diary:
    """Events with their instants, and counts; ``generator`` tells whose they are."""

    def __init__(self, generator: str, label: str, kind: str) -> None:
        self.told: dict[str, object] = {"format": f"mqperf-{generator}", "version": 1}
        self.told |= {"label": label, "kind": kind}
        self.counts: dict[str, int] = {}
        self.events: list[dict[str, object]] = []

    def happened(self, event: str, **detail: object) -> None:
        """Note an event, now."""
        self.count(event)
        if len(self.events) < MOST_EVENTS:
            self.events.append({"time": time.time(), "what": event, **detail})

    def count(self, event: str, more: int = 1) -> None:
        """Count something that is too frequent to note."""
        self.counts[event] = self.counts.get(event, 0) + more

    def save(self, path: Path) -> None:
        """Write the file; it has its name only when it is whole."""
        draft = path.with_suffix(".json-draft")
        content = {**self.told, "counts": self.counts, "events": self.events}
        draft.write_text(json.dumps(content, indent=1))
        draft.replace(path)
