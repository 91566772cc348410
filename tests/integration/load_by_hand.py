"""Starts the processes of a load one by one on this machine, and reads their output files."""

import json
import time
from pathlib import Path
from subprocess import Popen
from typing import Any, Self

from patience import await_file, eventually

from mqperf.hosts import LocalHost
from mqperf.lab.load import LAUNCHERS, Access, LoadJob
from mqperf.onhost.record.numbers import Numbers, common, size
from mqperf.plan import Case
from mqperf.plan.load import pairs
from mqperf.record.counts import CountsFile, read_counts


def job_of(case: Case, folder: Path, access: Access) -> LoadJob:
    """The job of a whole load; its run has the name of its folder."""
    tool, key = LAUNCHERS[case.generator].tool(case.generator, LocalHost()), folder.name
    return LoadJob(case, key, access, tool, pairs(case), folder, folder, "127.0.0.1")


QUIET = 6
"""After this many reports of the same count, no message is in flight."""


def await_instant(instant: float) -> None:
    """Sleep until this instant (epoch seconds); return at once if it has passed."""
    time.sleep(max(0.0, instant - time.time()))


class Flow:
    """A load of one client and one server, which are killed when the context ends."""

    def __init__(self, job: LoadJob) -> None:
        self.job, self.folder = job, job.control
        self.commands = {
            command.label: command for command in LAUNCHERS[job.case.generator].commands(job)
        }
        self.processes: dict[str, Popen[bytes]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()

    def start(self, label: str) -> None:
        """Start a process and wait until it is ready."""
        command = self.commands[label]
        for name, text in command.files.items():
            (self.folder / name).write_text(text)
        with (self.folder / f"{label}.err").open("wb") as errors:
            self.processes[label] = Popen(command.argv, env=dict(command.env), stderr=errors)
        await_file(self.folder / f"{label}.ready")

    def begin(self) -> float:
        """Set the common start time and return it."""
        begin = float(int(time.time()) + 2)
        LocalHost().write(self.folder / "start", json.dumps({"start": begin}))
        return begin

    def end(self, refused: str | None = None) -> None:
        """Wait for the client, then stop the server; the ``refused`` process fails by itself."""
        if "client-1" in self.processes:
            client, all_sent = self.processes["client-1"], self.folder / "client-1.sent"
            assert eventually(lambda: all_sent.exists() or client.poll() is not None, 90)
            if all_sent.exists():
                LocalHost().write(self.folder / "end", json.dumps({"end": time.time()}))
            assert client.wait(60) == (refused == "client-1")
        if "server-1" in self.processes:
            self.await_quiet()
            (self.folder / "stop").touch()
            assert self.processes["server-1"].wait(30) == (refused == "server-1")

    def await_quiet(self) -> None:
        """Wait until the count that the server reports repeatedly no longer grows."""
        file, server = self.folder / "server-1.count", self.processes["server-1"]
        reports = [""]

        def quiet() -> bool:
            if file.exists() and (now := file.read_text()) != reports[-1]:
                reports.append(now)
            last = {each.partition(" ")[0] for each in reports[-QUIET:]}
            return server.poll() is not None or (len(reports) > QUIET and len(last) == 1)

        assert eventually(quiet)

    def orders(self, label: str) -> Any:  # noqa: ANN401 (JSON)
        return json.loads((self.folder / f"{label}.orders").read_text())

    def stderr(self, label: str) -> str:
        return (self.folder / f"{label}.err").read_text()

    def counts(self, label: str) -> CountsFile:
        return read_counts(self.folder / f"{label}.counts")

    def diary(self, label: str) -> Any:  # noqa: ANN401 (JSON)
        return json.loads((self.folder / f"{label}.json").read_text())

    def numbers_after_reconnection(self) -> tuple[Numbers, Numbers]:
        """The numbers of the messages that the only thread sent, and of the confirmed ones.

        Checks that client and server reconnected once, that the numbers sent have no gap, that
        all received messages were sent, and that all confirmed messages were received.
        """
        for label in ("client-1", "server-1"):
            events = [event["what"] for event in self.diary(label)["events"]]
            assert events == ["disconnected", "reconnected"]
        client, server = self.counts("client-1"), self.counts("server-1")
        sent, confirmed = (client.numbers[name]["client-1.1"] for name in ("sent", "confirmed"))
        got = server.numbers["received"]["client-1.1"]
        assert sent.ranges.tolist() == [[0, client.streams["sent"].count - 1]]
        assert common(got.ranges, sent.ranges) == size(got.ranges)
        assert common(confirmed.ranges, got.ranges) == size(confirmed.ranges)
        return sent, confirmed
