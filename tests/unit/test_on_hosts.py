"""What runs on hosts: the room is taken there whole, and needs nothing else of mqperf."""

import ast
import sys
from collections.abc import Iterator

import pytest

from mqperf.hosts import LocalHost
from mqperf.hosts.software import sources
from mqperf.lab.load import LAUNCHERS

BESIDE = {"numpy", "psutil", "eventlet", "greenlet", "oslo_config", "oslo_messaging", "yaml"}
"""What programs may import beside the standard library: it is made for the host."""

SOURCES = sources()


def imported(text: str) -> Iterator[str]:
    """The modules that a text names in its imports."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom) and not node.level:
            yield str(node.module)


@pytest.mark.parametrize("path", SOURCES)
def test_what_runs_on_hosts_imports_only_itself(path: str) -> None:
    """And the standard library of Python, and what is made for the host."""
    for module in imported(SOURCES[path]):
        known = module.startswith("mqperf.onhost.")
        assert known or module.partition(".")[0] in BESIDE | sys.stdlib_module_names, module


@pytest.mark.parametrize("generator", ["amqp-0-9-1", "amqp-1.0", "compute-nodes"])
def test_programs_start_on_this_machine(generator: str) -> None:
    """With nothing but what is taken there; they tell their versions."""
    versions = LAUNCHERS[generator].try_out("any", LocalHost())
    assert versions.keys() == {"mqperf", "python", "numpy"}
