"""The configuration file of DISCOVERY's stressor of AMQP (2017), read as a plan.

It has lines of ``key = value``; a line without a key continues the value before it, as on the
slides.  Of a value *A or B*, A is taken.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from mqperf.base.errors import PlanError
from mqperf.base.problems import Where, nearest
from mqperf.base.redaction import shown
from mqperf.plan.file import Form

LOAD_KEYS = {
    "exchange_name": "exchange",
    "exchange_type": "exchange_type",
    "routing_key": "routing_key",
    "message_payload": "payload",
    "message_payload_file": "payload_file",
    "publish_rate": "rate_msg_s",
    "duration": "duration_s",
}
"""Key of the file -> key of a plan's load."""

NUMBERS = ("publish_rate", "duration")
WRAPPED = ("message_payload",)
"""Keys whose continuation lines are joined without a space."""

_KEY = re.compile(r"\s*(?P<key>[A-Za-z_][\w.-]*)\s*=\s*(?P<value>.*)", re.DOTALL)
_SKIPPED = re.compile(r"\s*([#;].*|\[.*\]\s*)?")
_FIRST = re.compile(r"(\S+)\s+or\s+\S.*", re.DOTALL)


@dataclass(slots=True)
class Entry:
    """A key, its line, and the lines of its value."""

    key: str
    line: int
    parts: list[str]

    @property
    def value(self) -> str:
        """The joined lines; the first of two alternatives."""
        if self.key in WRAPPED:
            return "".join(self.parts)
        text = " ".join(part for part in self.parts if part)
        choice = _FIRST.fullmatch(text)
        return choice[1] if choice else text


def as_plan(text: str, source: Path) -> tuple[str, dict[Where, int]]:
    """Return the YAML of a plan, one run on a private RabbitMQ, and the source line of each key.

    Raise ``PlanError`` with the line of the first problem.
    """
    entries: dict[str, Entry] = {}
    for entry in _entries(text, source):
        if entry.key not in LOAD_KEYS:
            hint = nearest(entry.key, list(LOAD_KEYS))
            raise PlanError(f"{source}:{entry.line}: unknown key {shown(entry.key)}; {hint}")
        if entry.key in entries:
            raise PlanError(f"{source}:{entry.line}: {entry.key} is given twice: keep one")
        entries[entry.key] = entry
    if "duration" not in entries:
        raise PlanError(f"{source}: duration is missing: give it in seconds")
    load = {LOAD_KEYS[key]: _value(entry, source) for key, entry in entries.items()}
    lines: dict[Where, int] = {
        ("load", LOAD_KEYS[key]): entry.line for key, entry in entries.items()
    }
    plan = yaml.safe_dump(
        {
            "title": f"RabbitMQ as {source.name} asks",
            "systems": {"rabbitmq": {"topologies": ["cmsm"]}},
            "test_cases": ["publish"],
            "load": {"generator": "amqp-0-9-1", "green_threads": 1, **load},
        },
        sort_keys=False,
        allow_unicode=True,
    )
    return plan, lines


def _entries(text: str, source: Path) -> Iterator[Entry]:
    entry: Entry | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if match := _KEY.fullmatch(line):
            if entry is not None:
                yield entry
            entry = Entry(match["key"], number, [match["value"].strip()])
        elif entry is not None and line.strip() and not line.lstrip().startswith(("#", ";")):
            entry.parts.append(line.strip())
        elif not _SKIPPED.fullmatch(line):
            raise PlanError(f"{source}:{number}: expected key = value, got {shown(line.strip())}")
    if entry is not None:
        yield entry


def _value(entry: Entry, source: Path) -> str | int | float:
    if entry.key not in NUMBERS:
        return entry.value
    try:
        number = float(entry.value)
    except ValueError:
        text = f"{entry.key}: expected a number, got {shown(entry.value)}"
        raise PlanError(f"{source}:{entry.line}: {text}") from None
    return int(number) if number.is_integer() else number


FORM = Form(".conf", as_plan)
