"""CSV files whose text spreadsheets do not evaluate as formulas.

A text that begins like a formula is written with an apostrophe before it, which makes spreadsheets
treat it as text; reading removes the apostrophe.  Numbers are written unchanged.
"""

import re
from pathlib import Path

import pandas as pd

DATES = "%Y-%m-%dT%H:%M:%S.%fZ"

FORMULA = r"'*[=+\-@\t\r]"
"""The beginning of a text that gets an apostrophe: a formula, or one that has an apostrophe."""

_FORMULA = re.compile(FORMULA)
_NUMBER = re.compile(r"[-+]?[0-9]+([.][0-9]*)?(e[-+]?[0-9]{1,3})?")


def write_csv(frame: pd.DataFrame, file: Path, *, header: bool = True) -> None:
    """Write the frame without its index; instants in UTC."""
    marked = frame.set_axis([mark(str(name)) for name in frame.columns], axis="columns")
    for number in range(frame.shape[1]):
        column = frame.iloc[:, number]
        if not pd.api.types.is_any_real_numeric_dtype(column):
            texts = [text for text in column.unique() if isinstance(text, str)]
            if changed := {text: mark(text) for text in texts if mark(text) != text}:
                marked.isetitem(number, column.replace(changed).array)
    marked.to_csv(file, index=False, header=header, date_format=DATES)


def mark(text: str) -> str:
    """The text as written: with an apostrophe if it begins like a formula and is no number."""
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def unmarked(texts: pd.Series) -> pd.Series:
    """Texts without the apostrophe that ``mark`` added."""
    return texts.str.replace(rf"^'({FORMULA})", r"\1", regex=True)
