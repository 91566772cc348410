"""The command line, from the commands' own help."""

from collections.abc import Iterator

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

from mqperf.front.cli import app

from .grid import code, prose, table

HEADS = ("argument", "meaning")


def markdown() -> str:
    """A section for each command, those of groups with the name of the group before theirs."""
    return "\n".join(_sections("", typer.main.get_command(app)))


def _sections(prefix: str, group: TyperGroup) -> Iterator[str]:
    context = group.make_context("mqperf", [], resilient_parsing=True)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, TyperGroup):
            yield from _sections(f"{prefix}{name} ", command)
        else:
            yield _section(f"{prefix}{name}", command)


def _section(name: str, command: TyperCommand) -> str:
    context = command.make_context(f"mqperf {name}", [], resilient_parsing=True)
    parameters = command.get_params(context)
    words = [p.display_name_raw for p in parameters if isinstance(p, TyperArgument)]
    records = [record for p in parameters if (record := p.get_help_record(context))]
    rows = ((code(what), prose(meaning)) for what, meaning in records)
    usage = " ".join(["mqperf", name, "[OPTIONS]", *words])
    return f"## mqperf {name}\n\n```text\n{usage}\n```\n\n{command.help}\n\n{table(HEADS, rows)}"
