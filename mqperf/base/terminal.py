"""What commands print: a line is one line, and moves nothing on a terminal, whatever is in it."""

import sys
from typing import TYPE_CHECKING, Any

from mqperf.base.one_line import printable

if TYPE_CHECKING:
    from rich.console import Console


class Output:
    """Standard output, or that of errors, for lines without a look.

    Rich, which most commands need for nothing else, takes longer to import than they take: it is
    asked where a command wants to know more of the terminal, such as its ``width``.
    """

    def __init__(self, *, errors: bool = False) -> None:
        """Choose one of them."""
        self.errors = errors

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (whatever Rich tells)
        from rich.console import Console

        return getattr(Console(stderr=self.errors), name)


def print_line(console: "Console | Output", text: str, style: str | None = None) -> None:
    """Print the text as one line, to the letter, as far as it is printable."""
    if isinstance(console, Output):
        print(printable(text), file=sys.stderr if console.errors else sys.stdout)
    else:
        console.print(printable(text), style=style, markup=False, emoji=False, soft_wrap=True)


def print_lines(console: "Console | Output", text: str, style: str | None = None) -> None:
    """Print an error or a log that has several lines; all but the first are indented.

    None of them looks like a line of ours.
    """
    first, *others = text.split("\n")
    print_line(console, first, style)
    for line in others:
        print_line(console, line if line.startswith("  ") else f"  {line}", style)
