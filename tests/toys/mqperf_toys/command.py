"""A command that greets."""

import typer

from mqperf.front.commands import Command

app = typer.Typer(add_completion=False)


@app.command()
def hello(name: str) -> None:
    """Greet somebody."""
    typer.echo(f"Hello {name}!")


COMMAND = Command("toy-hello", app)
