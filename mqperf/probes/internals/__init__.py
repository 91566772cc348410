"""The probe of the inside: what nodes themselves tell, second by second, of queues and memory."""

import json
from dataclasses import asdict

from mqperf.load.amqp_1_0 import management
from mqperf.load.numbered.environment import plain_variables
from mqperf.probes.internals.log import LOG, check
from mqperf.probes.internals.tables import disagreements, read
from mqperf.probes.probe import Probe, Program, Task, options
from mqperf.software import ALONE, modules

PROGRAM = "mqperf.probes.internals.inside.watching"
TARGETS = "inside.targets"

INSIDE = (
    *management.INSIDE,
    "load/inside/programs/control",
    *(f"probes/internals/inside/{name}" for name in ("http", "java", "rabbitmq", "routers")),
    "probes/internals/inside/watching",
)
"""All that the program imports beside the standard library."""


def program(task: Task) -> Program | None:
    """Start it where there are nodes to be asked; it stops by itself.

    Where they are, and a password, is in a file.
    """
    if not task.insides:
        return None
    machine = task.machine
    folder = machine.copied(modules(INSIDE))
    argv = (machine.python, *ALONE, "-m", PROGRAM, *options(task, TARGETS, LOG))
    targets = json.dumps([asdict(inside) for inside in task.insides])
    return Program(argv, plain_variables([folder]), {TARGETS: targets})


PROBE = Probe(
    name="inside",
    program=program,
    check=check,
    read=read,
    disagreements=disagreements,
    asks_nodes=True,
)
