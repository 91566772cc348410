"""reStructuredText as the published reports write it: titles, list-tables, images, footnotes."""

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MISSING = "\N{EN DASH}"
"""What stands where there is no number; a bare full stop confuses docutils."""


@dataclass(frozen=True, slots=True)
class Note:
    """A footnote: the label by which cells refer to it, and its sentence."""

    label: str
    text: str

    @property
    def mark(self) -> str:
        """The reference to be put behind a number."""
        return f" [#{self.label}]_"


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of finished cells, and the footnotes that its cells refer to."""

    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[Note, ...] = ()
    style: str = "numbers"


def slug(title: str) -> str:
    """The file name that belongs to a caption: its words, lower case, joined by underscores."""
    return re.sub(r"\W+", "_", re.sub(r"\(.+\)", "", title)).strip("_").lower()


def escape(text: str) -> str:
    """Text with everything that RST would take for markup made plain."""
    return re.sub(r"([\\*`|_\[\]<>])", r"\\\1", text)


def title(text: str, line: str, *, over: bool = False) -> str:
    """A title with the line below it, and above it for a document of its own."""
    rule = line * len(text)
    return f"{rule}\n{text}\n{rule}" if over else f"{text}\n{rule}"


def wrap(text: str, indent: str = "", first: str | None = None) -> str:
    """A paragraph in lines of at most 79 characters; a per cent sign stays with its number."""
    return textwrap.fill(
        text.replace(" %", "\N{NO-BREAK SPACE}%"),
        79,
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def bullets(sentences: Iterable[str]) -> str:
    """A list with one item per sentence."""
    return "\n".join(wrap(sentence, "  ", "* ") for sentence in sentences)


def image(name: str, alt: str) -> str:
    """An image whose suffix the builder chooses, with the sentence for those who do not see it."""
    told = escape(alt).replace("\n", " ")
    return f".. image:: {name}.*\n   :alt: {told}"


def table(grid: Grid) -> str:
    """A list-table, followed by its footnotes."""
    head = f".. list-table:: {grid.caption}".rstrip()
    options = ["   :header-rows: 1", *([f"   :class: {grid.style}"] if grid.style else [])]
    rows = [_row(cells) for cells in (grid.headings, *grid.rows)]
    parts = ["\n".join([head, *options, "", *rows])]
    if grid.notes:
        parts.append("\n".join(footnote(note) for note in grid.notes))
    return "\n\n".join(parts)


def footnote(note: Note) -> str:
    """The sentence of a footnote, where its marks lead."""
    return wrap(escape(note.text), "   ", f".. [#{note.label}] ")


def _row(cells: Sequence[str]) -> str:
    return "\n".join(["   *", *(f"     - {cell}".rstrip() for cell in cells)])
