"""The command ``mqperf gate``."""

import time
from pathlib import Path
from typing import Annotated

import typer

from mqperf.base.terminal import console, print_all
from mqperf.front.commands import Command

FAILED = 1
"""Exit code when the gate does not pass."""


def gate(
    baseline: Annotated[
        Path, typer.Argument(metavar="BASELINE", help="a folder of runs, or a plan to run in turns")
    ],
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="the plan to check")],
    budget: Annotated[str, typer.Option(help="Time limit for all runs, e.g. 10m.")] = "10m",
    decide: Annotated[
        str, typer.Option(metavar="DIFFERENCE", help="Difference of throughput that matters.")
    ] = "5%",
    summary: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Append the result as Markdown.")
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the verdicts as JUnit XML.")
    ] = None,
    trend: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Runs of PLAN go into a folder of DIR, for mqperf trend."),
    ] = None,
    runs: Annotated[
        Path | None, typer.Option(help="Folder of all other runs; data/runs/gate/TIME by default.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Also fail where nothing could be decided.")
    ] = False,
) -> None:
    """Measure a plan in turns with a baseline, until it is decided whether it is worse.

    Exit code 1: throughput is worse by that much, the records of a run contradict its numbers, or a
    run failed. Throughput is not judged if the baseline is of another machine or other versions.

    Examples: `mqperf gate before.yaml after.yaml --budget 10m`,
    `mqperf gate data/runs/main plan.yaml --decide 10% --junit gate.xml`
    """
    from rich.console import Console

    from mqperf_gate.front.measuring import opened, run
    from mqperf_gate.front.summary import junit as as_junit
    from mqperf_gate.front.summary import lines, markdown
    from mqperf_gate.front.verdicts import judged
    from mqperf_projects.front.durations import seconds

    budget_s, began = seconds(budget, "--budget"), time.monotonic()
    now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    base = runs or Path("data/runs/gate") / now
    folders = base / "baseline", trend / now if trend else base / "candidate"
    gate = opened(baseline, plan, (decide, budget_s), folders)
    gated = judged(gate, run(gate, budget_s, Console(highlight=False)))
    print_all(console, lines(gated))
    passes = gated.passes(strict=strict)
    if summary:
        with summary.open("a", encoding="utf-8") as file:
            file.write(markdown(gated, passes=passes))
    if junit:
        junit.write_text(as_junit(gated, time.monotonic() - began), encoding="utf-8")
    if not passes:
        raise typer.Exit(FAILED)


COMMAND = Command("gate", gate)
