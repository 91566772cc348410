"""How Sphinx builds the documentation: ./noxw -s docs."""

import sys
from pathlib import Path

from mqperf import __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "mqperf"
author = "the mqperf authors"
copyright = author
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton", "mqperf_docs"]
exclude_patterns = ["_build", "_ext"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_typehints = "signature"
autodoc_typehints_format = "short"
maximum_signature_line_length = 80
autodoc_member_order = "bysource"

copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
copybutton_remove_prompts = True

html_theme = "furo"
html_title = f"mqperf {version}"
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["docs.css"]
