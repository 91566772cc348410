"""What commands print: a line is one line, and moves nothing on a terminal, whatever is in it."""

import shutil
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO

from mqperf.base.one_line import printable

if TYPE_CHECKING:
    from rich.console import Console


class PlainConsole:
    """Standard output, or that of errors, for lines without colours.

    It does without Rich, which takes longer to import than most commands take.
    """

    def __init__(self, *, errors: bool = False) -> None:
        """Choose one of them."""
        self._errors = errors

    @property
    def stream(self) -> TextIO:
        """As it is now: tests and notebooks replace it."""
        return sys.stderr if self._errors else sys.stdout

    @property
    def is_terminal(self) -> bool:
        """Whether a person looks at it."""
        return self.stream.isatty()

    @property
    def width(self) -> int:
        """Columns of the terminal; 80 where there is none."""
        return shutil.get_terminal_size().columns


console, complaints = PlainConsole(), PlainConsole(errors=True)


def print_line(to: "Console | PlainConsole", text: str, style: str | None = None) -> None:
    """Print the text as one line, to the letter, as far as it is printable."""
    if isinstance(to, PlainConsole):
        print(printable(text), file=to.stream)
    else:
        to.print(printable(text), style=style, markup=False, emoji=False, soft_wrap=True)


def print_all(to: "Console | PlainConsole", lines: Iterable[str]) -> None:
    """Print each of these lines as it comes."""
    for line in lines:
        print_line(to, line)


def print_lines(to: "Console | PlainConsole", text: str, style: str | None = None) -> None:
    """Print an error or a log that has several lines; all but the first are indented.

    None of them looks like a line of ours.
    """
    first, *others = text.split("\n")
    print_line(to, first, style)
    for line in others:
        print_line(to, line if line.startswith("  ") else f"  {line}", style)
