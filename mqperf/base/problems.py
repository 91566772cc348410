"""Problems in a plan or in settings, as messages for their author."""

import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from mqperf.base.packages import BROUGHT
from mqperf.base.redaction import shown

Where = tuple[int | str, ...]
"""The path to a value: keys and list indexes."""

_KEY = re.compile(r"[\w-]{1,40}|\w[\w .,%+/-]{0,58}[\w%]")
"""A key, or the name of a condition, that messages may quote."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem: the path to the value, and a message."""

    where: Where
    text: str

    def sentence(self) -> str:
        """Return the path and the message as one sentence."""
        key = path(self.where)
        if not key:
            return self.text
        return f"{key} {self.text}" if self.text.startswith("is ") else f"{key}: {self.text}"


NOUNS = {
    "systems": "system",
    "topologies": "topology",
    "queues": "kind of queue",
    "test_cases": "test case",
    "test_case": "test case",
    "between": "role",
}

NAMED = 16
"""Most names that one message lists."""

COMPLETE: Mapping[str, str] = {
    "missing": "is missing",
    "too_short": "is empty: name at least one",
}
"""Complete messages, by pydantic's error type."""

EXPECTED: Mapping[str, str] = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a smaller whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "string_type": "text",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a mapping of keys to values",
    "mapping_type": "a mapping of keys to values",
    "model_type": "a mapping of keys to values",
    "model_attributes_type": "a mapping of keys to values",
    "string_pattern_mismatch": "letters, digits, '.', '_' and '-', a letter or digit first",
    "greater_than": "more than {gt}",
    "greater_than_equal": "at least {ge:,}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le:,}",
    "string_too_long": "at most {max_length} characters",
    "string_too_short": "at least {min_length} characters",
    "too_long": "at most {max_length} entries",
    "scalar": "a number, true, false or a short text",
}
"""Description of the expected value by pydantic's error type, to be formatted with its limits."""


def of_validation(
    error: ValidationError, known: Callable[[Where], Sequence[str]]
) -> Iterator[Problem]:
    """Yield a problem for each validation error; ``known`` returns the valid keys at a path.

    A misspelt key is reported once, as unknown, and not also as missing.
    """
    details = error.errors(include_url=False)
    misspelt = {
        (*where[:-1], close)
        for where in (detail["loc"] for detail in details if detail["type"] == "extra_forbidden")
        for close in _close(str(where[-1]), known(where[:-1]))
    }
    locations = [detail["loc"] for detail in details]
    for detail in details:
        inside = getattr(detail.get("ctx", {}).get("error"), "where", ())
        where = (*detail["loc"], *inside)
        if detail["type"] == "missing" and where in misspelt:
            continue
        if detail["type"] == "too_short" and any(loc[:-1] == where for loc in locations):
            continue  # not empty: all its entries are invalid
        if detail["type"] == "extra_forbidden":
            text = f"unknown key; {nearest(str(where[-1]), known(where[:-1]))}"
            yield Problem(where, text)
        else:
            yield Problem(where, _message(detail))


def nearest(name: str, known: Sequence[str]) -> str:
    """Return advice about an unknown name, as the end of a sentence.

    It names the package that adds it, the most similar known name, or the first ``NAMED`` known.
    """
    if name in BROUGHT:
        return f"install {BROUGHT[name]}, the package that brings it"
    close = _close(name, known)
    if close:
        return f"did you mean {close[0]!r}?"
    names = [*known[:NAMED], *([f"and {len(known) - NAMED} more"] if len(known) > NAMED else [])]
    return f"known: {', '.join(names)}"


def unknown(kind: str, name: object, known: Sequence[str]) -> str:
    """Return the message about a name of this kind that is not in ``known``."""
    got = shown(name)
    got = f", got {got}" if got.startswith(("a ", "an ")) else f" {got}"
    return f"unknown {NOUNS.get(kind, kind)}{got}; {nearest(str(name), known)}"


def integral(value: object) -> object:
    """Return a whole float as an int, since 1 and 1.0 must give the same id; else the value."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def path(where: Where) -> str:
    """Format the path for a message: ``load.green_threads entry 2``."""
    text = ""
    for step in where:
        if isinstance(step, int):
            text += f" entry {step + 1}"
        else:
            text += "." + (step if _KEY.fullmatch(step) else "(key)")
    return text.removeprefix(".")


def _message(detail: Any) -> str:  # noqa: ANN401 (pydantic's ErrorDetails)
    kind, got = detail["type"], detail["input"]
    limits: dict[str, Any] = {
        name: integral(value) for name, value in detail.get("ctx", {}).items()
    }
    if kind == "literal_error":
        key = next(str(part) for part in reversed(detail["loc"]) if isinstance(part, str))
        return _not_a_choice(key, got, re.findall(r"'([^']*)'", limits["expected"]))
    if kind in {"value_error", "assertion_error"}:
        return str(limits["error"])
    if kind in COMPLETE:
        return COMPLETE[kind]
    if kind in EXPECTED:
        return f"expected {EXPECTED[kind].format(**limits)}, got {shown(got)}"
    return f"is not valid here, got {shown(got)}"


def _not_a_choice(key: str, got: object, names: Sequence[str]) -> str:
    if isinstance(got, str):
        return unknown(key, got, names)
    return f"expected one of {', '.join(names)}, got {shown(got)}"


def _close(name: str, known: Sequence[str]) -> list[str]:
    return difflib.get_close_matches(name[:100], known, n=1, cutoff=0.5)
