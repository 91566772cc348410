"""The shipped plans: what each asks, how long it takes, and which packages it needs."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap

import yaml

from mqperf.base.packages import lacking
from mqperf.base.shipped import plan_file, shipped
from mqperf.front.preview import duration_s
from mqperf.plan.file import load_plan

SENTENCE = re.compile(r".+?[.?](?=\s|$)")

USUAL_WIDTH = 100
NAME, TIME = 26, 8
"""Widths of the name and of the time; the rest of a line is the question."""


@dataclass(frozen=True, slots=True)
class ShippedPlan:
    """A plan by its name; ``seconds`` is None where packages are missing."""

    name: str
    question: str
    seconds: float | None
    missing: Sequence[str]


def text_of(name: str) -> str:
    """Return the text of a shipped plan, or of a file; raise ``PlanError`` if there is neither."""
    return plan_file(Path(name)).read_text(encoding="utf-8")


def every_plan() -> list[ShippedPlan]:
    """Return all shipped plans, the shortest first; those that need a missing package last."""
    plans = [_read(file) for file in shipped("plans").glob("*.yaml")]
    return sorted(plans, key=lambda plan: (plan.seconds is None, plan.seconds or 0, plan.name))


def _read(file: Path) -> ShippedPlan:
    text = file.read_text(encoding="utf-8")
    missing = sorted(
        {package for name in _strings(yaml.safe_load(text)) if (package := lacking(name))}
    )
    seconds = None
    if not missing:
        plan = load_plan(file)
        seconds = duration_s(plan, plan.cases())
    return ShippedPlan(file.stem, question(text), seconds, missing)


def question(text: str) -> str:
    """Return the first sentence of a plan's comment."""
    comment = re.match(r"(?:#.*\n)*", text)
    words = " ".join(line.strip("# ") for line in (comment[0] if comment else "").splitlines())
    first = SENTENCE.match(words)
    return first[0] if first else words


def _strings(value: object) -> Iterator[str]:
    """Yield every key and every text in a document."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from (*_strings(key), *_strings(inner))
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
    elif isinstance(value, str):
        yield value


def lines(width: int | None) -> Iterator[str]:
    """Yield a line for each plan, and more where its question is long."""
    for plan in every_plan():
        needs = f" Needs {', '.join(plan.missing)}." if plan.missing else ""
        room = max((width or USUAL_WIDTH) - NAME - TIME - 2, 30)
        first, *others = wrap(plan.question + needs, room) or [""]
        yield f"{plan.name:<{NAME}}{_time(plan.seconds):>{TIME}}  {first}"
        yield from (f"{'':<{NAME + TIME + 2}}{line}" for line in others)


def _time(seconds: float | None) -> str:
    """Return a duration in minutes, or in hours where it is more than two."""
    if seconds is None:
        return "?"
    minutes = max(1, round(seconds / 60))
    return f"{minutes} min" if minutes <= 120 else f"{minutes / 60:.0f} h"
