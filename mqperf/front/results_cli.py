"""Commands on results: tables, audits, comparisons and reports."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal, Protocol

import typer

from mqperf.base.errors import MqperfError
from mqperf.base.terminal import complaints, console, print_all, print_line

app = typer.Typer()


def _located(path: Path) -> Path:
    from mqperf.base.shipped import runs_folder

    return runs_folder(path)


TablesFolder = Annotated[
    Path,
    typer.Argument(
        metavar="PATH",
        help="a runs folder, or tables of a published report",
        callback=_located,
    ),
]

SingleFile = Annotated[
    bool,
    typer.Option(
        "--single-file",
        help="Write OUT as one self-contained HTML file, e.g. OUT = report.html.",
    ),
]


@app.command()
def tables(
    path: TablesFolder,
    out: Annotated[Path, typer.Option(help="Folder for one file per table.")],
    form: Annotated[
        Literal["csv", "parquet"], typer.Option("--format", help="File format.")
    ] = "csv",
    hdr: Annotated[
        bool, typer.Option("--hdr", help="Also an HdrHistogram log of latencies for each run.")
    ] = False,
) -> None:
    """Write every table to a file of its name.

    Example: `mqperf tables data/runs/quickstart --format csv --out tables --hdr`
    """
    from mqperf.study.stats.seconds import write_complete
    from mqperf.study.tables import all_attempts
    from mqperf.study.tables.histograms import write_all

    complete, files = write_complete(path, out, form)
    if hdr:
        files += write_all(path, out / "hdr", all_attempts(complete))
    for file in files:
        print_line(console, str(file))


@app.command()
def audit(
    path: TablesFolder,
    form: Annotated[
        Literal["text", "json"], typer.Option("--format", help="Text, or one JSON object per line.")
    ] = "text",
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 on any doubt.")] = False,
) -> None:
    """Show which numbers not to trust, and why.

    Examples: `mqperf audit data/runs/quickstart`, `mqperf audit data/published/2016 --format json`
    """
    from mqperf.study.stats.checks import as_json_lines, as_text_lines
    from mqperf.study.stats.seconds import read_complete
    from mqperf.study.tables import plan_of

    complete = read_complete(path)
    if unread := plan_of(path)[1]:
        print_line(complaints, f"mqperf: {unread}")
    doubts = complete["doubts"]
    print_all(console, as_json_lines(doubts) if form == "json" else as_text_lines(complete))
    if strict and len(doubts):
        raise typer.Exit(1)


@app.command()
def show(
    path: TablesFolder,
    section: Annotated[
        str, typer.Argument(help="A section of the pages: points, nodes, outages ...")
    ] = "",
    test_case: Annotated[str, typer.Option("--test-case", help="Only this test case.")] = "",
    form: Annotated[
        Literal["text", "json"], typer.Option("--format", help="Text, or one JSON object per line.")
    ] = "text",
) -> None:
    """Show here what the plan asks and its answers; or a section of the report.

    Examples: `mqperf show data/runs/quickstart`,
    `mqperf show data/samples/faults outages --format json`
    """
    from mqperf.pages.questions import first_screen
    from mqperf.pages.sections import shown
    from mqperf.pages.sections.forms import document, lines
    from mqperf.study.stats.seconds import read_complete
    from mqperf.study.tables import of_plan

    if not section:
        width = console.width if console.is_terminal else None
        print_all(console, first_screen.of_folder(path, width))
        return
    content = None
    for view, content in shown(of_plan(read_complete(path)), section, test_case):
        if form == "json":
            print_line(console, json.dumps(document(view, content), ensure_ascii=False))
            continue
        print_line(console, f"{view.layout.system_title}, {view.layout.label}, {view.case.title}")
        print_all(console, lines(content, console.width))
        print_line(console, "")
    if content is None:
        print_line(complaints, f"no {section} in {path}")


@app.command()
def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="runs, or a published report")],
    b: Annotated[Path, typer.Argument(metavar="B", help="the same, later or elsewhere")],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the comparison: tables, figures, RST, and HTML in OUT/html."),
    ] = None,
    single_file: SingleFile = False,
    across: Annotated[
        bool, typer.Option("--across-systems", help="Compare points of different systems.")
    ] = False,
    min_effect: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Minimum relevant difference; 0.05 by default."),
    ] = None,
    fail_on: Annotated[
        Literal["worse"] | None,
        typer.Option("--fail-on", help="Exit with 1 when any figure has this verdict, for CI."),
    ] = None,
) -> None:
    """Compare two sets of runs point by point: better, worse, or cannot tell.

    With --out it also writes a page, whose path is the last line.

    Examples: `mqperf compare data/runs/before data/runs/after --out reports/comparison`,
    `mqperf compare data/runs/before data/runs/after --fail-on worse`
    """
    from mqperf.front.api import compare as compared

    check_named(out, "comparison.html", single_file=single_file)
    comparison = compared(a, b, across_systems=across, min_effect=min_effect)
    show_page(comparison, out, single_file=single_file)
    if fail_on is not None and (comparison.ratios["verdict"] == fail_on).any():
        raise typer.Exit(1)


def check_named(out: Path | None, example: str, *, single_file: bool) -> None:
    """Raise ``MqperfError`` if ``--single-file`` is given without ``--out``."""
    if single_file and out is None:
        raise MqperfError(f"--single-file needs the name of the file: add --out {example}")


class Page(Protocol):
    """A result that can be printed as lines, or written as a page."""

    def lines(self) -> Iterable[str]:
        """Return it as text for a terminal."""

    def report(self, out: Path, *, single_file: bool = False) -> Path:
        """Write it into a folder, or as one file, and return the page to open."""


def show_page(result: Page, out: Path | None, *, single_file: bool) -> None:
    """Print a result, and write its page if ``out`` is given."""
    print_all(console, result.lines())
    if out is not None:
        page = result.report(out, single_file=single_file)
        print_line(console, str(page))


@app.command()
def report(
    path: TablesFolder,
    out: Annotated[Path, typer.Option(help="Folder of the report, e.g. reports/quickstart.")],
    notebooks: Annotated[
        bool, typer.Option(help="Execute the notebooks on the runs and link them.")
    ] = True,
    single_file: SingleFile = False,
) -> None:
    """Publish a report: RST, figures, tables, executed notebooks, and HTML in OUT/html.

    It prints a line for each step; the last line is the page to open first. A single file has all
    pages, figures and tables, but no notebooks.

    Examples: `mqperf report data/runs/quickstart --out reports/quickstart`,
    `mqperf report data/runs/quickstart --single-file --out quickstart.html`
    """
    from mqperf.pages.report.build import publish, publish_file

    def tell(step: str) -> None:
        print_line(console, f"{step} ...")

    if single_file:
        page = publish_file(path, out, tell=tell)
    else:
        page = publish(path, out, notebooks=notebooks, tell=tell)
    print_line(console, str(page))
