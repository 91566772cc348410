"""Sweeps in the background, which outlive the notebook: ``mqperf.start``, ``attach``, ``stop``.

    import mqperf

    sweep = mqperf.start("plans/quickstart.yaml")      # returns at once
    results = sweep.watch()                            # live view below the cell, then results
    sweep.stop()

    results = mqperf.attach("data/runs/quickstart")    # in another kernel, on another day
    mqperf.stop("data/runs/quickstart")

A sweep is a separate process.  All processes that it starts end with it, however it ends.
"""

import json
import time
from contextlib import nullcontext, suppress
from dataclasses import replace
from http.client import HTTPException
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

from typing_extensions import override

from mqperf.base.errors import Interrupted, MqperfError
from mqperf.front.api import Results, StrPath, job_of, read
from mqperf.front.live import Beat, Pulse, Scene, cell
from mqperf.lab.pulse import PERIOD_S
from mqperf.pages import notebook
from mqperf.plan import Plan
from mqperf.record import holder
from mqperf_notebook.front import processes
from mqperf_notebook.record.sweep_files import SweepFiles

DIRECT = build_opener(ProxyHandler({}))
"""Opens URLs of this machine without a proxy."""


class Sweep:
    """The background sweep of a runs folder, running or ended."""

    def __init__(self, runs: Path) -> None:
        """Refer to the sweep of a folder."""
        self.runs = runs.resolve()
        self._files = SweepFiles(self.runs)

    @property
    def running(self) -> bool:
        """Whether it runs."""
        return self._files.running

    def watch(self) -> Results:
        """Show a live view below the cell until the sweep ends, then return all results.

        An interruption ends only the live view, by ``Interrupted``.  Raises ``MqperfError`` with
        the reason if the sweep ended early or runs failed; complete runs are recorded.
        """
        pulse = Pulse()
        try:
            with cell.shown(pulse) if cell.watched() else nullcontext():
                self._follow(pulse)
        except KeyboardInterrupt:
            raise Interrupted(f"no longer watched; {self}") from None
        if trouble := self._files.trouble:
            raise MqperfError(f"{self.runs}: {trouble}")
        return read(self.runs)

    def stop(self) -> None:
        """Stop it, and wait for its end; complete runs are kept, and a new start does the rest.

        Raises ``MqperfError`` for a sweep that was not started in the background of this machine.
        """
        if (process := processes.running().get(self.runs)) is not None:
            processes.end(process)
        elif self.running or holder(self.runs):
            raise MqperfError(f"{self}; end it where it was started")
        print(self)

    def _follow(self, pulse: Pulse) -> None:
        """Print its log, and keep the pulse up to date, until it has ended."""
        with self._files.log.open(encoding="utf-8", errors="replace") as log:
            while True:
                running = self.running
                print(log.read(), end="", flush=True)
                if not running:
                    return
                self._update(pulse)
                time.sleep(PERIOD_S)

    def _update(self, pulse: Pulse) -> None:
        """Copy the state of the sweep to the pulse, if its page responds."""
        with suppress(OSError, ValueError, HTTPException):
            with DIRECT.open(f"{self._files.page.read_text()}now.json", timeout=PERIOD_S) as answer:
                now = json.load(answer)
            scene = Scene(now["title"], now["unit"], now["heard"], now["window_s"])
            scene.beats.extend(Beat(**beat) for beat in now["beats"])
            pulse.doing, pulse.scene = now["doing"], scene

    @override
    def __str__(self) -> str:
        if self.running:
            name = repr(str(self.runs))
            return f"running; mqperf.attach({name}) shows it, mqperf.stop({name}) ends it"
        if who := holder(self.runs):
            return f"{self.runs}: measured now by {who}, not in the background"
        ended = f"; the last one: {trouble}" if (trouble := self._files.trouble) else ""
        return f"{self.runs}: no sweep is running{ended}"

    @override
    def __repr__(self) -> str:
        return f"<mqperf sweep: {self}>"


def start(what: Plan | StrPath, runs: StrPath | None = None, *, hosts: str | None = None) -> Sweep:
    """Start in the background what ``run`` would do, and return the sweep immediately.

    It continues when the kernel restarts, or JupyterLab ends.  The arguments are those of ``run``.
    Raises ``MqperfError`` for a plan that cannot be run, and for a folder that another sweep is
    measuring into.
    """
    job = job_of(what, runs)
    sweep = Sweep(job.runs)
    if sweep.running or holder(sweep.runs):
        raise MqperfError(str(sweep))
    processes.begin(replace(job, runs=sweep.runs), hosts)
    print(sweep)
    return sweep


def attach(runs: StrPath | None = None) -> Results:
    """Watch the background sweep of a folder, then return all results.

    Without ``runs`` it is the only one of this machine.  If none is running, a line says so, and
    the recorded results are returned.  Raises as ``Sweep.watch`` does.
    """
    sweep = _sweep(runs)
    if sweep.running:
        return sweep.watch()
    print(sweep)
    return read(sweep.runs)


def stop(runs: StrPath | None = None) -> None:
    """Stop the background sweep of a folder, or the only one of this machine.

    Raises as ``Sweep.stop`` does.
    """
    _sweep(runs).stop()


def _sweep(runs: StrPath | None) -> Sweep:
    """Return the sweep of a folder, or the only one; raises ``MqperfError`` if not exactly one."""
    if runs is not None:
        return Sweep(notebook.located(runs))
    folders = [*processes.running()]
    if len(folders) != 1:
        found = f"these run: {', '.join(map(str, folders))}" if folders else "none is running here"
        raise MqperfError(f"give the runs folder of a sweep in the background; {found}")
    return Sweep(folders[0])
