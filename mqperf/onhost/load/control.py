"""The control folder: small files through which the runner and a process exchange their state."""

import json
import signal
import time
from pathlib import Path
from types import FrameType

POLL_S = 0.05


class Control:
    """One process's view of the control folder; ``stopping`` is set by a signal."""

    def __init__(self, folder: Path, label: str) -> None:
        self.folder = folder
        self.label = label
        self.stopping = False

    def heed_signals(self) -> None:
        """Have SIGTERM and SIGINT only request a stop, so that the counts are saved."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)

    def say(self, topic: str, text: str = "") -> None:
        """Write the file ``<label>.<topic>`` atomically."""
        path = self.folder / f"{self.label}.{topic}"
        draft = path.with_suffix(f".{topic}-draft")
        draft.write_text(text)
        draft.replace(path)

    def start(self) -> float | None:
        """Return the agreed start in epoch seconds; None before there is one."""
        file = self.folder / "start"
        return float(json.loads(file.read_text())["start"]) if file.exists() else None

    def end(self) -> float | None:
        """Return the end of the load in epoch seconds, if it is earlier than agreed, else None."""
        file = self.folder / "end"
        return float(json.loads(file.read_text())["end"]) if file.exists() else None

    @property
    def told_to_stop(self) -> bool:
        """Whether the runner, or a signal, requests this process to stop."""
        return self.stopping or (self.folder / "stop").exists()

    def wait_for_start(self) -> float | None:
        """Wait for the agreed start and return it; None after a stop signal."""
        while not self.stopping:
            if (start := self.start()) is not None:
                return start
            time.sleep(POLL_S)
        return None

    def wait_for_stop(self) -> None:
        """Wait until the runner, or a signal, requests this process to stop."""
        while not self.told_to_stop:
            time.sleep(POLL_S)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self.stopping = True
