"""Markdown tables."""

from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose cells are Markdown; a bar within a cell is kept from ending it."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines) + "\n"


def code(text: object) -> str:
    """A word as it is typed."""
    return f"`{text}`" if str(text) else ""


def prose(text: str) -> str:
    """A sentence of the code's, whose signs mean nothing to Markdown."""
    return text.replace("*", r"\*").replace("_", r"\_").replace("<", r"\<")


def _cell(text: str) -> str:
    return text.replace("|", r"\|")
