"""The command ``mqperf stop``."""

from pathlib import Path
from typing import Annotated

import typer

from mqperf.front.commands import Command


def stop(
    runs: Annotated[
        Path | None,
        typer.Argument(metavar="[RUNS]", help="its runs folder; the only one by default"),
    ] = None,
) -> None:
    """Stop the sweep that a notebook started in the background, with all that it started.

    Whole runs are kept, and to start it again measures what is missing.

    Example: `mqperf stop data/runs/quickstart`
    """
    from mqperf_notebook.front.api import stop as stop_sweep

    stop_sweep(runs)


COMMAND = Command("stop", stop)
