"""The command line of many folders: ``mqperf trend``."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from mqperf.base.terminal import complaints, print_lines
from mqperf.front.commands import Command
from mqperf.front.results_cli import SingleFile, check_named, show_page


def trend(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER...", help="runs folders, or published reports, in any order"
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the trend: tables, figures, RST, and HTML in OUT/html."),
    ] = None,
    single_file: SingleFile = False,
    min_effect: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Minimum relevant difference; 0.05 by default."),
    ] = None,
    fail_on: Annotated[
        Literal["worse", "newest-worse"] | None,
        typer.Option(
            "--fail-on",
            help="Exit with 1, for CI, when any change is worse, or any in the newest folder.",
        ),
    ] = None,
) -> None:
    """Follow the same points over many folders of runs, and find what changed.

    Folders are ordered by time, and each point is compared with the folders before of the same
    machine, since it last changed. A step that control runs show as well is drift of the machine.
    With --out it also writes a page, whose path is the last line.

    Examples: `mqperf trend data/runs/nightly-* --out reports/trend`,
    `mqperf trend data/runs/nightly-* --fail-on newest-worse`
    """
    from mqperf.base.redaction import without_passwords
    from mqperf_trend.front.api import trend as trend_of

    check_named(out, "trend.html", single_file=single_file)
    result = trend_of(folders, min_effect=min_effect)
    for problem in result.problems:
        print_lines(complaints, f"mqperf: {without_passwords(problem)}")
    show_page(result, out, single_file=single_file)
    if fail_on is not None and result.worse(newest=fail_on == "newest-worse"):
        raise typer.Exit(1)


COMMAND = Command("trend", trend)
