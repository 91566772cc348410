"""Rules beyond linters: for whole files and for notebooks."""

import ast
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
NOTEBOOKS = sorted(ROOT.glob("notebooks/**/*.ipynb"))

# Each machine configures its own package index.
REGISTRY = re.compile(
    r"pypi\.org|pythonhosted\.org|crates\.io|proxy\.golang\.org|npmjs\.(?:org|com)"
    r"|maven\.org|(?:deb|security)\.debian\.org|archive\.ubuntu\.com|anaconda\.(?:org|com)"
)
# Absolute paths of one machine are wrong on others.
MACHINE = re.compile(r"(?<![\w.~*{}])/(?:root|work|home/\w+|Users/\w+)/")

# Conflict markers of a merge.
MERGE = re.compile(r"^(?:<{7}|>{7}) \S.*$", re.MULTILINE)

Cell = dict[str, Any]


def texts() -> list[Path]:
    """All text files that are tracked by git or may be added."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    paths = [ROOT / name for name in names.split("\0") if name]
    return [path for path in paths if path.is_file() and b"\0" not in path.read_bytes()]


def mentions(pattern: re.Pattern[str], path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8", errors="replace")
    return [f"{path.relative_to(ROOT)}: {match[0]}" for match in pattern.finditer(text)]


@pytest.mark.starts_programs
@pytest.mark.parametrize(
    "pattern", [REGISTRY, MACHINE, MERGE], ids=["registry", "machine", "merge"]
)
def test_files_name_no_registry_no_machine_and_no_branch(pattern: re.Pattern[str]) -> None:
    """No file has a package index, a local path or a conflict marker."""
    assert [mention for path in texts() for mention in mentions(pattern, path)] == []


def cells(notebook: Path, kind: str | None = None) -> list[Cell]:
    every_cell: list[Cell] = json.loads(notebook.read_text())["cells"]
    return [cell for cell in every_cell if kind in (None, cell["cell_type"])]


def source(cell: Cell) -> str:
    """The source of a cell without IPython magics."""
    lines = "".join(cell["source"]).splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith(("%", "!")))


def draws(cell: Cell) -> bool:
    return cell["cell_type"] == "code" and bool(re.search(r"\bfigures\.|\.plot\b", source(cell)))


each_notebook = pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)


@each_notebook
def test_notebook_is_committed_without_outputs(notebook: Path) -> None:
    """Code cells have neither outputs nor execution counts."""
    for cell in cells(notebook, "code"):
        assert (cell["outputs"], cell["execution_count"]) == ([], None)


@each_notebook
def test_notebook_has_one_cell_of_parameters(notebook: Path) -> None:
    """papermill replaces exactly one tagged cell."""
    tags = [tag for cell in cells(notebook) for tag in cell["metadata"].get("tags", [])]
    assert tags.count("parameters") == 1


@each_notebook
def test_notebook_defines_nothing(notebook: Path) -> None:
    """Notebooks call the library, and define no functions or classes."""
    definitions = ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda
    for cell in cells(notebook, "code"):
        assert not [n for n in ast.walk(ast.parse(source(cell))) if isinstance(n, definitions)]


@each_notebook
def test_notebook_speaks_before_it_draws(notebook: Path) -> None:
    """Each figure follows a cell of text that says what to look for."""
    every_cell = cells(notebook)
    for before, cell in zip([None, *every_cell], every_cell, strict=False):
        if draws(cell):
            assert before is not None
            assert before["cell_type"] == "markdown"
