"""An RST document as plain phrases and grids of cells, each with its line.

Docutils does the parsing, so list-tables and grid tables are one.  Roles and directives that only
Sphinx knows are passed over; a table that cannot be read is an error.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from docutils import nodes
from docutils.core import publish_doctree

from mqperf.errors import TableError

SETTINGS = {
    "report_level": 5,
    "halt_level": 5,
    # a report is somebody else's text: it may not make us open other files
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "_disable_config": True,
}
ERROR = 3


@dataclass(frozen=True, slots=True)
class Phrase:
    """Some words, their line, and the titles of the sections around them, innermost first."""

    text: str
    line: int
    sections: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Grid:
    """A table as text: its caption, its first row, and the other rows."""

    caption: Phrase
    headings: tuple[Phrase, ...]
    rows: tuple[tuple[Phrase, ...], ...]


@dataclass(frozen=True, slots=True)
class Document:
    """What stands in a file, in order."""

    label: str
    titles: tuple[Phrase, ...]
    paragraphs: tuple[Phrase, ...]
    images: tuple[Phrase, ...]
    grids: tuple[Grid, ...]


def read(path: Path, label: str) -> Document:
    """The document; ``label`` is the file's name in messages.

    Raises ``TableError`` for what is not text and for tables that docutils cannot read.
    """
    tree = _tree(path, label)
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


def _tree(path: Path, label: str) -> nodes.document:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TableError(f"{label}: cannot be read as text: {error}") from None
    tree: nodes.document = publish_doctree(
        text, source_path=label, settings_overrides=dict(SETTINGS)
    )
    for message in list(tree.findall(nodes.system_message)):
        said = message.children[0].astext() if message.children else ""
        if message["level"] >= ERROR and _about_a_table(said):
            raise TableError(f"{label}:{message.get('line', 1)}: {said.strip().splitlines()[0]}")
        message.parent.remove(message)
    return tree


def _about_a_table(said: str) -> bool:
    return "table" in said.lower() and not said.startswith("Unknown")


def _grids(tree: nodes.document, label: str) -> Iterator[Grid]:
    for table in tree.findall(nodes.table):
        title = next(table.findall(nodes.title), None)
        caption = _phrase(title) if title is not None else Phrase("", _line(table))
        rows = [_row(row, caption, label) for row in table.findall(nodes.row)]
        yield Grid(caption, rows[0], tuple(rows[1:]))


def _row(row: nodes.row, caption: Phrase, label: str) -> tuple[Phrase, ...]:
    entries = [entry for entry in row.children if isinstance(entry, nodes.entry)]
    written = [text.line for text in row.findall(nodes.paragraph) if text.line]
    line = written[0] if written else caption.line
    for entry in entries:
        plain = all(isinstance(child, nodes.paragraph) for child in entry.children)
        if not plain or "morecols" in entry or "morerows" in entry:
            raise TableError(
                f"{label}:{line}: cell {entry.astext()!r} of table {caption.text!r}"
                " is not plain text in one row and one column"
            )
    return tuple(Phrase(_words(entry), line) for entry in entries)


def _phrase(node: nodes.Element) -> Phrase:
    return Phrase(_words(node), _line(node), tuple(_sections(node)))


def _heading(title: nodes.title) -> Phrase:
    # docutils counts a heading as standing where its underline is
    return replace(_phrase(title), line=_line(title) - 1)


def _words(node: nodes.Node) -> str:
    return " ".join(node.astext().split())


def _line(node: nodes.Node | None) -> int:
    while node is not None:
        if node.line is not None:
            return node.line
        node = node.parent
    return 1


def _sections(node: nodes.Node) -> Iterator[str]:
    above = node.parent
    while above is not None:
        if isinstance(above, nodes.section):
            yield _words(above.children[0])
        above = above.parent


def _is_heading(title: nodes.title) -> bool:
    return isinstance(title.parent, nodes.section | nodes.document)


def _in_table(node: nodes.Node) -> bool:
    return isinstance(node.parent, nodes.entry)
