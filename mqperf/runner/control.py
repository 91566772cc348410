"""The control folder between the runner and the processes of one run.

Processes say that they are ready and how much they received; the runner says when to start and when
to stop.  Every message is a small file, written whole by a rename, so it works the same for any
process on any file system and costs nothing inside the window.
"""

import json
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from mqperf.errors import LoadError
from mqperf.guarded import scratch_errors

POLL_S = 0.05
LEAD_S = 0.7
"""Seconds that a process gets between reading the start and the start itself."""


class Control:
    """The runner's side of the folder."""

    def __init__(self, folder: Path) -> None:
        """Use the folder, which must be private to this run."""
        self.folder = folder

    def place(self, files: Mapping[str, str]) -> None:
        """Write files for processes that are about to start, readable for their owner only."""
        for name, text in files.items():
            path = self.folder / name
            with scratch_errors(path):
                path.touch(mode=0o600)
                path.write_text(text, encoding="utf-8")

    def await_ready(
        self, labels: Iterable[str], timeout_s: float, watch: Callable[[], None]
    ) -> None:
        """Wait until every process is ready; ``watch`` raises when one of them died."""
        missing = set(labels)
        limit = time.monotonic() + timeout_s
        while missing := {name for name in missing if not (self.folder / f"{name}.ready").exists()}:
            watch()
            if time.monotonic() > limit:
                raise LoadError(
                    f"{', '.join(sorted(missing))}: not ready within {timeout_s:.0f} s;"
                    " see their logs in the run folder"
                )
            time.sleep(POLL_S)

    def start(self) -> int:
        """Agree on the start: the next whole second that every process can still meet."""
        start = int(time.time() + LEAD_S) + 1
        self._write("start", json.dumps({"start": start}))
        return start

    def stop(self) -> None:
        """Ask the servers to finish."""
        self._write("stop", "")

    def received(self, labels: Iterable[str]) -> int:
        """Messages that the servers have handled so far."""
        return sum(self._count(label) for label in labels)

    def _count(self, label: str) -> int:
        try:
            return int((self.folder / f"{label}.count").read_text())
        except FileNotFoundError:
            return 0

    def _write(self, name: str, text: str) -> None:
        draft = self.folder / f"{name}.draft"
        with scratch_errors(draft):
            draft.write_text(text)
            draft.rename(self.folder / name)
