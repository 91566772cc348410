"""Pages as one file: below each other, with styles, figures and data folded in.

It takes the HTML that Sphinx made, so that the file says what the pages say.
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
"""By which a file is known to be ours, and may be replaced."""

HEAD_BYTES = 2_000
"""In so much of a file its mark stands."""

PACKED = (".csv", ".json")
PLAIN_BYTES = 20_000
"""Larger files of these kinds are packed with gzip."""

DRAWING = ".svg"
"""Drawings that a page links and does not show stay out: there are too many of them."""

MOST_BYTES = 4_900_000
"""Of the file: pictures of runs that would make it larger stay out."""

LEFT_OUT = "This drawing is in the report as a folder alone: with it the file would be too large."

LARGEST_BYTES = 1_500_000
"""What is larger when packed stays out: browsers refuse long addresses."""

ELSEWHERE = 'link:not([rel="stylesheet"]), .related-pages, .sidebar-search-container'
"""What leads to other pages, in ways that one file has no use for."""


def fold(html: Path, file: Path) -> Path:
    """Write the pages in the folder ``html`` into ``file``, which needs no other; gives the file.

    Links between pages lead to places in the file, and downloads are part of it: CSV and JSON of
    more than 20 kB as ``.gz``.  A file of more than 1.5 MB in that form is left out, and its link
    says so.  Raises ``ReportError`` when ``file`` is there already and is something else.
    """
    check_replaceable(file)
    shell = _parsed(html / FIRST)
    pages = Pages(html, tuple(_in_order(shell)))
    for part in shell.select(ELSEWHERE):
        part.decompose()
    _fold_looks(shell, html)
    articles = [_parsed(html / name) for name in pages.names[1:]]
    for page, name in zip([shell, *articles], pages.names, strict=True):
        _fold_page(page, name, pages)
    for page, name in zip(articles, pages.names[1:], strict=True):
        _append(shell, page, name)
    _fold_as_many_as_fit(shell)
    mark = shell.new_tag("meta", attrs={"name": "generator", "content": MARK})
    _element(shell, "meta").insert_after(mark)
    file.parent.mkdir(parents=True, exist_ok=True)
    with processes.scratch_beside(file) as aside:
        new = aside / file.name
        new.write_text(str(shell), encoding="utf-8")
        new.rename(file)
    return file


def check_replaceable(file: Path) -> None:
    """Raise ``ReportError`` when the place of the file is taken by anything but such a file."""
    if file.is_dir():
        raise ReportError(f"{file}: is a folder; give the name of a file, such as {file}.html")
    if not file.exists():
        return
    with file.open("rb") as content:
        if MARK.encode() not in content.read(HEAD_BYTES):
            raise ReportError(f"{file}: is there already and is no report; give another name")


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of a folder, by their paths, and the places in one file that they become."""

    folder: Path
    names: tuple[str, ...]

    def place(self, page: str, link: str) -> str | None:
        """Where in the file a link of a page leads; nothing when that is no page."""
        path, fragment = urldefrag(link)
        name = _resolved(page, path) if path else page
        return f"#{anchor(name, unquote(fragment))}" if name in self.names else None

    def file(self, page: str, link: str) -> Path:
        """The file that a link of a page leads to."""
        return self.folder / _resolved(page, urlsplit(link).path)


def anchor(page: str, name: str = "") -> str:
    """What an element of a page is called in the file: pages have elements of equal names."""
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
    """The pages as the navigation of the first has them."""
    links = [str(link["href"]) for link in first.select(".sidebar-tree a.internal")]
    yield from dict.fromkeys([FIRST, *filter(None, (urldefrag(link).url for link in links))])


def _fold_looks(shell: BeautifulSoup, folder: Path) -> None:
    """Put styles and scripts into the page."""
    for link in shell.select('link[rel="stylesheet"]'):
        _put(shell, link, "style", folder / urlsplit(str(link["href"])).path)
    for script in shell.select("script[src]"):
        _put(shell, script, "script", folder / urlsplit(str(script["src"])).path)


def _put(shell: BeautifulSoup, link: Tag, kind: str, file: Path) -> None:
    inside = shell.new_tag(kind)
    inside.string = file.read_text(encoding="utf-8").replace(f"</{kind}", f"<\\/{kind}")
    link.replace_with(inside)


def _fold_page(page: BeautifulSoup, name: str, pages: Pages) -> None:
    """Fold pictures and data into a page, and let its names and links be those of the file."""
    taken: set[str] = set()
    for element in _element(page, "article").select("[id]"):
        element["id"] = anchor(name, str(element["id"]))
        if element["id"] in taken:  # the theme gives a table's box the name of the table, too
            del element["id"]
        else:
            taken.add(str(element["id"]))
    for picture in page.select("article img[src]"):
        file = pages.file(name, str(picture["src"]))
        if APART in picture.get_attribute_list("class"):
            picture["src"] = str(file)
        else:
            picture["src"] = _as_data(file)
    for link in page.select("a[href]"):
        _fold_link(link, name, pages)


def _fold_as_many_as_fit(shell: BeautifulSoup) -> None:
    """Fold pictures that may be left out, in their order; a sentence stands for each other one."""
    size = len(str(shell).encode())
    for picture in shell.select(f"article img.{APART}"):
        data = _as_data(Path(str(picture["src"])))
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
    if (place := pages.place(page, target)) is not None:
        link["href"] = place
        return
    file = pages.file(page, target)
    if file.suffix == DRAWING:
        link.replace_with(MISSING)
        return
    content, called = file.read_bytes(), file.name
    if file.suffix in PACKED and len(content) > PLAIN_BYTES:
        content, called = gzip.compress(content, mtime=0), f"{called}.gz"
    if len(content) > LARGEST_BYTES:
        link.replace_with(f"{link.get_text()} (too large for one file)")
        return
    link["href"], link["download"] = _address(called, content), called


def _as_data(file: Path) -> str:
    return _address(file.name, file.read_bytes())


def _address(name: str, content: bytes) -> str:
    """The content as an address that has all of it."""
    kind, packed = mimetypes.guess_type(name)
    kind = "application/gzip" if packed else kind or "application/octet-stream"
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def _append(shell: BeautifulSoup, page: BeautifulSoup, name: str) -> None:
    """Put a page below those that are there, and its sections into the list of contents."""
    part = shell.new_tag("div", attrs={"class": "page-of-file", "id": anchor(name)})
    part.extend(list(_element(page, "article").contents))
    _element(shell, "article").append(part)
    contents, page_contents = (document.select_one(".toc-tree ul") for document in (shell, page))
    if contents is not None and page_contents is not None:
        for nested in page_contents.select("ul ul ul"):
            nested.decompose()
        contents.extend(page_contents.find_all("li", recursive=False))
