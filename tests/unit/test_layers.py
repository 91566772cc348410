"""The nine layers of a package, one folder each, and what may import what.

Packages beside mqperf may have the same layers.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import mqperf
from mqperf.hosts import HOSTS
from mqperf.lab.actions import ACTIONS
from mqperf.lab.probes import PROBES
from mqperf.lab.systems import SYSTEMS
from mqperf.plan.columns import TABLES
from mqperf.plan.load import GENERATORS
from mqperf.plan.test_cases import TEST_CASES
from mqperf.study.importer import IMPORTERS

PACKAGE = Path(mqperf.__file__).parent

LAYERS = ("onhost", "base", "plan", "record", "hosts", "lab", "study", "pages", "front")
"""Lowest first: a file imports from its own layer and lower ones."""

READ, ACT = {"study", "pages"}, {"hosts", "lab"}
"""They exchange data through the run folder only."""

HEAVY = {"pandas", "matplotlib", "seaborn", "scipy", "pyarrow", "sphinx"}
"""Slow to import, and not needed during a measurement."""

PACKAGES = (PACKAGE, *PACKAGE.parent.glob("packages/*/mqperf_*/"))
"""mqperf, and the packages beside it."""

FILES = {path: path.read_text() for package in PACKAGES for path in sorted(package.rglob("*.py"))}


@cache
def place(path: Path) -> tuple[str, ...]:
    """The package of a file, and the parts of its path in the package."""
    [package] = [package for package in PACKAGES if package in path.parents]
    return (package.name, *path.relative_to(package).parts)


def layer(path: Path) -> str:
    return place(path)[1]


@cache
def imports(path: Path) -> list[ast.Import | ast.ImportFrom]:
    """All import statements of a file."""
    nodes = ast.walk(ast.parse(FILES[path]))
    return [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]


def imported(path: Path) -> Iterator[list[str]]:
    """The names from mqperf's packages that a file imports, as their parts."""
    packages = {package.name for package in PACKAGES}
    for node in imports(path):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        yield from (parts for name in names if (parts := name.split("."))[0] in packages)


def imported_layers(path: Path) -> Iterator[str]:
    yield from (parts[1] for parts in imported(path) if len(parts) > 1 and parts[1] in LAYERS)


def test_mqperf_imports_no_package() -> None:
    """Packages extend mqperf, which works without them."""
    ours = [path for path in FILES if PACKAGE in path.parents]
    assert {parts[0] for path in ours for parts in imported(path)} == {"mqperf"}


def test_imports_point_downwards() -> None:
    """No file imports from a higher layer, and analysis never imports measurement code."""
    ours = [path for path in FILES if PACKAGE in path.parents]
    assert {layer(path) for path in ours} == {*LAYERS, "__init__.py", "__main__.py"}
    inside = [path for path in FILES if layer(path) in LAYERS]
    wrong = [
        f"{'/'.join(place(path))} imports {other}"
        for path in inside
        for other in imported_layers(path)
        if LAYERS.index(other) > LAYERS.index(layer(path))
        or (layer(path) in READ and other in ACT)
        or (layer(path) == "onhost" and other != "onhost")
    ]
    assert wrong == []


@pytest.mark.starts_programs
def test_acting_stays_light() -> None:
    """Programs that run during a measurement do not load the libraries of the analysis."""
    program = "import sys, mqperf.front.cli, mqperf.lab.runner;"
    program += "from mqperf.lab.load import LAUNCHERS; from mqperf.lab.systems import SYSTEMS;"
    program += "len(LAUNCHERS), len(SYSTEMS); print(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-c", program], text=True)
    assert HEAVY & set(loaded.split()) == set()


SAMPLES = PACKAGE.parent / "data/samples/runs"


@pytest.mark.starts_programs
@pytest.mark.parametrize(
    ("arguments", "left_out"),
    [
        (["--version"], {"pydantic", "yaml", "numpy", "importlib.metadata"}),
        (["--help"], {"pydantic", "yaml", "numpy", "psutil"}),
        (["plan", "--help"], {"yaml", "numpy", "psutil"}),
        (["plan", str(SAMPLES / "plan.yaml")], {"numpy", "amqp", "multiprocessing"}),
        (["status", str(SAMPLES)], {"numpy", "mqperf.hosts", "mqperf.lab", "multiprocessing"}),
    ],
    ids=["version", "help", "help of plan", "plan", "status"],
)
def test_a_command_loads_only_what_it_needs(arguments: list[str], left_out: set[str]) -> None:
    """Commands that print a line do not load libraries that they do not use."""
    program = "import atexit, sys; from mqperf.front.cli import main;"
    program += "atexit.register(lambda: print(*sys.modules, file=sys.stderr)); main()"
    argv = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert (HEAVY | left_out) & set(done.stderr.split()) == set()


def test_processes_are_started_in_one_way() -> None:
    """Only mqperf's process modules start or fork processes, so that all end with mqperf.

    Five programs on hosts may, too: their guardian ends what they start.  A background sweep of
    the notebook outlives its parent by design.
    """
    starts = re.compile(
        r"(subprocess\.(run|Popen|call|check_\w+)|os\.(fork|spawn|system)"
        r"|ProcessPool\w+|multiprocessing)\b"
    )
    files = {"/".join(place(path)[:-1]) for path, text in FILES.items() if starts.search(text)}
    starting = ("atop", "command", "diagnosis", "flame", "links")
    programs = {f"mqperf_{name}/onhost" for name in starting}
    outliving = {"mqperf_notebook/front"}
    assert files - programs - outliving == {"mqperf/base/processes", "mqperf/onhost/processes"}


def test_launchers_start_nothing() -> None:
    """The host runs commands and tools; only links are made on this machine."""
    of_packages = [
        path
        for path in FILES
        if place(path)[0] not in {"mqperf", "mqperf_links"} and layer(path) == "lab"
    ]
    files = [*of_packages, *(path for path in FILES if (PACKAGE / "lab/load") in path.parents)]
    assert [path for path in files if "processes" in {*map(str, imported_words(path))}] == []


def imported_words(path: Path) -> set[str]:
    """The last parts of the modules that a file imports from, and the imported names."""
    nodes = [node for node in imports(path) if isinstance(node, ast.ImportFrom)]
    pairs = [(str(node.module).split("."), [alias.name for alias in node.names]) for node in nodes]
    return {
        word for parts, names in pairs if parts[:2] == ["mqperf", "base"] for word in parts + names
    }


REGISTRIES = (TEST_CASES, GENERATORS, PROBES, SYSTEMS, ACTIONS, HOSTS, IMPORTERS)
GENERIC = (
    "lab/runner",
    "study/tables",
    "study/stats",
    "pages",
    "front/plan_words.py",
    "front/preview.py",
    "front/progress.py",
    "front/status.py",
)
"""Code that uses registries, but none of their values."""

SPECIFIC = ("pages/latency_maps.py", "pages/notebook.py", "pages/one_run.py")
"""Code for one value of a registry."""

PLAIN_WORDS = {
    "command",
    "inside",
    "kill",
    "partition",
    "publish",
    "request",
    "script",
    "stop",
    "waits",
}
"""Names that are common words, too: searched only in comparisons and look-ups."""


def test_generic_code_names_no_value_of_a_registry() -> None:
    """A new generator, probe, test case, system or action changes none of these files."""
    names = {name for registry in REGISTRIES for name in registry}
    alternatives = "|".join(map(re.escape, names - PLAIN_WORDS))
    asked = "|".join(rf"(?:[=!]=|\bin|\[) *[\"']{re.escape(name)}[\"']" for name in PLAIN_WORDS)
    words = re.compile(rf"(?<![\w-])({alternatives})(?![\w-])|{asked}", re.IGNORECASE)
    files = [
        file
        for name in GENERIC
        for file in (
            (PACKAGE / name).rglob("*.*") if (PACKAGE / name).is_dir() else [PACKAGE / name]
        )
        if file.suffix in {".py", ".j2"}
        and not any((PACKAGE / view) in {file, *file.parents} for view in SPECIFIC)
    ]
    assert len(files) > 60
    uses = {
        f"{file.relative_to(PACKAGE)}:{number}: {match[0]}"
        for file in files
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if (match := words.search(line))
    }
    assert uses == set()


def test_generic_tables_name_none_of_a_generator_or_probe() -> None:
    """Code for all tables has no name of a table that a generator or probe adds."""
    added = {*TABLES} - {*TABLES.own}
    assert {"steps", "outcomes", "node_metrics", "node_summary"} <= added
    words = re.compile(rf"[\"']({'|'.join(map(re.escape, added))})[\"']")
    files = [*(PACKAGE / "plan").rglob("*.py"), *(PACKAGE / "study/tables").rglob("*.py")]
    assert [file.name for file in files if words.search(file.read_text())] == []
