"""Printing for commands: a line stays one line, and its text cannot control the terminal."""

import shutil
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO

from mqperf.base.one_line import printable

if TYPE_CHECKING:
    from rich.console import Console


class PlainConsole:
    """Standard output or standard error, for lines without colours.

    It does not need Rich, which takes longer to import than most commands run.
    """

    def __init__(self, *, errors: bool = False) -> None:
        """Choose standard error if ``errors``, else standard output."""
        self._errors = errors

    @property
    def stream(self) -> TextIO:
        """The current stream, looked up each time: tests and notebooks replace it."""
        return sys.stderr if self._errors else sys.stdout

    @property
    def is_terminal(self) -> bool:
        """Whether the stream is a terminal."""
        return self.stream.isatty()

    @property
    def width(self) -> int:
        """Columns of the terminal; 80 without a terminal."""
        return shutil.get_terminal_size().columns


console, complaints = PlainConsole(), PlainConsole(errors=True)


def print_line(to: "Console | PlainConsole", text: str, style: str | None = None) -> None:
    """Print the text as one line, without markup; unsafe characters are replaced."""
    if isinstance(to, PlainConsole):
        print(printable(text), file=to.stream)
    else:
        to.print(printable(text), style=style, markup=False, emoji=False, soft_wrap=True)


def print_all(to: "Console | PlainConsole", lines: Iterable[str]) -> None:
    """Print each of the lines as soon as it is generated."""
    for line in lines:
        print_line(to, line)


def print_lines(to: "Console | PlainConsole", text: str, style: str | None = None) -> None:
    """Print an error or a log of several lines; all but the first are indented.

    So none of them looks like a line of mqperf's own.
    """
    first, *rest = text.split("\n")
    print_line(to, first, style)
    for line in rest:
        print_line(to, line if line.startswith("  ") else f"  {line}", style)
