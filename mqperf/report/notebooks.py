"""Executed notebooks as pages that load nothing from anywhere else."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from mqperf.errors import ReportError

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
