"""Probes: what watches the machines during a run, one module each."""

from mqperf.probes import atop_log, broker_log, psutil_tables
from mqperf.probes.probe import Probe, Program, Target, Task
from mqperf.registry import Registry

__all__ = ["PROBES", "Probe", "Program", "Target", "Task"]

PROBES = Registry("probes", (psutil_tables.PROBE, atop_log.PROBE, broker_log.PROBE))
