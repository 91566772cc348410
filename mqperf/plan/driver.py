"""Options of oslo.messaging's drivers: those of each release, and their form in plans.

``driver`` of a load maps options to values, each of which may be a list; or it maps names to
several such sets, of which each point has one.  A case has every option as a separate parameter.
The table of options is taken from the libraries, plus their requirements; tests compare the two.
"""

import json
import math
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import Field, create_model, model_validator

from mqperf.base.problems import nearest
from mqperf.plan.values import Frozen, Misplaced, as_tuple

DRIVERS: Mapping[str, Any] = json.loads(
    Path(__file__).with_name("driver_options.json").read_text("utf-8")
)
"""By driver: its release of oslo.messaging, the section of its configuration, and its options.

``reserved`` is the reason why mqperf sets an option itself, ``needs`` lists options without which
it is refused or ignored, and ``declares`` is the kind of queue that it declares.
"""

SET = "driver"
"""The key of a load with the options, and the parameter with the name of their set."""

OPTIONS: Mapping[str, Mapping[str, Any]] = {
    name: option
    for driver in DRIVERS.values()
    for name, option in driver["options"].items()
    if "reserved" not in option
}
"""The options of all drivers that a plan may set."""

KINDS = {name: option["declares"] for name, option in OPTIONS.items() if "declares" in option}
"""The kind of queue that an option declares."""

TYPES = {"boolean": bool, "integer": int, "number": float, "text": str}


class Driven(Frozen):
    """Parameters among which are options of a driver."""

    driver: str | None = Field(
        None, title="driver options", description="Name of the set of the driver's options."
    )

    @model_validator(mode="after")
    def _go_together(self) -> Self:
        options = {name: getattr(self, name) for name in OPTIONS}
        for name, value in options.items():
            for other in OPTIONS[name].get("needs", ()):
                if value and not options.get(other):
                    text = f"the driver refuses or ignores it without {other}: set that, too"
                    raise Misplaced((name,), text)
        kinds = {kind: name for name, kind in KINDS.items() if options[name] is True}
        if "mirrored" in kinds and "quorum" in kinds:
            text = f"queues cannot be mirrored as well: leave out {kinds['mirrored']}"
            raise Misplaced((kinds["quorum"],), text)
        return self


D = TypeVar("D", bound=Driven)


def with_options(name: str, base: type[D]) -> type[D]:
    """Return a model with a field for every option of any driver."""
    fields: dict[str, Any] = {key: (_type(option), None) for key, option in OPTIONS.items()}
    return create_model(name, __base__=base, **fields)


def _type(option: Mapping[str, Any]) -> object:
    choices = option.get("choices")
    kind: Any = Literal[tuple(choices)] if choices else TYPES[option["type"]]
    limits = Field(ge=option.get("min"), le=option.get("max"), description=option["meaning"])
    return Annotated[kind | None, limits]


def sets_of(driver: object) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Yield each set of options with its path in ``driver``, which is empty for an unnamed set."""
    if isinstance(driver, Mapping):
        named = driver and all(isinstance(value, Mapping) for value in driver.values())
        paths = [(name,) for name in driver] if named else [()]
        yield from zip(paths, driver.values() if named else [driver], strict=True)


def points_of(driver: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the parameters of each point: every combination of each set, and the set's name."""
    for path, options in sets_of(driver):
        set_name = dict.fromkeys(path and (SET,), *path)
        for values in product(*map(as_tuple, options.values())):
            yield set_name | dict(zip(options, values, strict=True))


def number_of_points(driver: Mapping[str, Any]) -> int:
    """Count what ``points_of`` yields, without building it."""
    sets = (map(as_tuple, options.values()) for _, options in sets_of(driver))
    return sum(math.prod(map(len, values)) for values in sets)


def refusal(driver: str, name: str) -> str | None:
    """Return why a plan cannot set this option of a release's driver; None where it can."""
    known = DRIVERS[driver]["options"]
    if name not in known:
        release = DRIVERS[driver]["release"]
        usable = [option for option in known if option in OPTIONS]
        return f"oslo.messaging {release} for {driver} has no such option; {nearest(name, usable)}"
    reason = known[name].get("reserved")
    return reason and f"mqperf sets it itself: {reason}"
