"""The command line of causes: ``mqperf why``."""

import json
from typing import Annotated, Literal

import typer

from mqperf.base.terminal import console, print_all, print_line
from mqperf.front.commands import Command
from mqperf.front.results_cli import TablesFolder


def why(
    path: TablesFolder,
    form: Annotated[
        Literal["text", "json"], typer.Option("--format", help="Text, or one JSON object per line.")
    ] = "text",
) -> None:
    """Show why each run was not faster, with figures, and what would test it.

    Causes are ranked; without evidence that tells one from the others, it says so. Runs with
    `probes: [waits]` tell most.

    Examples: `mqperf why data/runs/quickstart`, `mqperf why data/samples/stress --format json`
    """
    from mqperf.study.stats.seconds import read_complete
    from mqperf.study.tables import of_plan
    from mqperf_diagnosis.pages.words import lines

    tables = of_plan(read_complete(path))
    if form == "json":
        for row in json.loads(tables["causes"].to_json(orient="records")):
            print_line(console, json.dumps(row, ensure_ascii=False))
        return
    print_all(console, lines(tables))


COMMAND = Command("why", why)
