"""Programs that import ours on hosts: what is taken there for them is all that they need."""

import ast
import sys
from collections.abc import Iterator

import pytest

from mqperf.hosts import LocalHost
from mqperf.hosts.software.modules import PACKAGE, modules_in
from mqperf.lab.load import GENERATORS, amqp_0_9_1, amqp_1_0, compute_nodes
from mqperf.lab.load.amqp_1_0 import management
from mqperf.lab.load.numbered import INSIDE
from mqperf.lab.load.numbered.environment import Program
from mqperf.lab.probes import internals

PROGRAMS = (
    amqp_0_9_1.environment.PROGRAM,
    amqp_1_0.environment.PROGRAM,
    compute_nodes.environment.PROGRAM,
)


def taken(program: Program) -> list[str]:
    """The modules that a host has for a program."""
    return [*INSIDE, *(name for folder in program.inside for name in modules_in(folder))]


def imported(name: str) -> Iterator[tuple[str, str]]:
    """What a module imports: from where, and which name."""
    for node in ast.walk(ast.parse((PACKAGE / f"{name}.py").read_text())):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name} imports by dots"
            yield from ((str(node.module), alias.name) for alias in node.names)


@pytest.mark.parametrize(
    ("modules", "others"),
    [
        *((taken(one), {"numpy"}) for one in PROGRAMS),
        (management.INSIDE, set()),
        (internals.INSIDE, set()),
    ],
    ids=[*(one.name for one in PROGRAMS), management.PROGRAM, internals.PROGRAM],
)
def test_programs_have_all_their_modules(modules: list[str], others: set[str]) -> None:
    """On hosts there is nothing else of mqperf: what they import is taken there."""
    known = {f"mqperf.{name.replace('/', '.')}" for name in modules}
    assert len(known) == len(modules)
    for name in modules:
        for module, what in imported(name):
            if module.split(".")[0] == "mqperf":
                assert {module, f"{module}.{what}"} & known, (name, module, what)
            else:
                assert module.split(".")[0] in others | sys.stdlib_module_names, (name, module)


@pytest.mark.parametrize("generator", ["amqp-0-9-1", "amqp-1.0", "compute-nodes"])
def test_programs_start_on_this_machine(generator: str) -> None:
    """With nothing but what is taken there; they tell their versions."""
    found = GENERATORS[generator].try_out("any", LocalHost())
    assert found.keys() == {"mqperf", "python", "numpy"}
