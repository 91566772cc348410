"""What commands print: a line is one line, and moves nothing on a terminal, whatever is in it."""

from rich.console import Console

from mqperf.base.one_line import printable


def print_line(console: Console, text: str, style: str | None = None) -> None:
    """Print the text as one line, to the letter, as far as it is printable."""
    console.print(printable(text), style=style, markup=False, emoji=False, soft_wrap=True)


def print_lines(console: Console, text: str, style: str | None = None) -> None:
    """Print an error or a log that has several lines; all but the first are indented.

    None of them looks like a line of ours.
    """
    first, *others = text.split("\n")
    print_line(console, first, style)
    for line in others:
        print_line(console, line if line.startswith("  ") else f"  {line}", style)
