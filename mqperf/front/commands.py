"""Registry of commands that packages add to the command line."""

from collections.abc import Callable
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
    """A command: its name, and the function that it calls, or the Typer app of a group."""

    name: str
    does: typer.Typer | Callable[..., None]

    @property
    def app(self) -> typer.Typer:
        """The Typer app of the group, or one with the function as its only command."""
        if isinstance(self.does, typer.Typer):
            return self.does
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command()(self.does)
        return app


COMMANDS: Registry[Command] = Registry("commands")


class Commands(TyperGroup):
    """mqperf's own commands, then those of packages, which are loaded only when needed."""

    @override
    def list_commands(self, ctx: object) -> list[str]:
        return [*self.commands, *COMMANDS]

    @override
    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the whole first sentence of each, which Typer would cut off."""
        commands = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        with formatter.section("Commands"):
            formatter.write_dl([(name, c.get_short_help_str(400)) for name, c in commands if c])

    @override
    def get_command(self, ctx: object, cmd_name: str) -> TyperCommand | None:
        command: Any = self.commands.get(cmd_name)
        if command is None and cmd_name in COMMANDS:
            command = typer.main.get_command(COMMANDS[cmd_name].app)
            command.name = cmd_name
        if command is None and (package := lacking(f"mqperf {cmd_name}")) is not None:
            raise PluginError(f"{cmd_name}: to get this command, install {package}")
        return command  # type: ignore[no-any-return]  # typer calls its classes by private names
