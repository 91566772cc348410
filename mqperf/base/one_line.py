"""Text that came from elsewhere as one line: what pages, terminals and paths may hold of it."""

import re
import unicodedata

LONGEST = 4000
"""Characters of a text that a page shows; twice as many, escaped, are still a line to docutils."""

UNKNOWN = "\N{REPLACEMENT CHARACTER}"

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""What may be the name of a file or folder: without separators, and not hidden."""

LONGEST_NAME = 100
"""Characters in a name of data that becomes a part of such a name."""

_REVERSING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""The controls of writing direction, by which a text looks like another one."""


def one_line(text: str, longest: int = LONGEST) -> str:
    """The text on one line, cut where it is too long.

    Line breaks and control characters are spaces; what no file or reader can take is replaced:
    lone surrogates, characters that Unicode will never have, controls of writing direction.
    """
    line = " ".join(printable(text).split())
    if len(line) > longest:
        line = line[: longest - 1].rstrip() + "\N{HORIZONTAL ELLIPSIS}"
    return line


def printable(text: str) -> str:
    """The same with every space and character kept that is harmless: what terminals may show."""
    return text if text.isprintable() else "".join(map(_harmless, text))


def amount(count: int, noun: str, plural: str = "") -> str:
    """A count with its noun: ``1 doubt``, ``2 processes``, ``no runs``."""
    return f"{count or 'no'} {noun if count == 1 else plural or f'{noun}s'}"


def percent(ratio: float) -> str:
    """A ratio as a change: ``+5 %``, or a fall with a real minus sign."""
    change = round((ratio - 1) * 100)
    return f"{change:+d} %".replace("-", "\N{MINUS SIGN}") if change else "0 %"


def percents(low: float, high: float) -> str:
    """The ends of an interval likewise: ``+2 to +8 %``."""
    return f"{percent(low).removesuffix(' %')} to {percent(high)}"


def _harmless(character: str) -> str:
    kind, number = unicodedata.category(character), ord(character)
    if kind in ("Cc", "Zl", "Zp"):
        return " "
    never = number & 0xFFFE == 0xFFFE or 0xFDD0 <= number <= 0xFDEF
    return UNKNOWN if kind == "Cs" or never or character in _REVERSING else character
