"""Run as ``python -P -m mqperf_openstack.onhost.chain TASK``; TASK is a JSON file."""

import eventlet

eventlet.monkey_patch()

import json  # noqa: E402 (what is imported before is not green)
import logging  # noqa: E402
import signal  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from pathlib import Path  # noqa: E402
from types import FrameType  # noqa: E402
from typing import Any  # noqa: E402

from mqperf.onhost.load.capped_log import capped_output  # noqa: E402
from mqperf.onhost.load.control import Control  # noqa: E402
from mqperf.onhost.load.counting import report  # noqa: E402
from mqperf.onhost.load.record import Record  # noqa: E402

from .services import Endpoint, Service, configure  # noqa: E402
from .steps import Steps  # noqa: E402
from .walk import Creation, Walk  # noqa: E402

STREAMS = {"client": ["sent", "round_trip", "error"], "server": ["received"]}
AFTER_FAILURE_S = 0.1
"""Pause of a thread after a failed creation, so that failures do not follow each other at once."""

CLOSING_S = 3
"""Time limit for closing the connections, in seconds."""


class Process:
    """One process, from the start of its services to the files that it writes."""

    def __init__(self, task: dict[str, Any]) -> None:
        self.task = task
        self.client = task["kind"] == "client"
        self.control = Control(Path(task["control"]), task["label"])
        record_header = {name: task[name] for name in ("label", "kind", "test_case")}
        self.record = Record(record_header, STREAMS[task["kind"]])
        steps_header = {name: task[name] for name in ("label", "kind", "chain", "steps")}
        self.steps = Steps(steps_header)
        self.walk = Walk(task, self.record, self.steps, self.control.say)

    def run(self) -> None:
        """Start the services; then run creations as a client, or serve, until the load ends."""
        configure(Path(self.task["config"]))
        endpoint = Endpoint(self.walk.handle, self.walk.end)
        for name in self.task["services"]:
            topic, number = self.task["topic"], self.task["number"]
            self.walk.services[name] = Service(topic, name, number, endpoint)
        for service in self.walk.services.values():
            service.start()
        try:
            if self.client:
                self._run_creations()
            else:
                self._serve()
        finally:
            self.save()

    def save(self) -> None:
        """Write the files of steps and of messages."""
        out, label = Path(self.task["out"]), self.task["label"]
        self.steps.save(out / f"{label}.steps")
        self.record.save(out / f"{label}.messages")

    def close(self) -> None:
        """Stop the services, so that brokers do not log connections that were cut.

        Messages that libraries log meanwhile are of no use, and are suppressed.
        """
        logging.disable()
        with eventlet.Timeout(CLOSING_S, exception=False):
            for service in self.walk.services.values():
                service.stop()

    def _serve(self) -> None:
        report(self.control, self.record, lambda: not self.control.stopping)
        self.control.say("ready")
        self.control.wait_for_stop()

    def _run_creations(self) -> None:
        self.control.say("ready")
        start = self.control.wait_for_start()
        if start is None:
            return
        self.record.header["start"] = start
        eventlet.sleep(max(0.0, start - time.time()))
        end = start + self.task["seconds"]
        threads = [eventlet.spawn(self._thread, end) for _ in range(self.task["threads"])]
        for thread in threads:
            thread.wait()

    def _thread(self, end: float) -> None:
        while not self.control.stopping and time.time() < end:
            creation = self._new_creation()
            self.record.add("sent", creation)
            reason = self._outcome(creation)
            ended = time.time()
            if reason is None:
                self.record.add("round_trip", creation, ended)
            else:
                self.record.add("error", creation, ended)
                sys.stdout.write(f"a creation failed: {reason}\n")
                eventlet.sleep(AFTER_FAILURE_S)

    def _new_creation(self) -> float:
        """Register a creation under its start, unique in this process; return the start."""
        now = time.time()
        while now in self.walk.waiting:
            now = time.time()
        self.walk.waiting[now] = Creation()
        return now

    def _outcome(self, creation: float) -> str | None:
        """Walk the chain of a creation; return None when it finished, else why it did not."""
        pending, limit = self.walk.waiting[creation], self.task["timeout_s"]
        try:
            with eventlet.Timeout(limit):
                self.walk.begin(creation)
                reason: str | None = pending.over.wait()
                return reason
        except eventlet.Timeout:
            return f"not at its end within {limit} s; the last step seen: {pending.step}"
        except Exception as error:  # noqa: BLE001 (of the library, whatever it is)
            return f"{type(error).__name__}: {str(error)[:200]}"
        finally:
            self.walk.waiting.pop(creation, None)


@capped_output()
def main() -> None:
    """Run one process under a capped log."""
    process = Process(json.loads(Path(sys.argv[1]).read_text("utf-8")))

    def on_signal(_signum: int, _frame: FrameType | None) -> None:
        process.control.stopping = True
        process.save()

    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    process.run()
    process.close()


if __name__ == "__main__":
    main()
