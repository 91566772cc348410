"""Settings of systems in plans: what all have in common, and how they are checked."""

from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from mqperf.errors import SystemFault


class SystemSettings(BaseModel):
    """What a plan may say about any system."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    start_timeout_s: int = Field(default=60, ge=1)


S = TypeVar("S", bound=SystemSettings)


def checked(system: str, model: type[S], settings: Mapping[str, JsonValue]) -> S:
    """Give the settings as ``model`` has them.

    Raises ``SystemFault`` for an unknown key (listing the known ones) or a value out of range.
    """
    try:
        return model.model_validate(settings)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(["settings", *map(str, first["loc"])])
        known = ", ".join(model.model_fields)
        raise SystemFault(f"{system}: {where}: {first['msg']} (known: {known})") from None
