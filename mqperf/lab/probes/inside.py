"""The probe of the inside: what nodes themselves tell, second by second, of queues and memory."""

from dataclasses import asdict

from mqperf.hosts.software import path_of
from mqperf.lab.probes.probe import Probe, Program, Task, recorder
from mqperf.record.logs.inside import LOG, check

PROGRAM = "mqperf.onhost.probes.inside.watching"


def program(task: Task) -> Program | None:
    """Start it where there are nodes to be asked."""
    if not task.insides:
        return None
    machine = task.machine
    asking = dict.fromkeys(inside.asks for inside in task.insides)
    path = dict.fromkeys(folder for module in asking for folder in path_of(module, machine))
    told = [asdict(inside) for inside in task.insides]
    return recorder(task, PROGRAM, LOG, told=told, path=[*path])


PROBE = Probe(name="inside", program=program, check=check, asks_nodes=True)
