"""Directives that write the reference from the code, so that the two cannot drift apart.

Each directive replaces itself by Markdown; the text is made by a plain function.
"""

from collections.abc import Callable
from typing import ClassVar

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from . import command_line, data_dictionary, doubt_kinds, limits, plan_keys

DIRECTIVES: dict[str, Callable[[], str]] = {
    "command-line": command_line.markdown,
    "data-dictionary": data_dictionary.markdown,
    "doubt-kinds": doubt_kinds.markdown,
    "limits": limits.markdown,
    "plan-keys": plan_keys.markdown,
    "plan-limits": plan_keys.limits,
}


class Generated(SphinxDirective):
    """Whatever the code says at the moment of building."""

    write: ClassVar[Callable[[], str]]

    def run(self) -> list[nodes.Node]:
        """Parse the text in the place of the directive."""
        self.env.note_reread()  # the code may have changed where this page has not
        return self.parse_text_to_nodes(type(self).write(), allow_section_headings=True)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directives."""
    for name, write in DIRECTIVES.items():
        app.add_directive(name, type(name, (Generated,), {"write": staticmethod(write)}))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
