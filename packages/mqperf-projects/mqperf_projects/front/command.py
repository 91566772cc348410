"""The commands of who begins: ``mqperf plans`` and others, each a Typer of its own."""

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
