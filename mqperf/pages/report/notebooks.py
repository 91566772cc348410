"""Execution of notebooks on a folder, and their conversion to self-contained HTML pages."""

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from mqperf.base import processes
from mqperf.base.errors import ReportError
from mqperf.base.one_line import one_line
from mqperf.base.packages import lacking, need
from mqperf.base.shipped import shipped
from mqperf.pages.report import executed
from mqperf.pages.report.hosts import several
from mqperf.record import PLAN
from mqperf.study.tables import Tables

NOTEBOOKS = shipped("notebooks")

LONGEST_ERROR = 300
"""Most characters of a cell's error on a page."""

OFFLINE = """{% extends "lab/index.html.j2" %}
{% block html_head_js %}{% endblock %}
{% block jupyter_widgets %}{% endblock %}
{% block html_head_js_mathjax %}{% endblock %}
{% block html_head_js_mermaidjs %}{% endblock %}
"""
"""The page template of nbconvert without scripts that a browser would fetch from elsewhere."""


Executed = Callable[[], Mapping[Path, str]]
"""Waits for executed notebooks, and returns each with the reason of its failure, if any."""


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook of the report: name of its files, title, and the reason if files are missing."""

    name: str
    title: str
    missing: str = ""


ABOUT = {"wan": "links", "faults": "outages", "stress": "saturation_rates"}
"""Notebook -> the table that must have rows for the notebook to apply."""


def fitting(path: Path, tables: Tables) -> dict[str, Mapping[str, object]]:
    """Return the notebooks that apply to ``path`` with these tables, and their parameters.

    They get ``path`` as it was given, so that their output names no other folder.  Those on one
    test case get the first one in the table that they show.
    """
    parameters: dict[str, Mapping[str, object]] = {
        "node_cpu": {"runs": str(path)},
        "report": {"runs": str(path), "out": ""},
    }
    if several(tables["hosts"]) and lacking("hosts.ipynb") is None:
        parameters["hosts"] = {"runs": str(path)}
    for name, table in ABOUT.items():
        if len(rows := tables[table]):
            parameters[name] = {"runs": str(path), "test_case": str(rows["test_case"].iloc[0])}
    if (plan := path / PLAN).exists():
        sweep = {"plan": str(plan), "runs": str(path), "run_pending": False}
        parameters = {"thread_sweep": sweep, **parameters}
    return parameters


@contextmanager
def executing() -> Iterator[Callable[[Path, Tables], Executed]]:
    """Start a kernel that executes notebooks in the background.

    Yields a function of a path and its tables: it starts the notebooks that apply to them, and
    returns a function that waits for their end.  Raises ``ReportError`` if there are no notebooks.
    """
    if not NOTEBOOKS.is_dir():
        raise ReportError(f"{NOTEBOOKS}: no notebooks here; give --no-notebooks")
    need("notebook", "or give --no-notebooks")
    with processes.scratch("notebooks") as folder:
        argv = [sys.executable, "-P", executed.__file__, str(folder)]
        # The connection files of the kernel belong in the scratch folder, too.
        env = {**os.environ, "JUPYTER_RUNTIME_DIR": str(folder / "runtime")}
        process = processes.start("the notebooks", argv, env=env, log=folder / "log", cwd=None)
        try:
            yield partial(_start, process, folder)
        finally:
            process.stop(0)


def _start(process: processes.Process, folder: Path, path: Path, tables: Tables) -> Executed:
    """Write the list of notebooks to execute, and return a function that waits for them."""
    copies = {folder / f"{name}.ipynb": values for name, values in fitting(path, tables).items()}
    jobs = [(str(NOTEBOOKS / copy.name), str(copy), values) for copy, values in copies.items()]
    (folder / "jobs").write_text(json.dumps(jobs), encoding="utf-8")
    (folder / "jobs").rename(folder / executed.JOBS)
    return cache(partial(_wait, process, list(copies)))


def _wait(process: processes.Process, copies: Sequence[Path]) -> Mapping[Path, str]:
    """Wait for the notebooks, and return each with the reason of its failure, if any."""
    while (code := process.poll()) is None:
        time.sleep(0.05)
    if code:
        lines = process.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return dict.fromkeys(copies, (lines or [f"ended with exit code {code}"])[-1])
    errors = json.loads(process.log.with_name(executed.ERRORS).read_text(encoding="utf-8"))
    outcomes = {copy: one_line(errors.get(str(copy), ""), LONGEST_ERROR) for copy in copies}
    for copy in copies:
        if not outcomes[copy]:
            _forget_folders(copy)
    return outcomes


def publish(notebook: Path, folder: Path, missing: str = "") -> Notebook:
    """Write the notebook and its HTML page into the folder, unless it is ``missing``.

    Raises ``ReportError`` for a file that does not exist, or is not a notebook.
    """
    if missing:
        text = (NOTEBOOKS / notebook.name).read_text(encoding="utf-8")
        return Notebook(notebook.stem, _title(text), missing)
    # halves the time to load nbconvert: parsers of URLs that no notebook has; see ``executed``
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    import nbformat
    from nbconvert import HTMLExporter

    try:
        text = notebook.read_text(encoding="utf-8")
        content = nbformat.reads(text, as_version=4)
    except (OSError, ValueError, nbformat.reader.NotJSONError) as error:
        raise ReportError(f"{notebook}: cannot be read as a notebook: {error}") from None
    exporter = HTMLExporter(raw_template=OFFLINE)
    page, _resources = exporter.from_notebook_node(content)
    folder.mkdir(exist_ok=True)
    (folder / f"{notebook.stem}.html").write_text(page, encoding="utf-8")
    (folder / f"{notebook.stem}.ipynb").write_text(text, encoding="utf-8")
    return Notebook(notebook.stem, _title(text) or notebook.stem.replace("_", " "))


def _title(text: str) -> str:
    """Return the first heading in the notebook."""
    for cell in json.loads(text)["cells"]:
        heading = re.search(r"^# (.+)$", "".join(cell["source"]), re.MULTILINE)
        if cell["cell_type"] == "markdown" and heading:
            return heading[1].strip()
    return ""


def _forget_folders(notebook: Path) -> None:
    """Reduce paths in papermill's metadata to file names: pages name no folder."""
    content = json.loads(notebook.read_text(encoding="utf-8"))
    metadata = content["metadata"]["papermill"]
    metadata |= {key: Path(metadata[key]).name for key in ("input_path", "output_path")}
    notebook.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
