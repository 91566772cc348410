"""Pages as one file: below each other, with styles, figures and data embedded.

It is made from the HTML of Sphinx, so that the file has the same content as the pages.
"""

import base64
import gzip
import mimetypes
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from posixpath import dirname, join, normpath
from urllib.parse import unquote, urldefrag, urlsplit

from bs4 import BeautifulSoup, Tag

from mqperf.base import processes
from mqperf.base.errors import ReportError
from mqperf.pages.report.drawings import APART
from mqperf.pages.report.rst import MISSING

FIRST = "index.html"
MARK = "mqperf report in one file"
"""Identifies a file written by this module, which may be replaced."""

HEAD_BYTES = 2_000
"""Bytes at the start of a file that are searched for the mark."""

PACKED = (".csv", ".json")
PLAIN_BYTES = 20_000
"""Larger files with these suffixes are compressed with gzip."""

DRAWING = ".svg"
"""Suffix of drawings: those that a page links, but does not show, are left out as too many."""

MOST_BYTES = 4_900_000
"""Largest size of the file: drawings of runs that would exceed it are left out."""

LEFT_OUT = "This drawing is only in the report as a folder: it would make the file too large."

LARGEST_BYTES = 1_500_000
"""Files that are larger when compressed are left out: browsers refuse long data URLs."""

ELSEWHERE = 'link:not([rel="stylesheet"]), .related-pages, .sidebar-search-container'
"""Selector of elements that refer to other pages, which a single file does not need."""


def fold(html: Path, file: Path) -> Path:
    """Write the pages in the folder ``html`` into one self-contained ``file``, and return it.

    Links between pages become links within the file.  Downloads are embedded, CSV and JSON of more
    than 20 kB as ``.gz``; one of more than 1.5 MB in that form is left out, and its link says so.
    Raises ``ReportError`` when ``file`` exists and is something else.
    """
    check_replaceable(file)
    shell = _parsed(html / FIRST)
    pages = Pages(html, tuple(_in_order(shell)))
    for element in shell.select(ELSEWHERE):
        element.decompose()
    _inline_styles_and_scripts(shell, html)
    articles = [_parsed(html / name) for name in pages.names[1:]]
    for page, name in zip([shell, *articles], pages.names, strict=True):
        _fold_page(page, name, pages)
    for page, name in zip(articles, pages.names[1:], strict=True):
        _append(shell, page, name)
    _fold_as_many_as_fit(shell)
    mark = shell.new_tag("meta", attrs={"name": "generator", "content": MARK})
    _element(shell, "meta").insert_after(mark)
    file.parent.mkdir(parents=True, exist_ok=True)
    with processes.scratch_beside(file) as scratch:
        new = scratch / file.name
        new.write_text(str(shell), encoding="utf-8")
        new.rename(file)
    return file


def check_replaceable(file: Path) -> None:
    """Raise ``ReportError`` if the path exists and is not a file written by this module."""
    if file.is_dir():
        raise ReportError(f"{file}: is a folder; give the name of a file, such as {file}.html")
    if not file.exists():
        return
    with file.open("rb") as content:
        if MARK.encode() not in content.read(HEAD_BYTES):
            raise ReportError(f"{file}: already exists and is not a report; give another name")


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of a folder by relative path, and the targets of their links in one file."""

    folder: Path
    names: tuple[str, ...]

    def place(self, page: str, link: str) -> str | None:
        """Return the anchor in the file that a link of a page becomes; None if it is no page."""
        path, fragment = urldefrag(link)
        name = _resolved(page, path) if path else page
        return f"#{anchor(name, unquote(fragment))}" if name in self.names else None

    def file(self, page: str, link: str) -> Path:
        """Return the file that a link of a page refers to."""
        return self.folder / _resolved(page, urlsplit(link).path)


def anchor(page: str, name: str = "") -> str:
    """Return the id of an element of a page in the file, as pages may have the same ids."""
    return page.removesuffix(FIRST) + name


def _resolved(page: str, path: str) -> str:
    return normpath(join(dirname(page), unquote(path)))


def _parsed(file: Path) -> BeautifulSoup:
    return BeautifulSoup(file.read_text(encoding="utf-8"), "html.parser")


def _element(within: Tag, selector: str) -> Tag:
    element = within.select_one(selector)
    if element is None:
        raise ReportError(f"the HTML of the report has no {selector}: build it with the theme furo")
    return element


def _in_order(first: Tag) -> Iterator[str]:
    """Yield the pages in the order of the navigation of the first page."""
    links = [str(link["href"]) for link in first.select(".sidebar-tree a.internal")]
    yield from dict.fromkeys([FIRST, *filter(None, (urldefrag(link).url for link in links))])


def _inline_styles_and_scripts(shell: BeautifulSoup, folder: Path) -> None:
    """Embed style sheets and scripts in the page."""
    for link in shell.select('link[rel="stylesheet"]'):
        _inline(shell, link, "style", folder / urlsplit(str(link["href"])).path)
    for script in shell.select("script[src]"):
        _inline(shell, script, "script", folder / urlsplit(str(script["src"])).path)


def _inline(shell: BeautifulSoup, link: Tag, kind: str, file: Path) -> None:
    element = shell.new_tag(kind)
    element.string = file.read_text(encoding="utf-8").replace(f"</{kind}", f"<\\/{kind}")
    link.replace_with(element)


def _fold_page(page: BeautifulSoup, name: str, pages: Pages) -> None:
    """Embed pictures and data in a page, and adapt its ids and links to the file."""
    ids: set[str] = set()
    for element in _element(page, "article").select("[id]"):
        element["id"] = anchor(name, str(element["id"]))
        if element["id"] in ids:  # the theme gives the box around a table the id of the table, too
            del element["id"]
        else:
            ids.add(str(element["id"]))
    for picture in page.select("article img[src]"):
        file = pages.file(name, str(picture["src"]))
        if APART in picture.get_attribute_list("class"):
            picture["src"] = str(file)
        else:
            picture["src"] = _file_as_url(file)
    for link in page.select("a[href]"):
        _fold_link(link, name, pages)


def _fold_as_many_as_fit(shell: BeautifulSoup) -> None:
    """Embed optional pictures in order while they fit; a sentence replaces each other one."""
    size = len(str(shell).encode())
    for picture in shell.select(f"article img.{APART}"):
        data = _file_as_url(Path(str(picture["src"])))
        if size + len(data) <= MOST_BYTES:
            picture["src"] = data
            size += len(data)
        else:
            note = shell.new_tag("p")
            note.string = LEFT_OUT
            picture.replace_with(note)


def _fold_link(link: Tag, page: str, pages: Pages) -> None:
    target = str(link["href"])
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return
    if (fragment := pages.place(page, target)) is not None:
        link["href"] = fragment
        return
    file = pages.file(page, target)
    if file.suffix == DRAWING:
        link.replace_with(MISSING)
        return
    content, name = file.read_bytes(), file.name
    if file.suffix in PACKED and len(content) > PLAIN_BYTES:
        content, name = gzip.compress(content, mtime=0), f"{name}.gz"
    if len(content) > LARGEST_BYTES:
        link.replace_with(f"{link.get_text()} (too large for one file)")
        return
    link["href"], link["download"] = _data_url(name, content), name


def _file_as_url(file: Path) -> str:
    return _data_url(file.name, file.read_bytes())


def _data_url(name: str, content: bytes) -> str:
    """Return the content as a data URL."""
    kind, encoding = mimetypes.guess_type(name)
    kind = "application/gzip" if encoding else kind or "application/octet-stream"
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def _append(shell: BeautifulSoup, page: BeautifulSoup, name: str) -> None:
    """Append a page to the file, and its sections to the table of contents."""
    division = shell.new_tag("div", attrs={"class": "page-of-file", "id": anchor(name)})
    division.extend(list(_element(page, "article").contents))
    _element(shell, "article").append(division)
    contents, page_contents = (document.select_one(".toc-tree ul") for document in (shell, page))
    if contents is not None and page_contents is not None:
        for nested in page_contents.select("ul ul ul"):
            nested.decompose()
        contents.extend(page_contents.find_all("li", recursive=False))
