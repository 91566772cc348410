"""Settings of a system in a plan: which of them are swept, and what their values are called."""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product
from typing import Annotated, Any

from pydantic import AfterValidator, JsonValue, PlainSerializer

from mqperf.base.redaction import hidden, redacted_value
from mqperf.plan.columns.parameters import parameters
from mqperf.plan.driver import sets_of
from mqperf.plan.values import as_tuple, distinct


def swept_settings(settings: Mapping[str, object]) -> dict[str, tuple[Any, ...]]:
    """The settings that are lists of values to be swept, or mappings of keys that may be such.

    Any other list or mapping is itself a value.
    """
    known = parameters()
    return {
        name: tuple(_points_of(given) if isinstance(given, Mapping) else given)
        for name, given in settings.items()
        if isinstance(given, list | Mapping) and name in known
    }


def _points_of(given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Every combination of each set of keys; one with a name stands under it, with what varies."""
    for name, keys in sets_of(given):
        for values in product(*map(as_tuple, keys.values())):
            point = dict(zip(keys, values, strict=True))
            varying = {key: point[key] for key in keys if isinstance(keys[key], list)}
            yield {", ".join(filter(None, [*name, worded(varying)])): point} if name else point


def worded(value: object) -> Any:  # noqa: ANN401 (what has no other word is itself)
    """A truth value as the plan writes it; a set of keys by its name, or all that it says."""
    if isinstance(value, Mapping):
        named = len(value) == 1 and isinstance(next(iter(value.values())), Mapping)
        words = value if named else (f"{key} {worded(each)}" for key, each in value.items())
        return ", ".join(words)
    return str(value).lower() if isinstance(value, bool) else value


def _sound_axes(settings: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    for name, values in swept_settings(settings).items():
        if not values:
            raise ValueError(f"{name} is empty: name at least one")
        try:
            distinct(tuple(map(worded, values)))
        except TypeError:
            raise ValueError(f"{name}: expected numbers or words in the list") from None
    return settings


Settings = Annotated[
    Mapping[str, JsonValue],
    AfterValidator(_sound_axes),
    AfterValidator(hidden),
    PlainSerializer(partial(redacted_value, variables=True)),
]
"""Settings of a system; in them, what holds a password is a type that cannot be printed."""


def redacted(settings: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The settings with ``***`` for every secret, fit for files that may be published."""
    return {key: redacted_value(value) for key, value in settings.items()}
