"""reStructuredText as the published reports write it: titles, list-tables, images, footnotes.

What is finished RST has the type ``Text``.  Every other string is data, and whatever puts it into a
page escapes it: forgetting something shows a backslash, and never runs what stands in the data.
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
"""What stands where there is no number; a bare full stop confuses docutils."""

LONGEST_FILE = 100
"""Characters in the name of a file that is made from a caption."""

_PUNCTUATION = r"[!-/:-@\[-`{-~]"

_INLINE = re.compile(r"[\\*`|_<@]|:(?=\S|$)")
"""What is markup, or begins a link, wherever it stands."""

_AT_START = re.compile(
    rf"{_PUNCTUATION}|[\u2022\u2023\u2043]"
    r"|(?:[0-9]+|[A-Za-z]|[IVXLCDM]+|[ivxlcdm]+)[.)](?!\S)"
)
"""What begins a list, a field, a directive, a comment, a rule when a paragraph begins with it."""

_RULE = re.compile(rf"(?<=\s)(?=(?!\\)({_PUNCTUATION})\1{{3,}}(?!\S))")
"""Before a word that is the line below a title, should wrapping put it on a line of its own."""

_BACKSLASHES = re.compile(r"(?<!\S)(?=(?:\\\\)+(?!\S))")
"""Before a word of nothing but backslashes, which a backslash in front keeps being such a word."""


class Text(Markup):
    """Finished RST, which goes into a page as it is.

    As with ``Markup`` for HTML, its methods escape what they add:
    ``Text("**{}** of {}").format(number, name)``.
    """

    __slots__ = ()

    @classmethod
    @override
    def escape(cls, value: object, /) -> "Text":
        """The value as text within a paragraph, a cell or a title; finished RST as it is."""
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
    """A footnote: the label by which cells refer to it, and its sentence."""

    label: str
    text: str

    @property
    def mark(self) -> Text:
        """The reference to be put behind a number."""
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
    """The file name that belongs to a caption: its words, lower case, joined by underscores.

    Of a long one the end is replaced by a digest, so that no two captions share a name.
    """
    words = re.sub(r"[^a-z0-9]+", "_", re.sub(r"\(.+\)", "", title).lower()).strip("_")
    if len(words) > LONGEST_FILE:
        words = f"{words[: LONGEST_FILE - 9]}_{hashlib.sha256(words.encode()).hexdigest()[:8]}"
    return Text(words)


def name(text: str) -> Text:
    """A name where RST takes it literally, as in a path; raises ``ReportError`` for any other."""
    if not NAME.fullmatch(text):
        raise ReportError(f"{one_line(text, 80)!r} cannot be the name of a file in a report")
    return Text(text)


def link(label: str, *folders: str) -> Text:
    """A link to the page in these folders, each in the one before it."""
    page = "/".join(map(name, (*folders, "index")))
    return Text(f":doc:`{escape(label)} <{page}>`")


def download(label: str, *path: str) -> Text:
    """A link to a file, which whoever builds the pages copies beside them."""
    return Text(f":download:`{escape(label)} <{'/'.join(map(name, path))}>`")


def title(text: str, line: str, *, over: bool = False) -> Text:
    """A title with the line below it, and above it for a document of its own."""
    text = escape(text) or MISSING
    # a line of fewer than four is one only by chance, and characters may be two columns wide
    rule = line * max(4, len(text), column_width(text))
    return Text(f"{rule}\n{text}\n{rule}" if over else f"{text}\n{rule}")


def wrap(text: str, indent: str = "", first: str | None = None) -> Text:
    """A paragraph in lines of at most 79 characters; a per cent sign stays with its number."""
    kept = str(escape(text)).replace(" %", "\N{NO-BREAK SPACE}%").replace("\\ ", "\\\0")
    lines = textwrap.fill(
        kept,
        79,
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return Text(lines.replace("\0", " "))


def paragraph(rendered: str) -> Text:
    """What a template's block gave, of which all data is escaped already, as a paragraph."""
    return wrap(Text(" ".join(rendered.split()))) + Text("\n")


def bullets(sentences: Iterable[str]) -> Text:
    """A list with one item per sentence."""
    return Text("\n").join(wrap(sentence, "  ", "* ") for sentence in sentences)


def literal(text: str) -> Text:
    """The text line by line as it is, but for characters that are none to a reader."""
    lines = (line.expandtabs() for line in text.splitlines())
    shown = ("".join(char if char.isprintable() else UNKNOWN for char in line) for line in lines)
    return Text("::\n\n" + "\n".join(f"    {line}".rstrip() for line in shown))


def image(file: Text, alt: str, style: str = "") -> Text:
    """An image whose suffix the builder chooses, with the sentence for those who do not see it.

    The value of an option is no markup: what would escape it would be read aloud.  ``style`` is
    the class by which style sheets know it.
    """
    directive = f".. image:: {file}.*\n   :alt: {one_line(alt)}"
    return Text(f"{directive}\n   :class: {name(style)}" if style else directive)


def table(grid: Grid) -> Text:
    """A list-table, followed by its footnotes."""
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
    """The sentence of a footnote, where its marks lead."""
    return wrap(escape(note.text) or MISSING, "   ", f".. [#{name(note.label)}] ")
