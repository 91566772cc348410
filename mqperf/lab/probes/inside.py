"""The probe of node metrics: queues and memory as nodes themselves report them, each second."""

from dataclasses import asdict

from mqperf.hosts.software import path_of
from mqperf.lab.probes.probe import Probe, Program, Task, recorder
from mqperf.record.logs.inside import LOG, check

PROGRAM = "mqperf.onhost.probes.inside.watching"


def program(task: Task) -> Program | None:
    """Return the command, or None for a host without nodes that report metrics."""
    if not task.insides:
        return None
    machine = task.machine
    clients = dict.fromkeys(inside.asks for inside in task.insides)
    path = dict.fromkeys(folder for module in clients for folder in path_of(module, machine))
    endpoints = [asdict(inside) for inside in task.insides]
    return recorder(task, PROGRAM, LOG, data=endpoints, path=[*path])


PROBE = Probe(name="inside", program=program, check=check, asks_nodes=True)
