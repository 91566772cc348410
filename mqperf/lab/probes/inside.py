"""The probe of the inside: what nodes themselves tell, second by second, of queues and memory."""

import json
from dataclasses import asdict

from mqperf.hosts.software import ALONE, path_of, plain_variables
from mqperf.lab.probes.probe import Probe, Program, Task, options
from mqperf.record.logs.inside import LOG, check

PROGRAM = "mqperf.onhost.probes.inside.watching"
TARGETS = "inside.targets"


def program(task: Task) -> Program | None:
    """Start it where there are nodes to be asked; it stops by itself.

    Where they are, and a password, is in a file.
    """
    if not task.insides:
        return None
    machine = task.machine
    asking = dict.fromkeys(inside.asks for inside in task.insides)
    path = dict.fromkeys(folder for module in asking for folder in path_of(module, machine))
    argv = (machine.python, *ALONE, "-m", PROGRAM, *options(task, TARGETS, LOG))
    targets = json.dumps([asdict(inside) for inside in task.insides])
    return Program(argv, plain_variables([*path]), {TARGETS: targets})


PROBE = Probe(name="inside", program=program, check=check, asks_nodes=True)
