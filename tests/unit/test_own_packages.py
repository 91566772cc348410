"""Packages in packages/: their metadata, and error messages if one is not installed."""

import re
import shutil
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from refused import refused
from typer.testing import CliRunner

import mqperf
from mqperf.base import packages
from mqperf.base.errors import HostError, PlanError, TableError
from mqperf.base.packages import BROUGHT
from mqperf.front.cli import app
from mqperf.front.commands import COMMANDS
from mqperf.hosts import HOSTS
from mqperf.lab.actions import ACTIONS
from mqperf.lab.load import LAUNCHERS
from mqperf.lab.probes import PROBES
from mqperf.lab.systems import SYSTEMS
from mqperf.lab.systems.in_plans import problems_of
from mqperf.lab.systems.rabbitmq import settings
from mqperf.lab.systems.rabbitmq.settings import EXTENSIONS, Settings
from mqperf.plan.columns import COLUMNS
from mqperf.plan.columns.parameters import parameter_columns
from mqperf.plan.file import load_plan
from mqperf.plan.file.forms import FORMS
from mqperf.plan.load import GENERATORS
from mqperf.plan.test_cases import TEST_CASES
from mqperf.plan.topologies import FAMILIES
from mqperf.study import tables
from mqperf.study.load import LOAD_READERS
from mqperf.study.probes import PROBE_READERS
from mqperf.study.probes.node_metrics import INSIDE_READERS

if TYPE_CHECKING:
    from mqperf.base.registry import Registry

ROOT = Path(__file__).parents[2]
FOLDERS = sorted(file.parent for file in ROOT.glob("packages/*/pyproject.toml"))

WATCHED = """\
systems: {rabbitmq: {topologies: [cmsm]}}
test_cases: [rpc-call]
probes: [atop]
load: {green_threads: [1], duration_s: 1}
"""

TUNED = """\
systems: {{rabbitmq: {{topologies: [cmsm], settings: {{{}}}}}}}
test_cases: [rpc-call]
load: {{green_threads: [1], duration_s: 1}}
"""

SCRIPTED = """\
systems: {rabbitmq: {topologies: [cmsm]}}
test_cases: [rpc-call]
load: {green_threads: [1], duration_s: 9}
actions: [{do: script, host: local, at_s: 1, for_s: 2}]
"""

each_package = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


def project(folder: Path) -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    return table


@each_package
def test_a_package_is_called_as_its_folder(folder: Path) -> None:
    """It has one folder of typed modules, and a README."""
    assert project(folder)["name"] == folder.name
    assert (folder / folder.name.replace("-", "_") / "py.typed").exists()
    assert (folder / "README.md").exists()


@each_package
def test_what_a_package_needs_is_installed_with_it(folder: Path) -> None:
    """Dependencies are in the lock file; conda installs the package in place."""
    lines = (ROOT / "requirements/dev.txt").read_text().splitlines()
    pins = {Requirement(line.removesuffix("\\")).name for line in lines if "==" in line}
    needs = {Requirement(package).name for package in project(folder)["dependencies"]}
    ours = {"mqperf", *(package.name for package in FOLDERS)}
    assert {canonicalize_name(name) for name in needs - ours} <= pins
    *_, last = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    assert f"--editable packages/{folder.name}" in last["pip"]


@each_package
def test_what_a_package_needs_of_ours_is_in_the_command_that_installs_it(folder: Path) -> None:
    """The README's command has all packages of mqperf that it needs."""
    page = (folder / "README.md").read_text()
    if (command := re.search(r"^pip install packages/(\S+)$", page, re.MULTILINE)) is None:
        return  # packages that need it install it
    head, _, names = command[1].partition("{")
    installed = {f"{head}{name}" for name in names.rstrip("}").split(",")}
    needed, known = [folder.name], {package.name for package in FOLDERS}
    for name in needed:  # grows meanwhile
        needs = {Requirement(each).name for each in project(folder.parent / name)["dependencies"]}
        needed += needs & known - {*needed}
    assert {*needed} <= installed


@each_package
def test_all_names_of_a_package_are_registered(folder: Path) -> None:
    """All its names in plans, logs and notebooks are registered in mqperf."""
    entry_points = project(folder).get("entry-points", {})
    groups = [
        "generators",
        "probes",
        "actions",
        "links",
        "test_cases",
        "systems",
        "inside_readers",
        "hosts",
        "questions",
    ]
    names = {name for group in groups for name in entry_points.get(f"mqperf.{group}", ())}
    names |= {f"mqperf {name}" for name in entry_points.get("mqperf.commands", ())}
    names |= {f"mqperf.{name}" for name in entry_points.get("mqperf.functions", ())}
    names |= {f".{suffix}" for suffix in entry_points.get("mqperf.plan_forms", ())}
    module = f"from {folder.name.replace('-', '_')}."
    notebooks = (ROOT / "notebooks").glob("*.ipynb")
    names |= {notebook.name for notebook in notebooks if module in notebook.read_text()}
    for name in entry_points.get("mqperf.rabbitmq_settings", ()):
        names |= {*EXTENSIONS[name].model_fields} - {*Settings.model_fields}
    assert names == {name for name, package in BROUGHT.items() if package == folder.name}


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Only mqperf itself is installed."""
    assert COLUMNS  # loads the columns of all packages before
    every: list[Registry[Any]] = [TEST_CASES, GENERATORS, LAUNCHERS, LOAD_READERS, FORMS]
    every += [SYSTEMS, FAMILIES, INSIDE_READERS, COMMANDS, PROBES, PROBE_READERS, ACTIONS, HOSTS]
    for registry in every:
        ours = {name: registry[name] for name in registry.own}
        monkeypatch.setattr(registry, "_values", ours)
    monkeypatch.setattr(packages, "find_spec", lambda _: None)
    yield
    parameter_columns.cache_clear()  # depends on the generators


def test_settings_tell_which_package_they_lack(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with unknown keys, the error names the key."""
    monkeypatch.setattr(EXTENSIONS, "_values", {})
    monkeypatch.setattr(settings, "_model", settings._model.__wrapped__)
    for setting in ("preset: none", "config: {}", "metrics: true", "streams: true"):
        package = "mqperf-streams" if setting == "streams: true" else "mqperf-rabbitmq"
        refused(TUNED.format(setting), f"unknown key; install {package}")


@pytest.mark.usefixtures("alone")
def test_a_plan_tells_which_package_it_lacks(tmp_path: Path) -> None:
    """For its generator, test case, system, or the suffix of its file."""
    with pytest.raises(PlanError) as error:
        load_plan(ROOT / "plans/vm-creation.yaml", problems_of)
    for kind in ("generator", "test case"):
        assert f"unknown {kind} 'rpc-chain'; install mqperf-openstack" in str(error.value)
    with pytest.raises(PlanError, match="unknown generator 'compute-nodes'; install mqperf-openst"):
        load_plan(ROOT / "plans/compute-nodes.yaml", problems_of)
    with pytest.raises(PlanError) as error:
        load_plan(ROOT / "plans/search-quick.yaml", problems_of)
    for kind, name in (("generator", "amqp-0-9-1"), ("test case", "publish")):
        assert f"unknown {kind} {name!r}; install mqperf-amqp-0-9-1" in str(error.value)
    beside = r"background entry 1.generator: unknown generator 'amqp-0-9-1'; install mqperf-amqp-0"
    with pytest.raises(PlanError, match=beside):
        load_plan(ROOT / "plans/wan-quick.yaml", problems_of)
    refused(WATCHED, "unknown probe 'atop'; install mqperf-atop")
    refused(SCRIPTED, "unknown action 'script'; install mqperf-command")
    with pytest.raises(PlanError, match="unknown system 'artemis-ha'; install mqperf-activemq"):
        load_plan(ROOT / "plans/artemis-faults.yaml", problems_of)
    with pytest.raises(PlanError, match="unknown system 'zeromq'; install mqperf-zeromq"):
        load_plan(ROOT / "plans/zeromq.yaml", problems_of)
    file = tmp_path / "stressor.conf"
    file.write_text("duration = 3\n")
    with pytest.raises(PlanError, match=r"stressor\.conf: to read it, install mqperf-openstack"):
        load_plan(file, problems_of)


@pytest.mark.usefixtures("alone")
def test_a_plan_tells_which_package_it_lacks_for_a_system() -> None:
    """Once, without errors for the topologies of that system."""
    with pytest.raises(PlanError) as error:
        load_plan(ROOT / "plans/router-quick.yaml", problems_of)
    assert "unknown generator 'amqp-1.0'; install mqperf-amqp-1-0" in str(error.value)
    [line] = [line for line in str(error.value).splitlines() if "qpid-dispatch" in line]
    assert "unknown system 'qpid-dispatch'; install mqperf-routers, the package that" in line


@pytest.mark.usefixtures("alone")
def test_a_plan_tells_which_package_it_lacks_for_its_hosts() -> None:
    """For mqperf plan and run, and hosts from plan or option."""
    message = "^hosts 'laboratory': there is no such inventory, and no such kind; install"
    message += " mqperf-laboratory, the package that brings it$"
    for words in (["plans/hosts.yaml"], ["plans/smoke.yaml", "--hosts", "laboratory"]):
        for command in ("plan", "run"):
            error = CliRunner().invoke(app, [command, str(ROOT / words[0]), *words[1:]]).exception
            with pytest.raises(HostError, match=message):
                raise error or AssertionError(words)


@pytest.mark.usefixtures("alone")
def test_a_command_tells_which_package_it_lacks() -> None:
    """Unknown names are usage errors."""
    error = CliRunner().invoke(app, ["topology", "plan.yaml"]).exception
    assert str(error) == "topology: to get this command, install mqperf-routers"
    error = CliRunner().invoke(app, ["laboratory"]).exception
    assert str(error) == "laboratory: to get this command, install mqperf-laboratory"
    error = CliRunner().invoke(app, ["trend", "a", "b"]).exception
    assert str(error) == "trend: to get this command, install mqperf-trend"
    assert CliRunner().invoke(app, ["topologie"]).exit_code == 2


@pytest.mark.usefixtures("alone")
def test_a_function_tells_which_package_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unknown names have no hint."""
    monkeypatch.setattr(metadata, "entry_points", lambda **_: ())
    for name, hint in (("attach", "; install mqperf-notebook"), ("atach", "")):
        with pytest.raises(AttributeError, match=f"no attribute .{name}.{hint}$"):
            getattr(mqperf, name)


@pytest.mark.usefixtures("alone")
def test_runs_tell_which_package_they_lack() -> None:
    """Reading the runs raises an error with the package."""
    with pytest.raises(TableError, match="install mqperf-openstack"):
        tables.read(ROOT / "data/samples/wan")
    with pytest.raises(TableError, match=r"'amqp-1.0' is not known here: install mqperf-amqp-1-0"):
        tables.read(ROOT / "data/samples/faults")
    with pytest.raises(TableError, match="install mqperf-amqp-0-9-1"):
        tables.read(ROOT / "data/samples/stress")


def test_answers_of_nodes_tell_which_package_they_lack(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for node metrics."""
    ours = {name: INSIDE_READERS[name] for name in INSIDE_READERS.own}
    monkeypatch.setattr(INSIDE_READERS, "_values", ours)
    message = "answers of 'jolokia' are not known here: install mqperf-activemq"
    with pytest.raises(TableError, match=message):
        tables.read(ROOT / "data/samples/inside/transfers")


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("place", ["atop", "rabbitmq-cmsm/probes/local/atop.log"])
def test_records_of_a_probe_tell_which_package_they_lack(tmp_path: Path, place: str) -> None:
    """In a run or beside the runs: figures and doubts would be missing."""
    runs = tmp_path / "runs"
    shutil.copytree(ROOT / "data/samples/runs", runs)
    (runs / place).mkdir(parents=True)
    with pytest.raises(TableError, match=f"runs/{place}: to read it, install mqperf-atop"):
        tables.read(runs)


@pytest.mark.usefixtures("alone")
def test_a_folder_called_as_a_system_needs_no_package(tmp_path: Path) -> None:
    """Beside the runs only probes have folders."""
    runs = tmp_path / "runs"
    shutil.copytree(ROOT / "data/samples/runs", runs)
    (runs / "artemis").mkdir()
    assert len(tables.read(runs)["runs"])


def test_routers_tell_which_package_their_broker_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is at the topology with a broker; others need no package."""
    monkeypatch.setattr(SYSTEMS, "_values", {"qpid-dispatch": SYSTEMS["qpid-dispatch"]})
    plan = {"systems": {"qpid-dispatch": {"topologies": ["line", "broker-between"]}}}
    [problem] = [candidate for candidate in problems_of(plan) if "topologies" in candidate.where]
    assert problem.where[-1] == 1
    assert problem.text.endswith("is of the system artemis: install mqperf-activemq")
