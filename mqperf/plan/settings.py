"""Settings of a system in a plan: which of them are swept, and the labels of their values."""

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
    """Return the values of swept settings: parameters that are lists, or mappings with lists.

    A list or mapping of any other setting is a single value.
    """
    known = parameters()
    return {
        name: tuple(_points_of(setting) if isinstance(setting, Mapping) else setting)
        for name, setting in settings.items()
        if isinstance(setting, list | Mapping) and name in known
    }


def _points_of(setting: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every combination of each set of keys, under the set's name and its varying keys."""
    for name, keys in sets_of(setting):
        for values in product(*map(as_tuple, keys.values())):
            point = dict(zip(keys, values, strict=True))
            varying = {key: point[key] for key in keys if isinstance(keys[key], list)}
            yield {", ".join(filter(None, [*name, worded(varying)])): point} if name else point


def worded(value: object) -> Any:  # noqa: ANN401 (any other value is returned as it is)
    """Return the label of a value: ``true`` of a boolean, the name or all keys of a set of keys."""
    if isinstance(value, Mapping):
        named = len(value) == 1 and isinstance(next(iter(value.values())), Mapping)
        labels = value if named else (f"{key} {worded(each)}" for key, each in value.items())
        return ", ".join(labels)
    return str(value).lower() if isinstance(value, bool) else value


def _checked_axes(settings: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
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
    AfterValidator(_checked_axes),
    AfterValidator(hidden),
    PlainSerializer(partial(redacted_value, variables=True)),
]
"""Settings of a system, in which texts with a password are a ``SecretStr``."""


def redacted(settings: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the settings with ``***`` for every secret, fit for files that may be published."""
    return {key: redacted_value(value) for key, value in settings.items()}
