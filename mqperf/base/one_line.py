"""Make text from outside safe for pages, terminals and paths."""

import re
import unicodedata

LONGEST = 4000
"""Most characters of a text on a page; docutils still accepts twice as many, escaped, as a line."""

UNKNOWN = "\N{REPLACEMENT CHARACTER}"

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""A safe name of a file or folder: without separators, and not hidden."""

LONGEST_NAME = 100
"""Most characters of a recorded name that becomes a part of a file name."""

_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Controls of writing direction, which can make a text look like another one."""


def one_line(text: str, longest: int = LONGEST) -> str:
    """Return the text as one line of at most ``longest`` characters.

    Line breaks and control characters become spaces; lone surrogates, Unicode noncharacters and
    controls of writing direction become U+FFFD.
    """
    line = " ".join(printable(text).split())
    if len(line) > longest:
        line = line[: longest - 1].rstrip() + "\N{HORIZONTAL ELLIPSIS}"
    return line


def printable(text: str) -> str:
    """Replace unsafe characters as ``one_line`` does, but keep the spaces: safe for terminals."""
    return text if text.isprintable() else "".join(map(_harmless, text))


def amount(count: int, noun: str, plural: str = "") -> str:
    """Format a count with its noun: ``1 doubt``, ``2 processes``, ``no runs``."""
    return f"{count or 'no'} {noun if count == 1 else plural or f'{noun}s'}"


def percent(ratio: float) -> str:
    """Format a ratio as a relative change: ``+5 %``; negative ones have a Unicode minus sign."""
    change = round((ratio - 1) * 100)
    return f"{change:+d} %".replace("-", "\N{MINUS SIGN}") if change else "0 %"


def percents(low: float, high: float) -> str:
    """Format an interval of ratios as relative changes: ``+2 to +8 %``."""
    return f"{percent(low).removesuffix(' %')} to {percent(high)}"


def _harmless(character: str) -> str:
    category, code = unicodedata.category(character), ord(character)
    if category in ("Cc", "Zl", "Zp"):
        return " "
    noncharacter = code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
    return UNKNOWN if category == "Cs" or noncharacter or character in _BIDI else character
