"""A whole report: notebooks, RST, figures, downloads and HTML, written at once or not at all."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from mqperf import guarded, stats, tables
from mqperf.errors import ReportError
from mqperf.report.hosts import several
from mqperf.report.notebooks import execute
from mqperf.report.source import MARK, write_source
from mqperf.report.web import make_html
from mqperf.report.words import layouts
from mqperf.tables import Tables, all_attempts, of_plan


def publish(path: Path, out: Path, *, notebooks: bool = True) -> Path:
    """Write the report on ``path`` into ``out``, and give the page to open first.

    With ``notebooks`` they are executed on the same folder and linked; they measure nothing.
    Raises ``ReportError`` when one fails, or there is nothing to report.
    """
    frames = stats.complete(tables.read(path))
    with _executed(path if notebooks else None, hosts=several(frames["hosts"])) as copies:
        return build(frames, out, title=tables.title(path), notebooks=copies)


def build(
    found: Tables, out: Path, *, title: str, notebooks: Sequence[Path] = (), html: bool = True
) -> Path:
    """Write the report into the folder ``out``, and give the page to open first.

    ``found`` are complete: with ``points`` and ``doubts``.  ``notebooks`` were executed.  A report
    that is there already is replaced when the new one is whole.  Raises ``ReportError`` when there
    is nothing to report, when ``out`` holds something else, or when Sphinx complains.
    """
    pages = layouts(all_attempts(of_plan(found)))
    if not pages:
        raise ReportError("no runs to report: measure first, with: mqperf run PLAN")
    with _replacing(out) as new:
        write_source(found, pages, new, title, notebooks)
        if html:
            make_html(new, new / "html")
    return out / "html" / "index.html" if html else out / "index.rst"


@contextmanager
def _executed(path: Path | None, *, hosts: bool) -> Iterator[list[Path]]:
    if path is None:
        yield []
        return
    with guarded.scratch("notebooks") as folder:
        yield execute(path, folder, hosts=hosts)


@contextmanager
def _replacing(out: Path) -> Iterator[Path]:
    """A new folder beside ``out``, which takes its place when all went well."""
    if out.exists() and not (out / MARK).is_file() and (out.is_file() or any(out.iterdir())):
        raise ReportError(f"{out}: is there already and is no report; give another folder")
    out.parent.mkdir(parents=True, exist_ok=True)
    with guarded.scratch_beside(out) as aside:
        new, old = aside / "new", aside / "old"
        new.mkdir()
        yield new
        if out.exists():
            out.rename(old)
        new.rename(out)
