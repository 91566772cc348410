"""Load generators as they are run, one package each."""

from mqperf.base.registry import Registry
from mqperf.lab.load import command, simulator
from mqperf.lab.load.launcher import Access, Command, Endpoint, Job, Launcher, Tool

__all__ = ["LAUNCHERS", "Access", "Command", "Endpoint", "Job", "Launcher", "Tool"]

_KNOWN = (simulator.LAUNCHER, command.LAUNCHER)

LAUNCHERS = Registry("launchers", _KNOWN)
