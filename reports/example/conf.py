"""Sphinx configuration of this report: sphinx -b html . html."""

project = "RabbitMQ on two cores"
html_title = project
extensions = []
exclude_patterns = ["html", "notebooks", "tables"]
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["report.css"]
html_js_files = ["report.js"]
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
html_last_updated_fmt = None
