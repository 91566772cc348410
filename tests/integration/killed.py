"""Killing processes during a test: some children of mqperf, or mqperf with all its children."""

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import psutil
from patience import eventually
from typing_extensions import override

from mqperf.lab.runner import Silent
from mqperf.plan import Case


class Killer(Silent):
    """Kills the matching processes started since, when the first case is being measured."""

    def __init__(self, is_victim: Callable[[psutil.Process], bool]) -> None:
        self.is_victim = is_victim
        self.before = {*psutil.Process().children(recursive=True)}
        self.done = False

    @override
    def doing(self, what: str, case: Case | None = None) -> None:
        super().doing(what, case)
        if what == "measuring" and not self.done:
            started = {*psutil.Process().children(recursive=True)} - self.before
            # Parents first: a parent whose child is killed exits by itself, without a signal.
            by_age = sorted(started, key=psutil.Process.create_time)
            assert sum(map(self._killed, by_age)) > 0
            self.done = True

    def _killed(self, process: psutil.Process) -> bool:
        try:
            if is_victim := self.is_victim(process):
                process.kill()
        except psutil.Error:  # it has just ended
            return False
        return is_victim


def nothing_outlives(owner: str, *words: str, processes: int) -> bool:
    """Whether all processes of an owner, and its folder, are gone after a SIGKILL of the owner.

    The owner is a program that prints the pids of its processes and its folder, and then waits.
    """
    command = [sys.executable, "-c", textwrap.dedent(owner), *words]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(os.environ)
    ) as running:
        try:
            assert running.stdout is not None
            answer = json.loads(running.stdout.readline())
            owned = [psutil.Process(pid) for pid in answer["pids"]]
            assert len(owned) == processes
        finally:
            running.kill()
    gone = eventually(lambda: not any(map(psutil.Process.is_running, owned)))
    return gone and eventually(lambda: not Path(answer["folder"]).exists())
