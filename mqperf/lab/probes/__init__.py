"""Probes: what watches the machines during a run, one module each."""

from collections.abc import Collection

from mqperf.base.registry import Registry
from mqperf.lab.probes import atop, internals
from mqperf.lab.probes.probe import WHOLE_HOST, Inside, Probe, Program, Target, Task
from mqperf.study.probes import broker_log, psutil_tables

__all__ = [
    "PROBES",
    "WHOLE_HOST",
    "Inside",
    "Probe",
    "Program",
    "Target",
    "Task",
    "chosen",
    "named",
]

PROBES = Registry("probes", (psutil_tables.PROBE, atop.PROBE, internals.PROBE, broker_log.PROBE))


def named() -> list[str]:
    """Those that a plan may name: the ones with a program."""
    return [probe.name for probe in PROBES.values() if probe.program is not None]


def chosen(names: Collection[str]) -> list[Probe]:
    """The probes of a plan with these names; those that every run has are among them."""
    return [probe for probe in PROBES.values() if probe.always or probe.name in names]
