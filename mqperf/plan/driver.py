"""Options of oslo.messaging's drivers: which each release has, and how a plan says them.

``driver`` of a load is a mapping of options, each of which may be a list; or of names to several
such sets, of which each point has one.  A case has every option as a parameter of its own.  The
table of options is what the libraries list themselves, and what they need besides; tests hold it to
that.
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
"""By driver its release of oslo.messaging, the section of its configuration, and its options.

Of an option that mqperf sets itself it says why (``reserved``), of others without which options
they are refused or ignored (``needs``), and the kind of queue that they declare (``declares``).
"""

SET = "driver"
"""The key of a load, and the parameter that has the name of a set of options."""

OPTIONS: Mapping[str, Mapping[str, Any]] = {
    name: option
    for driver in DRIVERS.values()
    for name, option in driver["options"].items()
    if "reserved" not in option
}
"""Those that a plan may say, of all drivers."""

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
    """The model with a field for every option of any driver."""
    fields: dict[str, Any] = {key: (_type(option), None) for key, option in OPTIONS.items()}
    return create_model(name, __base__=base, **fields)


def _type(option: Mapping[str, Any]) -> object:
    choices = option.get("choices")
    chosen: Any = Literal[tuple(choices)] if choices else TYPES[option["type"]]
    limits = Field(ge=option.get("min"), le=option.get("max"), description=option["meaning"])
    return Annotated[chosen | None, limits]


def sets_of(driver: object) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """The sets of options that a load names, each with its place in it; one without a name."""
    if isinstance(driver, Mapping):
        named = driver and all(isinstance(value, Mapping) for value in driver.values())
        places = [(name,) for name in driver] if named else [()]
        yield from zip(places, driver.values() if named else [driver], strict=True)


def points_of(driver: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The parameters by which points differ: every combination of each set, and its name."""
    for place, options in sets_of(driver):
        named = dict.fromkeys(place and (SET,), *place)
        for values in product(*map(as_tuple, options.values())):
            yield named | dict(zip(options, values, strict=True))


def number_of_points(driver: Mapping[str, Any]) -> int:
    """How many these are, without making them."""
    sets = (map(as_tuple, options.values()) for _, options in sets_of(driver))
    return sum(math.prod(map(len, values)) for values in sets)


def refusal(driver: str, name: str) -> str | None:
    """Why a plan cannot have this option of the driver of a release; None where it can."""
    known = DRIVERS[driver]["options"]
    if name not in known:
        release = DRIVERS[driver]["release"]
        usable = [option for option in known if option in OPTIONS]
        return f"oslo.messaging {release} for {driver} has no such option; {nearest(name, usable)}"
    reason = known[name].get("reserved")
    return reason and f"mqperf sets it itself: {reason}"
