"""The control folder: small files by which the runner and a process tell each other their state."""

import json
import time
from pathlib import Path

POLL_S = 0.05


class Control:
    """One process's view of the control folder; ``stopping`` is set by a signal."""

    def __init__(self, folder: Path, label: str) -> None:
        self.folder = folder
        self.label = label
        self.stopping = False

    def say(self, topic: str, text: str = "") -> None:
        """Publish ``<label>.<topic>``, whole or not at all."""
        path = self.folder / f"{self.label}.{topic}"
        draft = path.with_suffix(f".{topic}-draft")
        draft.write_text(text)
        draft.replace(path)

    def wait_for_start(self) -> float | None:
        """The agreed start in epoch seconds; ``None`` when told to stop first."""
        start = self.folder / "start"
        while not self.stopping:
            if start.exists():
                return float(json.loads(start.read_text())["start"])
            time.sleep(POLL_S)
        return None

    def wait_for_stop(self) -> None:
        """Return when the runner, or a signal, asks this process to stop."""
        while not (self.stopping or (self.folder / "stop").exists()):
            time.sleep(POLL_S)
