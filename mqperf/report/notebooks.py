"""Notebooks executed on a folder, and as pages that load nothing from anywhere else."""

import json
import os
import re
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

from mqperf import guarded
from mqperf.errors import ReportError
from mqperf.report import executed
from mqperf.report.hosts import several
from mqperf.tables import Tables

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"

OFFLINE = """{% extends "lab/index.html.j2" %}
{% block html_head_js %}{% endblock %}
{% block jupyter_widgets %}{% endblock %}
{% block html_head_js_mathjax %}{% endblock %}
{% block html_head_js_mermaidjs %}{% endblock %}
"""
"""nbconvert's own page without the scripts that it would fetch from elsewhere."""


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook of the report: the name of its files, and its own title."""

    name: str
    title: str


ABOUT = {"wan": "links", "faults": "outages", "stress": "saturation_rates"}
"""Notebook -> the table about what it shows: with rows in that it fits."""


def fitting(path: Path, tables: Tables) -> dict[str, Mapping[str, object]]:
    """The names of the notebooks that fit ``path``, whose tables these are, and their parameters.

    They get ``path`` as it was given, so that what they show names no other folder; those of one
    test case get the first that has what they show.
    """
    found: dict[str, Mapping[str, object]] = {
        "node_cpu": {"runs": str(path)},
        "report": {"runs": str(path), "out": ""},
    }
    if several(tables["hosts"]):
        found["hosts"] = {"runs": str(path)}
    for name, about in ABOUT.items():
        if len(rows := tables[about]):
            found[name] = {"runs": str(path), "test_case": str(rows["test_case"].iloc[0])}
    if (plan := path / "plan.yaml").exists():
        sweep = {"plan": str(plan), "runs": str(path), "run_pending": False}
        found = {"thread_sweep": sweep, **found}
    return found


def execute(path: Path, folder: Path, tables: Tables) -> list[Path]:
    """The notebooks that fit ``path``, executed on it into ``folder``, as many at once as cores.

    Raises ``ReportError`` when there are no notebooks, or one fails.
    """
    if not NOTEBOOKS.is_dir():
        raise ReportError(f"{NOTEBOOKS}: no notebooks here; give --no-notebooks")
    parameters = fitting(path, tables)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(_execute, parameters.keys(), parameters.values(), repeat(folder)))


def publish(notebook: Path, folder: Path) -> Notebook:
    """Write the notebook and its HTML page into the folder.

    Raises ``ReportError`` for a notebook that is missing, is none, or was not run.
    """
    # nbconvert takes a second to load, and most reports have no notebooks
    import nbformat
    from nbconvert import HTMLExporter

    try:
        text = notebook.read_text(encoding="utf-8")
        content = nbformat.reads(text, as_version=4)
    except (OSError, ValueError, nbformat.reader.NotJSONError) as error:
        raise ReportError(f"{notebook}: not a notebook that can be read: {error}") from None
    code = [cell for cell in content.cells if cell.cell_type == "code" and cell.source.strip()]
    if code and all(cell.execution_count is None for cell in code):
        raise ReportError(f"{notebook}: was not run; give the notebook that papermill wrote")
    exporter = HTMLExporter(raw_template=OFFLINE)
    page, _resources = exporter.from_notebook_node(content)
    folder.mkdir(exist_ok=True)
    (folder / f"{notebook.stem}.html").write_text(page, encoding="utf-8")
    (folder / f"{notebook.stem}.ipynb").write_text(text, encoding="utf-8")
    return Notebook(notebook.stem, _title(text) or notebook.stem.replace("_", " "))


def _title(text: str) -> str:
    """The first heading in the notebook."""
    for cell in json.loads(text)["cells"]:
        heading = re.search(r"^# (.+)$", "".join(cell["source"]), re.MULTILINE)
        if cell["cell_type"] == "markdown" and heading:
            return heading[1].strip()
    return ""


def _execute(name: str, parameters: Mapping[str, object], folder: Path) -> Path:
    """Execute a notebook in a process of its own, whose end its kernel does not outlive."""
    copy = folder / f"{name}.ipynb"
    argv = [sys.executable, "-P", executed.__file__, str(NOTEBOOKS / copy.name), str(copy)]
    # Files by which a kernel is found belong into the folder that vanishes, too.
    env = {**os.environ, "JUPYTER_RUNTIME_DIR": str(folder / "runtime")}
    done = guarded.run([*argv, json.dumps(parameters)], env=env)
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"ended with exit code {done.returncode}"]
        raise ReportError(f"notebook {name}: {said[-1]}")
    _forget_folders(copy)
    return copy


def _forget_folders(notebook: Path) -> None:
    """Keep only the names of files in what papermill notes: a report names no folder of ours."""
    content = json.loads(notebook.read_text(encoding="utf-8"))
    noted = content["metadata"]["papermill"]
    noted |= {key: Path(noted[key]).name for key in ("input_path", "output_path")}
    notebook.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
