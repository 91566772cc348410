"""Load generators as they are run, one package each."""

from mqperf.base.registry import Registry
from mqperf.lab.load import simulator
from mqperf.lab.load.launcher import Access, Command, Endpoint, Job, Launcher, Tool

__all__ = ["LAUNCHERS", "Access", "Command", "Endpoint", "Job", "Launcher", "Tool"]

LAUNCHERS = Registry("launchers", (simulator.LAUNCHER,))
