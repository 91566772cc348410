"""The commands of who begins: ``mqperf plans`` and others, each a Typer of its own."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from mqperf.base.terminal import print_line
from mqperf.front.commands import Command

console = Console(highlight=False)


def _app() -> typer.Typer:
    return typer.Typer(add_completion=False, rich_markup_mode="markdown")


plans_app = _app()


@plans_app.command()
def plans(
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="a shipped plan, e.g. quickstart")
    ] = "",
) -> None:
    """List the plans that come with mqperf, the shortest first; or print one of them.

    A line for each: its name, how long it takes, what must be installed for it, and its question.
    All commands take such a plan by its name, where no file is called so.

    Examples: `mqperf plans`, `mqperf plans quickstart >mine.yaml`, `mqperf run quickstart`
    """
    from mqperf_projects.front.listing import lines, text_of

    width = console.width if console.is_terminal else None
    for line in text_of(name).splitlines() if name else lines(width):
        print_line(console, line)


PLANS = Command("plans", plans_app)


new_app = _app()


@new_app.command()
def new(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="a folder, new or empty")],
    question: Annotated[
        str,
        typer.Option(
            help="What to find out: saturation, scaling, sustained, comparison, factor, outage."
        ),
    ] = "saturation",
    system: Annotated[str, typer.Option(help="The system to measure.")] = "",
    test_case: Annotated[str, typer.Option("--test-case", help="What clients do.")] = "",
    values: Annotated[
        str, typer.Option(help="What is varied, separated by commas, e.g. '1, 5, 25' threads.")
    ] = "",
) -> None:
    """Make a project: a plan for a question, notebooks, data/, reports/, README and a file for CI.

    On a terminal it asks for what no option says: system, test case, and the values to vary.
    Elsewhere it takes rabbitmq, rpc-call, and the usual values.

    Examples: `mqperf new limits`, `mqperf new threads --question scaling --values "1, 10, 50"`
    """
    from mqperf_projects.front.project import check_empty, create
    from mqperf_projects.front.questions import plan_text, template

    of = template(question)
    check_empty(folder)
    system = system or _asked("system", "rabbitmq")
    test_case = test_case or _asked("test case", "rpc-call")
    text = plan_text(question, system, test_case, values or _asked(of.values, of.usual))
    create(folder, question, test_case, text)
    for line in text.splitlines():
        print_line(console, line)
    print_line(console, "")
    print_line(console, f"written to {folder}: mqperf run {question}.yaml measures it there")


def _asked(what: str, usual: str) -> str:
    """What a person answers, or what is usual where nobody is there to answer."""
    if not _is_terminal():
        return usual
    answer: str = typer.prompt(what, default=usual)
    return answer


def _is_terminal() -> bool:
    return sys.stdin.isatty()


NEW = Command("new", new_app)
