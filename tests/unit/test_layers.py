"""The import table: who may know whom."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import mqperf
from mqperf.actions import ACTIONS
from mqperf.hosts import HOSTS
from mqperf.load import GENERATORS
from mqperf.probes import PROBES, atop
from mqperf.systems import SYSTEMS
from mqperf.test_cases import TEST_CASES

PACKAGE = Path(mqperf.__file__).parent

# Lowest first: a room imports from the lines above its own, from itself, and from errors.
LAYERS = (
    {"errors", "one_line"},
    # Both halves start processes and make temporary folders, and know networks: of neither.
    {"guarded", "networks"},
    {"version", "topologies", "registry", "urls", "cache", "raw", "terminal", "injected"},
    {"columns"},
    {"redaction", "test_cases"},
    {"software"},
    {"plan"},
    {"plan_file"},
    {"series"},
    {"record"},
    {"load", "ansible"},
    {"probes"},
    {"hosts", "tables"},
    {"published", "links"},
    {"actions"},
    {"systems", "stats", "figures"},
    {"runner", "report"},
    {"answer", "doctor", "judging", "live"},
    {"progress", "host_check"},
    {"preview", "preparation", "network_files"},
    {"hosts_cli"},
    {"notebook"},
    {"views"},
    {"one_run", "trends"},
    {"api"},
    {"cli", "__init__"},
)
LEVEL = {name: number for number, rooms in enumerate(LAYERS) for name in rooms}
# The two halves share nothing but the run folder.
ACT = {"systems", "hosts", "actions", "links", "runner"}
READ = {"series", "tables", "published", "stats", "figures", "report"}

# Slow to import, and of no use while a broker is being measured.
HEAVY = {"pandas", "matplotlib", "seaborn", "scipy", "pyarrow", "sphinx"}

COMMANDS = PACKAGE / "load" / "inside" / "programs" / "command" / "one.py"
"""Of what runs on hosts, the part that starts what the user wants."""

MODULES = sorted(PACKAGE.rglob("*.py"))


def room(path: Path) -> str:
    """The room a file stands in: its name, or its folder's, directly below the package."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> Iterator[str]:
    """The rooms that a file names in its imports, wherever in the file they stand."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "mqperf":
            yield from (alias.name for alias in node.names if not alias.name.startswith("__"))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mqperf."):
            yield str(node.module).split(".")[1]
        elif isinstance(node, ast.Import):
            names = (alias.name.split(".") for alias in node.names)
            yield from (parts[1] for parts in names if parts[0] == "mqperf" and len(parts) > 1)


def test_every_room_has_a_layer() -> None:
    """A new room is given its place in the table before it is used."""
    rooms = {room(path) for path in MODULES} - {"__main__"}
    assert rooms <= LEVEL.keys()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_downwards(path: Path) -> None:
    """A file imports only from lower rooms, and ACT and READ never from each other."""
    own = room(path)
    for other in set(imported_rooms(path)) - {own}:
        assert LEVEL[other] < LEVEL[own], f"{own} imports {other}, which is not below it"
        assert not (own in ACT and other in READ), f"{own} acts, {other} reads"
        assert not (own in READ and other in ACT), f"{own} reads, {other} acts"


def test_acting_stays_light() -> None:
    """Whatever runs beside a measurement is started without the libraries of the analysis."""
    modules = [f"mqperf.{name}" for name in sorted(ACT | {"cli"}) if exists(name)]
    program = f"import sys, {', '.join(['os', *modules])}; print(*({HEAVY} & set(sys.modules)))"
    loaded = subprocess.check_output([sys.executable, "-c", program], text=True)
    assert loaded.split() == []


def test_load_generators_start_nothing() -> None:
    """Commands and installers are the host's to run.

    A program that runs commands of the user's is started by a host itself, and ends with them.
    """
    starts = re.compile(r"guarded|subprocess\.(run|Popen)")
    for path in {*(PACKAGE / "load").rglob("*.py")} - {COMMANDS}:
        assert not starts.search(path.read_text()), path


def test_systems_know_no_load_generator_from_inside() -> None:
    """They ask it through the seam, also ZeroMQ, which is a library of the generator."""
    inside = re.compile(rf"mqperf\.load(\.| import .*\b)({'|'.join(GENERATORS)})\b")
    files = (PACKAGE / "systems").rglob("*.py")
    assert [path.name for path in files if inside.search(path.read_text())] == []


def test_processes_are_started_in_one_way() -> None:
    """Only guarded starts any, forks too: whatever else did might outlive us.

    So do two programs that hosts start: what they start ends with them, by their guardian.
    """
    starts = re.compile(
        r"(subprocess\.(run|Popen|call|check_\w+)|os\.(fork|spawn|system)|ProcessPool\w+|multiprocessing)\b"
    )
    found = {path for path in MODULES if starts.search(path.read_text())} - {atop.PROGRAM, COMMANDS}
    assert {room(path) for path in found} == {"guarded"}


SEAM_VALUES = (TEST_CASES, GENERATORS, PROBES, SYSTEMS, ACTIONS, HOSTS)
SEAMS = (
    "runner",
    "tables",
    "stats",
    "figures",
    "report",
    "doctor",
    "preview",
    "answer",
    "progress",
)
"""The rooms that know seams and no value of one."""

PLAIN_WORDS = {"command", "inside", "kill", "partition", "publish", "script", "stop"}
"""Names that are words of every day as well: they are looked for where code asks for them."""


def test_the_rooms_between_know_no_value_of_a_seam() -> None:
    """Whoever adds a generator, probe, test case, system or action touches none of them."""
    names = {name for seam in SEAM_VALUES for name in seam}
    said = "|".join(map(re.escape, names - PLAIN_WORDS))
    asked = "|".join(rf"(?:[=!]=|\bin|\[) *[\"']{re.escape(name)}[\"']" for name in PLAIN_WORDS)
    words = re.compile(rf"(?<![\w-])({said})(?![\w-])|{asked}", re.IGNORECASE)
    files = [
        file
        for name in SEAMS
        for file in (*(PACKAGE / name).rglob("*.*"), PACKAGE / f"{name}.py")
        if file.suffix in {".py", ".j2"} and file.is_file()
    ]
    assert len(files) > 60
    found = {
        f"{file.relative_to(PACKAGE)}:{number}: {match[0]}"
        for file in files
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if (match := words.search(line))
    }
    assert found == set()


def exists(name: str) -> bool:
    return (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").is_file()
