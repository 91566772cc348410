"""Sphinx configuration of a report: sphinx-build REPORT REPORT/html."""

import html
import json
from pathlib import Path

project = json.loads(Path(__file__).with_name("report.json").read_text(encoding="utf-8"))["title"]
html_title = html.escape(project)
extensions = []
exclude_patterns = ["html", "notebooks", "tables"]
smartquotes = False
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["report.css"]
html_js_files = ["report.js"]
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
html_last_updated_fmt = None
