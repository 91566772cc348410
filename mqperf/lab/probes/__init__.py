"""Probes: programs that observe the machines during a run, one module each."""

from collections.abc import Collection

from mqperf.base.registry import Registry
from mqperf.lab.probes import inside, psutil
from mqperf.lab.probes.probe import Inside, Probe, Program, Task, WatchedProcess, recorder

__all__ = [
    "PROBES",
    "Inside",
    "Probe",
    "Program",
    "Task",
    "WatchedProcess",
    "chosen",
    "recorder",
]

PROBES = Registry("probes", (psutil.PROBE, inside.PROBE))


def chosen(names: Collection[str]) -> list[Probe]:
    """Return the probes with these names, and those that every run has."""
    return [probe for probe in PROBES.values() if probe.always or probe.name in names]
