"""Run as ``python -P -m mqperf_command.onhost TASK``; TASK is a JSON file."""

import json
import os
import pwd
import signal
import sys
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Any

from mqperf.onhost.load.capped_log import CappedLog
from mqperf.onhost.load.control import Control
from mqperf.onhost.load.record import Record

from .one import Command

LOG_BYTES = 1_000_000
AFTER_FAILURE_S = 0.1
"""A thread waits so long before its next command, lest it do nothing but fail."""


class Process:
    """One process, from its start to the record that it leaves."""

    def __init__(self, task: dict[str, Any]) -> None:
        self.task = task
        self.control = Control(Path(task["control"]), task["label"])
        header = {name: task[name] for name in ("label", "kind", "test_case")}
        self.record = Record(header, ["sent", "round_trip", "error"])
        self.command = Command(task["argv"], task["variables"], task["timeout_s"])
        self._lock = threading.Lock()
        self._last = 0.0

    def run(self) -> None:
        """Run the command until the load ends."""
        self.control.say("ready")
        start = self.control.wait_for_start()
        if start is None:
            return
        self.record.header["start"] = start
        time.sleep(max(0.0, start - time.time()))
        end = start + self.task["seconds"]
        threads = [
            threading.Thread(target=self._thread, args=(end,)) for _ in range(self.task["threads"])
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def save(self) -> None:
        """Write what is known."""
        self.record.save(Path(self.task["out"]) / f"{self.task['label']}.messages")

    def stop(self) -> None:
        """Begin no more, and end those that run."""
        self.control.stopping = True
        self.command.kill()

    def _thread(self, end: float) -> None:
        while not self.control.stopping and time.time() < end:
            begun = self._begin()
            reason = self.command.run()
            ended = time.time()
            with self._lock:
                self.record.add("round_trip" if reason is None else "error", begun, ended)
            if reason is not None:
                sys.stdout.write(f"a command failed: {reason}\n")
                time.sleep(AFTER_FAILURE_S)

    def _begin(self) -> float:
        """The start of a command, which no other of this process has."""
        with self._lock:
            now = time.time()
            while now <= self._last:
                now = time.time()
            self._last = now
            self.record.add("sent", now)
            return now


def main() -> None:
    """Run one process under a capped log."""
    log = CappedLog(sys.stdout, LOG_BYTES)
    vars(sys).update(stdout=log, stderr=log)
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
        log.finish()


if __name__ == "__main__":
    main()
