"""Parses an RST document into phrases and tables of cells, each with its line.

Docutils parses, so list-tables and grid tables are treated alike.  Roles and directives that only
Sphinx knows are ignored; a table that cannot be read is an error.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.parsers.rst import Parser
from docutils.utils import new_document

from mqperf.base.errors import TableError
from mqperf.study.tables.given import MIB, text_of

LIMIT_BYTES = MIB // 4
"""The largest report: text and small tables; those of 2016 have 18 KiB."""

LIMIT_BLOCK = 20_000
"""The most characters between two empty lines; docutils takes time quadratic in them."""

SETTINGS = {
    "report_level": 5,
    "halt_level": 5,
    # a report is untrusted: it must not include other files
    "file_insertion_enabled": False,
    "raw_enabled": False,
}
ERROR = 3
SHOWN = 200
"""Characters of a message of docutils that error messages quote."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A text, its line, and the titles of the sections that contain it, innermost first."""

    text: str
    line: int
    sections: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Grid:
    """A table as text: caption, first row, and other rows."""

    caption: Phrase
    headings: tuple[Phrase, ...]
    rows: tuple[tuple[Phrase, ...], ...]


@dataclass(frozen=True, slots=True)
class Document:
    """The content of a file, in order."""

    label: str
    titles: tuple[Phrase, ...]
    paragraphs: tuple[Phrase, ...]
    images: tuple[Phrase, ...]
    grids: tuple[Grid, ...]


def read(path: Path, label: str) -> Document:
    """Return the document; ``label`` is the file's name in messages.

    Raises ``TableError`` if it is not text, or docutils cannot read it.
    """
    text = text_of(path, label, LIMIT_BYTES)
    _check_blocks(text, label)
    try:
        return _document(_tree(text, label), label)
    except RecursionError:
        raise TableError(f"{label}: is nested too deeply to be a report") from None


def _document(tree: nodes.document, label: str) -> Document:
    titles = (title for title in tree.findall(nodes.title) if _is_heading(title))
    paragraphs = (text for text in tree.findall(nodes.paragraph) if not _in_table(text))
    images = tree.findall(nodes.image)
    return Document(
        label=label,
        titles=tuple(_heading(title) for title in titles),
        paragraphs=tuple(_phrase(paragraph) for paragraph in paragraphs),
        images=tuple(Phrase(image["uri"], _line(image)) for image in images),
        grids=tuple(_grids(tree, label)),
    )


def _check_blocks(text: str, label: str) -> None:
    line, size = 1, 0
    for number, content in enumerate(text.splitlines(), 1):
        line, size = (line, size + len(content)) if content.strip() else (number + 1, 0)
        if size > LIMIT_BLOCK:
            raise TableError(
                f"{label}:{line}: more than {LIMIT_BLOCK} characters without an empty line"
            )


def _tree(text: str, label: str) -> nodes.document:
    tree = _parsed(text, label)
    messages = list(tree.findall(nodes.system_message))
    for message in [*messages, *tree.parse_messages]:
        problem = " ".join(message.children[0].astext().split()) if message.children else ""
        if _is_fatal(message["level"], problem):
            raise TableError(f"{label}:{message.get('line', 1)}: {problem[:SHOWN]}")
    for message in messages:
        message.parent.remove(message)
    return tree


def _parsed(text: str, label: str) -> nodes.document:
    """Parse without resolving references, as a few of them can expand to endless text."""
    settings = get_default_settings(Parser)
    for name, value in SETTINGS.items():
        setattr(settings, name, value)
    tree = new_document(label, settings)
    try:
        Parser().parse(text, tree)
    except RecursionError:
        raise
    except Exception as error:  # noqa: BLE001 (docutils documents none of its parser's errors)
        raise TableError(
            f"{label}: docutils cannot read it as RST ({type(error).__name__}); correct the report"
        ) from None
    return tree


def _is_fatal(level: int, message: str) -> bool:
    """Whether a message says that a table was not read with certainty, or the text not at all."""
    about_a_table = "table" in message.lower() and not message.startswith("Unknown")
    serious = level >= ERROR or "deactivated" in message
    return (about_a_table and serious) or "line-length-limit" in message


def _grids(tree: nodes.document, label: str) -> Iterator[Grid]:
    for table in tree.findall(nodes.table):
        title = next(table.findall(nodes.title), None)
        caption = _phrase(title) if title is not None else Phrase("", _line(table))
        rows = [_row(row, caption, label) for row in table.findall(nodes.row)]
        yield Grid(caption, rows[0], tuple(rows[1:]))


def _row(row: nodes.row, caption: Phrase, label: str) -> tuple[Phrase, ...]:
    entries = [entry for entry in row.children if isinstance(entry, nodes.entry)]
    lines = [text.line for text in row.findall(nodes.paragraph) if text.line]
    line = lines[0] if lines else caption.line
    for entry in entries:
        plain = all(isinstance(child, nodes.paragraph) for child in entry.children)
        if not plain or "morecols" in entry or "morerows" in entry:
            raise TableError(
                f"{label}:{line}: cell {entry.astext()!r} of table {caption.text!r}"
                " is not plain text in one row and one column"
            )
    return tuple(Phrase(_text(entry), line) for entry in entries)


def _phrase(node: nodes.Element) -> Phrase:
    return Phrase(_text(node), _line(node), tuple(_sections(node)))


def _heading(title: nodes.title) -> Phrase:
    # docutils gives the line of the underline
    return replace(_phrase(title), line=_line(title) - 1)


def _text(node: nodes.Node) -> str:
    return " ".join(node.astext().split())


def _line(node: nodes.Node | None) -> int:
    while node is not None:
        if node.line is not None:
            return node.line
        node = node.parent
    return 1


def _sections(node: nodes.Node) -> Iterator[str]:
    ancestor = node.parent
    while ancestor is not None:
        if isinstance(ancestor, nodes.section):
            yield _text(ancestor.children[0])
        ancestor = ancestor.parent


def _is_heading(title: nodes.title) -> bool:
    return isinstance(title.parent, nodes.section | nodes.document)


def _in_table(node: nodes.Node) -> bool:
    return isinstance(node.parent, nodes.entry)
