"""reStructuredText as the published reports write it: titles, list-tables, images, footnotes.

Finished RST has the type ``Text``.  Every other string is data, and is escaped when it is put into
a page: a mistake shows a superfluous backslash, and never interprets data as markup.
"""

import hashlib
import re
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass

from docutils.utils import column_width
from markupsafe import Markup
from typing_extensions import override

from mqperf.base.errors import ReportError
from mqperf.base.one_line import NAME, UNKNOWN, one_line

MISSING = "\N{EN DASH}"
"""Stands for a missing number; a bare full stop confuses docutils."""

LONGEST_FILE = 100
"""Most characters of a file name that is made from a caption."""

_PUNCTUATION = r"[!-/:-@\[-`{-~]"

_INLINE = re.compile(r"[\\*`|_<@]|:(?=\S|$)")
"""Characters that are inline markup, or begin a link, anywhere in a text."""

_AT_START = re.compile(
    rf"{_PUNCTUATION}|[\u2022\u2023\u2043]"
    r"|(?:[0-9]+|[A-Za-z]|[IVXLCDM]+|[ivxlcdm]+)[.)](?!\S)"
)
"""What makes a paragraph a list, a field, a directive, a comment or a rule at its start."""

_RULE = re.compile(rf"(?<=\s)(?=(?!\\)({_PUNCTUATION})\1{{3,}}(?!\S))")
"""Position before a word that would underline a title if wrapping put it on its own line."""

_BACKSLASHES = re.compile(r"(?<!\S)(?=(?:\\\\)+(?!\S))")
"""Position before a word of backslashes alone, which one more backslash would not change."""


class Text(Markup):
    """Finished RST, which is put into a page unchanged.

    Like those of ``Markup`` for HTML, its methods escape their arguments:
    ``Text("**{}** of {}").format(number, name)``.
    """

    __slots__ = ()

    @classmethod
    @override
    def escape(cls, value: object, /) -> "Text":
        """Escape a value for a paragraph, a cell or a title; finished RST is returned unchanged."""
        if isinstance(value, Text):
            return value
        text = _INLINE.sub(r"\\\g<0>", one_line(str(value)))
        if _AT_START.match(text) and not text.startswith("\\"):
            text = f"\\{text}"
        text = _RULE.sub(r"\\", text)
        return Text(_BACKSLASHES.sub(r"\\ ", text))


escape = Text.escape


@dataclass(frozen=True, slots=True)
class Note:
    """A footnote: its label, by which cells refer to it, and its sentence."""

    label: str
    text: str

    @property
    def mark(self) -> Text:
        """The reference to put after a number."""
        return Text(f" [#{name(self.label)}]_")


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of cells, which are text or finished RST, and the footnotes that they refer to."""

    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[Note, ...] = ()
    style: str = "numbers"


def slug(title: str) -> Text:
    """Return the file name of a caption: its words in lower case, joined by underscores.

    The end of a long name is replaced by a digest, so that no two captions share a name.
    """
    words = re.sub(r"[^a-z0-9]+", "_", re.sub(r"\(.+\)", "", title).lower()).strip("_")
    if len(words) > LONGEST_FILE:
        words = f"{words[: LONGEST_FILE - 9]}_{hashlib.sha256(words.encode()).hexdigest()[:8]}"
    return Text(words)


def name(text: str) -> Text:
    """Check a name that RST takes literally, as in a path; raises ``ReportError`` if it cannot."""
    if not NAME.fullmatch(text):
        raise ReportError(f"{one_line(text, 80)!r} cannot be the name of a file in a report")
    return Text(text)


def link(label: str, *folders: str) -> Text:
    """Return a link to the page in these nested folders."""
    page = "/".join(map(name, (*folders, "index")))
    return Text(f":doc:`{escape(label)} <{page}>`")


def download(label: str, *path: str) -> Text:
    """Return a link to a file, which Sphinx copies beside the pages."""
    return Text(f":download:`{escape(label)} <{'/'.join(map(name, path))}>`")


def title(text: str, line: str, *, over: bool = False) -> Text:
    """Return a title underlined by ``line``, and overlined as well with ``over``."""
    text = escape(text) or MISSING
    # docutils recognises shorter lines only sometimes, and characters may be two columns wide
    rule = line * max(4, len(text), column_width(text))
    return Text(f"{rule}\n{text}\n{rule}" if over else f"{text}\n{rule}")


def wrap(text: str, indent: str = "", first: str | None = None) -> Text:
    """Wrap a paragraph at 79 characters; a per cent sign stays with its number."""
    unbroken = str(escape(text)).replace(" %", "\N{NO-BREAK SPACE}%").replace("\\ ", "\\\0")
    lines = textwrap.fill(
        unbroken,
        79,
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return Text(lines.replace("\0", " "))


def paragraph(rendered: str) -> Text:
    """Wrap the output of a template's block, whose data is escaped already, as a paragraph."""
    return wrap(Text(" ".join(rendered.split()))) + Text("\n")


def bullets(sentences: Iterable[str]) -> Text:
    """Return a list with one item per sentence."""
    return Text("\n").join(wrap(sentence, "  ", "* ") for sentence in sentences)


def literal(text: str) -> Text:
    """Return a literal block of the text; characters that are not printable are replaced."""
    lines = (line.expandtabs() for line in text.splitlines())
    shown = ("".join(char if char.isprintable() else UNKNOWN for char in line) for line in lines)
    return Text("::\n\n" + "\n".join(f"    {line}".rstrip() for line in shown))


def image(file: Text, alt: str, style: str = "") -> Text:
    """Return an image, whose suffix the builder chooses, with its alternative text.

    The values of options are not escaped: they are no markup, and a screen reader would read
    backslashes aloud.  ``style`` is a CSS class.
    """
    directive = f".. image:: {file}.*\n   :alt: {one_line(alt)}"
    return Text(f"{directive}\n   :class: {name(style)}" if style else directive)


def table(grid: Grid) -> Text:
    """Return a list-table, followed by its footnotes."""
    head = f".. list-table:: {escape(grid.caption)}".rstrip()
    options = ["   :header-rows: 1", *([f"   :class: {grid.style}"] if grid.style else [])]
    rows = [
        "\n".join(["   *", *(f"     - {escape(cell)}".rstrip() for cell in cells)])
        for cells in (grid.headings, *grid.rows)
    ]
    parts = ["\n".join([head, *options, "", *rows])]
    if grid.notes:
        parts.append("\n".join(footnote(note) for note in grid.notes))
    return Text("\n\n".join(parts))


def footnote(note: Note) -> Text:
    """Return a footnote, the target of its marks."""
    return wrap(escape(note.text) or MISSING, "   ", f".. [#{name(note.label)}] ")
