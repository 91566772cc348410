"""Sections as the output of a cell: interactive drawings in a notebook, elsewhere text."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from typing_extensions import override

from mqperf.pages import notebook
from mqperf.pages.figures.svg import as_svg
from mqperf.pages.questions.first_screen import USUAL_WIDTH
from mqperf.pages.report.drawings import Drawing
from mqperf.pages.sections import Content, forms


@dataclass(frozen=True, slots=True, repr=False)
class Shown:
    """An output as HTML and as text."""

    html: str
    text: str

    @classmethod
    def of(cls, title: str, contents: Sequence[Content]) -> "Shown":
        """Create the output of sections below a title."""
        lines = (line for content in contents for line in forms.lines(content, USUAL_WIDTH))
        html = f"<h3>{escape(title)}</h3>" + "".join(map(_html, contents))
        return cls(html, "\n".join([title, *lines]))

    @classmethod
    def of_error(cls, error: Exception) -> "Shown":
        """Create the output of an error."""
        return cls(f"<p>{escape(str(error))}</p>", str(error))

    @override
    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.html


def _html(content: Content) -> str:
    words = " ".join(map(forms.plain, content.words))
    parts = [f"<h4>{escape(content.heading)}</h4><p>{escape(words)}</p>"]
    if content.drawing is not None:
        parts.append(_object(content.drawing))
    if content.rows is not None:
        parts.append(notebook.as_html(forms.frame(content)))
    return "".join(parts)


def _object(drawing: Drawing) -> str:
    """Return a drawing as interactive SVG; an untrusted notebook shows its alternative text."""
    figure = drawing.figure()
    width, height = figure.get_size_inches()
    svg = as_svg(figure, drawing.name, title=drawing.caption, description=drawing.alt)
    data = f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
    style = f"width: min(100%, {width:g}in); aspect-ratio: {width:g} / {height:g}"
    words = escape(drawing.alt)
    return f'<object type="image/svg+xml" data="{data}" style="{style}">{words}</object>'
