"""The house: nine rooms, one floor each.  A line's room says on which machine it runs.

Packages beside mqperf may have the same rooms.
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

ROOMS = ("onhost", "base", "plan", "record", "hosts", "lab", "study", "pages", "front")
"""Lowest first: a file imports from its own room and those before it."""

READ, ACT = {"study", "pages"}, {"hosts", "lab"}
"""They share nothing but the run folder."""

HEAVY = {"pandas", "matplotlib", "seaborn", "scipy", "pyarrow", "sphinx"}
"""Slow to import, and of no use while a broker is being measured."""

HOUSES = (PACKAGE, *PACKAGE.parent.glob("packages/*/mqperf_*/"))
"""mqperf, and the packages beside it."""

FILES = {path: path.read_text() for house in HOUSES for path in sorted(house.rglob("*.py"))}


@cache
def place(path: Path) -> tuple[str, ...]:
    """The package of a file, and the way to the file from there."""
    [house] = [house for house in HOUSES if house in path.parents]
    return (house.name, *path.relative_to(house).parts)


def room(path: Path) -> str:
    return place(path)[1]


@cache
def imports(path: Path) -> list[ast.Import | ast.ImportFrom]:
    """Those of a file, wherever in it."""
    nodes = ast.walk(ast.parse(FILES[path]))
    return [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]


def imported(path: Path) -> Iterator[list[str]]:
    """What of ours a file names in its imports: the parts of each name."""
    houses = {house.name for house in HOUSES}
    for node in imports(path):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        yield from (parts for name in names if (parts := name.split("."))[0] in houses)


def imported_rooms(path: Path) -> Iterator[str]:
    yield from (parts[1] for parts in imported(path) if len(parts) > 1 and parts[1] in ROOMS)


def test_mqperf_imports_no_package() -> None:
    """Packages add to its seams, and it goes without them."""
    ours = [path for path in FILES if PACKAGE in path.parents]
    assert {parts[0] for path in ours for parts in imported(path)} == {"mqperf"}


def test_imports_point_downwards() -> None:
    """No file imports from a floor above its own, and what reads never imports what acts."""
    ours = [path for path in FILES if PACKAGE in path.parents]
    assert {room(path) for path in ours} == {*ROOMS, "__init__.py", "__main__.py"}
    inside = [path for path in FILES if room(path) in ROOMS]
    wrong = [
        f"{'/'.join(place(path))} imports {other}"
        for path in inside
        for other in imported_rooms(path)
        if ROOMS.index(other) > ROOMS.index(room(path))
        or (room(path) in READ and other in ACT)
        or (room(path) == "onhost" and other != "onhost")
    ]
    assert wrong == []


@pytest.mark.starts_programs
def test_acting_stays_light() -> None:
    """Whatever runs beside a measurement is started without the libraries of the analysis."""
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
    """Who asks for a line of text does not wait for libraries that have no part in it."""
    program = "import atexit, sys; from mqperf.front.cli import main;"
    program += "atexit.register(lambda: print(*sys.modules, file=sys.stderr)); main()"
    argv = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert (HEAVY | left_out) & set(done.stderr.split()) == set()


def test_processes_are_started_in_one_way() -> None:
    """Only what ends them with us starts any, forks too: whatever else did might outlive us.

    So do five programs that hosts start: what they start ends with them, by their guardian.  A
    sweep in the background is to outlive who started it.
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
    """Commands and tools are the host's to run; links are made on this machine."""
    of_packages = [
        path
        for path in FILES
        if place(path)[0] not in {"mqperf", "mqperf_links"} and room(path) == "lab"
    ]
    files = [*of_packages, *(path for path in FILES if (PACKAGE / "lab/load") in path.parents)]
    assert [path for path in files if "processes" in {*map(str, imported_words(path))}] == []


def imported_words(path: Path) -> set[str]:
    """The last words of the modules that a file imports from, and the names it takes."""
    nodes = [node for node in imports(path) if isinstance(node, ast.ImportFrom)]
    pairs = [(str(node.module).split("."), [alias.name for alias in node.names]) for node in nodes]
    return {
        word for parts, names in pairs if parts[:2] == ["mqperf", "base"] for word in parts + names
    }


SEAM_VALUES = (TEST_CASES, GENERATORS, PROBES, SYSTEMS, ACTIONS, HOSTS, IMPORTERS)
SEAMS = (
    "lab/runner",
    "study/tables",
    "study/stats",
    "pages",
    "front/plan_words.py",
    "front/preview.py",
    "front/progress.py",
    "front/status.py",
)
"""What knows seams, and no value of one."""

NAMED = ("pages/latency_maps.py", "pages/notebook.py", "pages/one_run.py")
"""What shows one value of a seam alone."""

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
"""Names that are words of every day as well: they are looked for where code asks for them."""


def test_the_rooms_between_know_no_value_of_a_seam() -> None:
    """Whoever adds a generator, probe, test case, system or action touches none of them."""
    names = {name for seam in SEAM_VALUES for name in seam}
    alternatives = "|".join(map(re.escape, names - PLAIN_WORDS))
    asked = "|".join(rf"(?:[=!]=|\bin|\[) *[\"']{re.escape(name)}[\"']" for name in PLAIN_WORDS)
    words = re.compile(rf"(?<![\w-])({alternatives})(?![\w-])|{asked}", re.IGNORECASE)
    files = [
        file
        for name in SEAMS
        for file in (
            (PACKAGE / name).rglob("*.*") if (PACKAGE / name).is_dir() else [PACKAGE / name]
        )
        if file.suffix in {".py", ".j2"}
        and not any((PACKAGE / view) in {file, *file.parents} for view in NAMED)
    ]
    assert len(files) > 60
    uses = {
        f"{file.relative_to(PACKAGE)}:{number}: {match[0]}"
        for file in files
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if (match := words.search(line))
    }
    assert uses == set()


def test_tables_of_every_run_know_none_that_is_brought() -> None:
    """One that a generator or a probe brings is no name to those who read, check and write all."""
    brought = {*TABLES} - {*TABLES.own}
    assert {"steps", "outcomes", "node_metrics", "node_summary"} <= brought
    words = re.compile(rf"[\"']({'|'.join(map(re.escape, brought))})[\"']")
    files = [*(PACKAGE / "plan").rglob("*.py"), *(PACKAGE / "study/tables").rglob("*.py")]
    assert [file.name for file in files if words.search(file.read_text())] == []
