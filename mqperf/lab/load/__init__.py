"""Load generators as they are run, one package each."""

from mqperf.base.registry import Registry
from mqperf.lab.load import amqp_0_9_1, command, simulator
from mqperf.lab.load.launcher import Access, Command, Endpoint, Job, Launcher, Tool

__all__ = ["LAUNCHERS", "Access", "Command", "Endpoint", "Job", "Launcher", "Tool"]

_KNOWN = (simulator.LAUNCHER, amqp_0_9_1.LAUNCHER, command.LAUNCHER)

LAUNCHERS = Registry("launchers", _KNOWN)
