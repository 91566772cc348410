"""Launchers of load generators, one package each."""

from mqperf.base.registry import Registry
from mqperf.lab.load import simulator
from mqperf.lab.load.launcher import Access, Command, Endpoint, Launcher, LoadJob, Tool

__all__ = ["LAUNCHERS", "Access", "Command", "Endpoint", "Launcher", "LoadJob", "Tool"]

LAUNCHERS = Registry("launchers", (simulator.LAUNCHER,))
