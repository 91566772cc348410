"""A command that greets."""

import typer

from mqperf.front.commands import Command


def hello(name: str) -> None:
    """Greet somebody."""
    typer.echo(f"Hello {name}!")


COMMAND = Command("toy-hello", hello)
