"""The processes of a load, started one by one on this machine, and what they left."""

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
    """The whole of a load; its run is called like its folder."""
    tool, key = LAUNCHERS[case.generator].tool(case.generator, LocalHost()), folder.name
    return LoadJob(case, key, access, tool, pairs(case), folder, folder, "127.0.0.1")


QUIET = 6
"""Where a server has told so often that no more has come, nothing is on its way."""


def await_instant(instant: float) -> None:
    """Return then, in epoch seconds, or at once when it is over."""
    time.sleep(max(0.0, instant - time.time()))


class Flow:
    """A load of one client and one server, which end with its context."""

    def __init__(self, of: LoadJob) -> None:
        self.job, self.home = of, of.control
        self.commands = {
            command.label: command for command in LAUNCHERS[of.case.generator].commands(of)
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
            (self.home / name).write_text(text)
        with (self.home / f"{label}.err").open("wb") as errors:
            self.processes[label] = Popen(command.argv, env=dict(command.env), stderr=errors)
        await_file(self.home / f"{label}.ready")

    def begin(self) -> float:
        """Agree on a start."""
        begin = float(int(time.time()) + 2)
        LocalHost().write(self.home / "start", json.dumps({"start": begin}))
        return begin

    def end(self, refused: str | None = None) -> None:
        """Wait for the client, and let the server end; who was ``refused`` ends by itself."""
        if "client-1" in self.processes:
            client, all_sent = self.processes["client-1"], self.home / "client-1.sent"
            assert eventually(lambda: all_sent.exists() or client.poll() is not None, 90)
            if all_sent.exists():
                LocalHost().write(self.home / "end", json.dumps({"end": time.time()}))
            assert client.wait(60) == (refused == "client-1")
        if "server-1" in self.processes:
            self.await_quiet()
            (self.home / "stop").touch()
            assert self.processes["server-1"].wait(30) == (refused == "server-1")

    def await_quiet(self) -> None:
        """Return when the server, which tells it again and again, gets no more."""
        file, server = self.home / "server-1.count", self.processes["server-1"]
        told = [""]

        def quiet() -> bool:
            if file.exists() and (now := file.read_text()) != told[-1]:
                told.append(now)
            last = {each.partition(" ")[0] for each in told[-QUIET:]}
            return server.poll() is not None or (len(told) > QUIET and len(last) == 1)

        assert eventually(quiet)

    def orders(self, label: str) -> Any:  # noqa: ANN401 (JSON)
        return json.loads((self.home / f"{label}.orders").read_text())

    def last_words(self, label: str) -> str:
        return (self.home / f"{label}.err").read_text()

    def counts(self, label: str) -> CountsFile:
        return read_counts(self.home / f"{label}.counts")

    def diary(self, label: str) -> Any:  # noqa: ANN401 (JSON)
        return json.loads((self.home / f"{label}.json").read_text())

    def reconnected(self) -> tuple[Numbers, Numbers]:
        """The numbers of what the only thread sent, and of what was confirmed.

        Client and server have connected again, once.  What was sent has no gap, all that was
        received was sent, and all that was confirmed was received.
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
