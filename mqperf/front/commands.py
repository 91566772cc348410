"""Commands that packages add to the command line."""

from dataclasses import dataclass
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typing_extensions import override

from mqperf.base.errors import PluginError
from mqperf.base.packages import lacking
from mqperf.base.registry import Registry


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its name, and a Typer with one command alone, or with those of a group."""

    name: str
    app: typer.Typer


COMMANDS: Registry[Command] = Registry("commands")


class Commands(TyperGroup):
    """mqperf's own commands, then those of packages, which are asked when none has the name."""

    @override
    def list_commands(self, ctx: object) -> list[str]:
        return [*self.commands, *COMMANDS]

    @override
    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The whole first sentence of each, where Typer would cut it off."""
        every = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        with formatter.section("Commands"):
            formatter.write_dl([(name, of.get_short_help_str(400)) for name, of in every if of])

    @override
    def get_command(self, ctx: object, cmd_name: str) -> TyperCommand | None:
        command: Any = self.commands.get(cmd_name)
        if command is None and cmd_name in COMMANDS:
            command = typer.main.get_command(COMMANDS[cmd_name].app)
            command.name = cmd_name
        if command is None and (package := lacking(f"mqperf {cmd_name}")) is not None:
            raise PluginError(f"{cmd_name}: to have this command, install {package}")
        return command  # type: ignore[no-any-return]  # typer calls its classes by private names
