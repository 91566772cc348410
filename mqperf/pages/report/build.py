"""Building of a whole report, atomically: notebooks, RST, figures, downloads and HTML."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

from mqperf.base import processes
from mqperf.base.errors import ReportError
from mqperf.base.one_line import amount
from mqperf.base.packages import need
from mqperf.pages.report.notebooks import executing
from mqperf.pages.report.single_file import check_replaceable, fold
from mqperf.pages.report.source import Contents, write_source
from mqperf.pages.report.web import make_html
from mqperf.pages.report.words import layouts
from mqperf.pages.report.writer import MARK
from mqperf.study import stats, tables
from mqperf.study.tables import Tables, all_attempts, of_plan

Tell = Callable[[str], None]


def publish(
    path: Path, out: Path, *, notebooks: bool = True, tell: Tell = lambda _doing: None
) -> Path:
    """Write the report on ``path`` into ``out``, and return the page to open first.

    With ``notebooks``, these are executed on the same folder and linked; they measure nothing.
    ``tell`` is called before each step with a few words about it.  Raises ``ReportError`` when
    there is nothing to report; and also when a notebook fails, but after the rest is written: the
    first page then says why the notebook is missing.
    """
    need("report")
    with executing() if notebooks else nullcontext(lambda _path, _frames: dict) as executed:
        frames = _complete(path, tell)
        if notebooks:
            tell("executing notebooks")
        copies = executed(path, frames)
        for doing in _building(frames, out, Contents(tables.title(path), copies, path)):
            tell(doing)
        failed = [f"{copy.stem}: {why}" for copy, why in copies().items() if why]
    page = first_page(out, html=True)
    if failed:
        raise ReportError(f"{page}: is written without notebook {'; notebook '.join(failed)}")
    return page


def publish_file(path: Path, file: Path, *, tell: Tell = lambda _doing: None) -> Path:
    """Write the report on ``path`` into one self-contained HTML file, and return its path.

    It has no notebooks.  Raises ``ReportError`` when there is nothing to report, or when ``file``
    exists and is not a report.
    """
    need("report")
    check_replaceable(file)
    frames = _complete(path, tell)
    with processes.scratch("report") as folder:
        pages = folder / "report"
        for doing in _building(frames, pages, Contents(tables.title(path), source=path)):
            tell(doing)
        tell("folding all pages into one file")
        return fold(pages / "html", file)


def build(
    frames: Tables, out: Path, *, title: str, notebooks: Sequence[Path] = (), html: bool = True
) -> Path:
    """Write the report into the folder ``out``, and return the page to open first.

    ``frames`` are complete tables, with ``points`` and ``doubts``; ``notebooks`` are executed ones.
    An existing report is replaced once the new one is complete.  Raises ``ReportError`` when there
    is nothing to report, when ``out`` holds something else, or when Sphinx fails.
    """
    for _doing in _building(
        frames, out, Contents(title, lambda: dict.fromkeys(notebooks, "")), html=html
    ):
        pass
    return first_page(out, html=html)


def _complete(path: Path, tell: Tell) -> Tables:
    """Return all tables of ``path``, including the computed ones."""
    tell("reading runs")
    read = tables.read(path)
    tell(f"checking {amount(len(read['runs']), 'run')}")
    return stats.complete(read)


def _building(frames: Tables, out: Path, contents: Contents, *, html: bool = True) -> Iterator[str]:
    """Write a report, and yield a description of each step before it."""
    pages = layouts(all_attempts(of_plan(frames)))
    if not pages:
        raise ReportError("no runs to report: measure first, with: mqperf run PLAN")
    with replacing(out) as new:
        yield f"writing {amount(len(pages), 'topology page')} with figures"
        write_source(frames, pages, new, contents)
        if html:
            yield "making HTML"
            make_html(new, new / "html")


def write_page(out: Path, write: Callable[[Path], None], *, html: bool = True) -> Path:
    """Write a page into the folder ``out``, and return its path; ``write`` writes the RST.

    An existing report is replaced once the new one is complete.  Raises ``ReportError`` when
    ``out`` holds something else.
    """
    with replacing(out) as new:
        write(new)
        if html:
            make_html(new, new / "html")
    return first_page(out, html=html)


def write_page_as_file(file: Path, write: Callable[[Path], None]) -> Path:
    """Write a page as one self-contained HTML file.

    Raises ``ReportError`` when ``file`` exists and is not a report.
    """
    check_replaceable(file)
    with processes.scratch("page") as folder:
        return fold(write_page(folder / "pages", write).parent, file)


def first_page(out: Path, *, html: bool) -> Path:
    """Return the page of a report folder to open first."""
    return out / "html" / "index.html" if html else out / "index.rst"


@contextmanager
def replacing(out: Path) -> Iterator[Path]:
    """Yield a new folder, which replaces ``out`` if no exception is raised.

    Raises ``ReportError`` when ``out`` holds anything but a report.
    """
    if out.exists() and not (out / MARK).is_file() and (out.is_file() or any(out.iterdir())):
        raise ReportError(f"{out}: already exists and is not a report; give another folder")
    out.parent.mkdir(parents=True, exist_ok=True)
    with processes.scratch_beside(out) as scratch:
        new, old = scratch / "new", scratch / "old"
        new.mkdir()
        yield new
        if out.exists():
            out.rename(old)
        new.rename(out)
