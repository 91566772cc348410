"""Formats of answers: numbers with their intervals, and labels of what they are about."""

import re
from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from typing import Any

import pandas as pd

from mqperf.pages.figures import labels
from mqperf.pages.report.limits import LIMITS
from mqperf.pages.report.rst import Text
from mqperf.pages.report.words import joined, three_figures
from mqperf.plan.test_cases import TEST_CASES
from mqperf.study.tables import Tables, at
from mqperf.study.tables.axes import LAYOUT

Row = Mapping[Any, Any]

WORTH_SAYING = {"host", "broker", "tester", "network"}
"""Kinds of bottleneck that a sentence names."""


def ranged(value: float, ends: tuple[float, float], unit: str) -> str:
    """Format a value with its interval, if known: ``1,190 (1,150 to 1,230) msg/sec``."""
    interval = "" if any(map(isnan, ends)) else f" ({grouped(ends[0])} to {grouped(ends[1])})"
    return f"{grouped(value)}{interval} {unit}"


def grouped(value: float) -> str:
    """Format three significant figures, with thousands separators: ``11,800``, ``4.36``."""
    text = three_figures(value)
    return f"{float(text):,.0f}" if abs(value) >= 1000 else text


def spanned(values: pd.Series, unit: str) -> str:
    """Format the range of values: ``3.1 s``, or ``2.9 to 3.4 s``."""
    ends = dict.fromkeys(f"{value:.1f}" for value in (values.min(), values.max()))
    return f"{' to '.join(ends)} {unit}"


def case_of(row: Row) -> str:
    """Return the short title of the test case: ``CALL``."""
    return TEST_CASES[row["test_case"]].short


def rate_unit(row: Row) -> str:
    """Return the unit of rates of the test case: ``msg/sec``, or another."""
    return f"{TEST_CASES[row['test_case']].unit}/sec"


def where_of(row: Row, varying: Sequence[str], tables: Tables) -> str:
    """Return layout and parameters that distinguish rows; empty if nothing does."""
    return ", ".join(filter(None, [layout_of(row, tables), at(row, varying) if varying else ""]))


def layout_of(row: Row, tables: Tables) -> str:
    """Return the distinguishing name of the layout among these runs; empty if there is one."""
    runs = tables["runs"]
    several = [name for name in LAYOUT if len(runs[name].dropna().unique()) > 1]
    if several in ([], ["queues"]):
        return labels.kind(str(row["queues"])) if several else ""
    system = f"{system_title(row['system'], tables)}, " if "system" in several else ""
    return system + labels.layout(str(row["topology"]), str(row["queues"]))


def system_title(system: str, tables: Tables) -> str:
    """Return the title of a system."""
    runs = tables["runs"]
    titles = runs.loc[runs["system"].eq(system), "system_title"].dropna()
    return str(titles.iloc[0]) if len(titles) else str(system)


def bold(subject: str, *context: str) -> Text:
    """Format ``**CALL**``, followed by a context in parentheses, if any."""
    text = ", ".join(filter(None, context))
    return Text("**{}** ({})").format(subject, text) if text else Text("**{}**").format(subject)


def listed(parts: Iterable[str]) -> Text:
    """Join parts in a list: ``a, b and c``; finished RST is not escaped again."""
    return Text(joined([Text.escape(part) for part in parts]))


def limit_of(row: Row) -> str:
    """Return the bottleneck at the rate that is too high, if it is worth mentioning."""
    limit = str(row["limit"]).partition(":")[0]
    return f", where {LIMITS[limit]} is the limit" if limit in WORTH_SAYING else ""


def cited(doubted: object) -> str:
    """Return a suffix with the kinds of doubt about a number; empty if there is none.

    Doubts about two sides (``A: noisy-host; B: lost``) are merged, each kind once.
    """
    if not isinstance(doubted, str) or not doubted:
        return ""
    kinds = dict.fromkeys(re.split(", |; ", re.sub(r"\b[AB]: ", "", doubted)))
    return f"; doubted: {', '.join(kinds)}"
