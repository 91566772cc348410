"""Run as ``python -P -m mqperf_command.onhost TASK``; TASK is a JSON file."""

import json
import os
import pwd
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from mqperf.onhost.load.capped_log import capped_output
from mqperf.onhost.load.control import Control
from mqperf_numbered.onhost.closed_loop import ClosedLoop

from .one import Command


class Process:
    """One process, from its start to the record that it writes."""

    def __init__(self, task: dict[str, Any]) -> None:
        self.task = task
        self.control = Control(Path(task["control"]), task["label"])
        self.loop = ClosedLoop(
            self.control, {name: task[name] for name in ("label", "kind", "test_case")}
        )
        self.command = Command(task["argv"], task["variables"], task["timeout_s"])

    def run(self) -> None:
        """Run the command until the load ends."""
        self.loop.run(self.task["seconds"], [self._thread] * self.task["threads"])

    def save(self) -> None:
        """Write the record."""
        self.loop.record.save(Path(self.task["out"]) / f"{self.task['label']}.messages")

    def stop(self) -> None:
        """Start no more commands, and end those that run."""
        self.control.stopping = True
        self.command.kill()

    def _thread(self) -> None:
        while self.loop.goes_on():
            begun = self.loop.begin()
            if (reason := self.command.run()) is None:
                self.loop.done(begun)
            else:
                sys.stdout.write(f"a command failed: {reason}\n")
                self.loop.failed(begun)


@capped_output()
def main() -> None:
    """Run one process under a capped log."""
    os.environ.setdefault("HOME", pwd.getpwuid(os.getuid()).pw_dir)
    process = Process(json.loads(Path(sys.argv[1]).read_text("utf-8")))

    def on_signal(_signum: int, _frame: FrameType | None) -> None:
        process.stop()

    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    try:
        process.run()
    finally:
        process.save()


if __name__ == "__main__":
    main()
