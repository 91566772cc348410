"""Code that runs on hosts is complete there, and needs nothing else of mqperf."""

import ast
import sys
from collections.abc import Iterator
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from mqperf.hosts import LocalHost
from mqperf.hosts.software import path_of, sources
from mqperf.lab.load import LAUNCHERS

ALLOWED = {
    "numpy",
    "psutil",
    "eventlet",
    "greenlet",
    "proton",
    "oslo_config",
    "oslo_messaging",
    "confluent_kafka",
    "yaml",
}
"""Packages, made for the host, that programs may import beside the standard library."""

FOLDERS = Path(__file__).parents[2].glob("packages/*/*/onhost")
PACKAGES = ("mqperf", *(folder.parent.name for folder in FOLDERS))

NEEDS = {
    "mqperf_activemq": ("mqperf_numbered",),
    "mqperf_command": ("mqperf_numbered",),
    "mqperf_amqp_0_9_1": ("mqperf_numbered",),
    "mqperf_amqp_1_0": ("mqperf_numbered",),
    "mqperf_routers": ("mqperf_amqp_1_0", "mqperf_numbered"),
    "mqperf_openstack": ("mqperf_amqp_0_9_1", "mqperf_numbered"),
    "mqperf_nats": ("mqperf_numbered",),
    "mqperf_streams": ("mqperf_numbered",),
    "mqperf_traffic": ("mqperf_amqp_0_9_1", "mqperf_numbered"),
}

SOURCES = {name: text for package in PACKAGES for name, text in sources(package).items()}


def imported(text: str) -> Iterator[str]:
    """The modules that a source imports, except for type checking."""
    nodes = {*ast.walk(ast.parse(text))}
    choices = [node for node in nodes if isinstance(node, ast.If)]
    typing = [choice for choice in choices if ast.unparse(choice.test) == "TYPE_CHECKING"]
    for node in nodes.difference(*(ast.walk(choice) for choice in typing)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom) and not node.level:
            yield str(node.module)


@pytest.mark.parametrize("path", SOURCES)
def test_what_runs_on_hosts_imports_only_itself(path: str) -> None:
    """Other imports are the standard library and packages made for the host."""
    for module in imported(SOURCES[path]):
        ours = module.partition(".onhost")[0] in PACKAGES
        assert ours or module.partition(".")[0] in ALLOWED | sys.stdlib_module_names, module


@pytest.mark.starts_programs
@pytest.mark.parametrize("generator", ["amqp-0-9-1", "amqp-1.0", "compute-nodes"])
def test_programs_start_on_this_machine(generator: str) -> None:
    """They report their versions with only the copied code."""
    versions = LAUNCHERS[generator].try_out("any", LocalHost())
    assert versions.keys() == {"mqperf", "python", "numpy"}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_program_finds_its_package_and_what_that_builds_on(package: str) -> None:
    """The path has the onhost folders of these packages, byte-compiled, and nothing else."""
    folders = path_of(f"{package}.onhost.program", LocalHost())
    files = {file for folder in folders for file in folder.rglob("*.py")}
    assert all(Path(cache_from_source(str(file))).exists() for file in files)
    names = {
        str(file.relative_to(folder))
        for folder in folders
        for file in files
        if folder in file.parents
    }
    packages = ("mqperf", *NEEDS.get(package, ()), package)
    assert names == {name for each in packages for name in sources(each)}
