"""A new project: a plan for a question, notebooks, and folders for what is measured."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from mqperf.base.errors import MqperfError
from mqperf.base.shipped import shipped
from mqperf.plan.questions import QUESTIONS
from mqperf_projects.front.questions import template

FILES = Path(__file__).with_name("template")
PLACES = {
    "README.md": "README.md",
    "gitignore": ".gitignore",
    "measure.yml": ".github/workflows/measure.yml",
}
"""File of the template -> its path in a project."""

FOLDERS = ("data", "reports")
NOTEBOOKS = ("thread_sweep", "node_cpu", "latency", "audit", "report")
"""Notebooks that fit every plan."""

PLAN = re.compile(r'^plan = ""', re.MULTILINE)
RUNS = re.compile(r'^runs = "[^"]*"', re.MULTILINE)
TEST_CASE = re.compile(r'^test_case = "[^"]*"', re.MULTILINE)


def check_empty(folder: Path) -> None:
    """Raise ``MqperfError`` for a folder that is not empty, and for a file."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise MqperfError(f"{folder}: it is not empty: name a new folder")


def create(folder: Path, question: str, test_case: str, plan: str) -> None:
    """Write a project around the text of a plan, into an empty folder."""
    contents = {f"{question}.yaml": plan, **dict(_files(folder, question))}
    for name in (*NOTEBOOKS, *template(question).notebooks):
        source = (shipped("notebooks") / f"{name}.ipynb").read_text(encoding="utf-8")
        contents[f"notebooks/{name}.ipynb"] = _with_parameters(source, question, test_case)
    contents |= {f"{name}/.gitkeep": "" for name in FOLDERS}
    for name, text in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _files(folder: Path, question: str) -> Iterator[tuple[str, str]]:
    replacements = {
        "@NAME@": folder.resolve().name,
        "@QUESTION@": question,
        "@TELLS@": f"It asks {QUESTIONS[question].tells}",
    }
    for name, place in PLACES.items():
        text = (FILES / name).read_text(encoding="utf-8")
        for mark, replacement in replacements.items():
            text = text.replace(mark, replacement)
        yield place, text


def _with_parameters(text: str, question: str, test_case: str) -> str:
    """Return the notebook with the plan, its runs and its test case as parameters."""
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        if "parameters" in cell["metadata"].get("tags", []):
            source = PLAN.sub(f'plan = "{question}.yaml"', "".join(cell["source"]))
            source = RUNS.sub(f'runs = "data/runs/{question}"', source)
            source = TEST_CASE.sub(f'test_case = "{test_case}"', source)
            cell["source"] = source.splitlines(keepends=True)
    return f"{json.dumps(notebook, indent=1, ensure_ascii=False)}\n"
