"""Settings of systems in plans: what all have in common, and how they are checked."""

from collections.abc import Mapping, Sequence
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from mqperf.base.errors import SystemFault
from mqperf.base.problems import Problem, of_validation


class SettingsFault(SystemFault):
    """Settings that a system does not know, or cannot be started with."""

    def __init__(self, system: str, problems: Sequence[Problem]) -> None:
        """Take every problem; places count from the settings."""
        within = [Problem(("settings", *problem.where), problem.text) for problem in problems]
        super().__init__("\n".join(f"{system}: {problem.sentence()}" for problem in within))
        self.problems = problems


Flag = Annotated[bool, Field(strict=True)]
"""True or false, and no word for them."""


class SystemSettings(BaseModel):
    """What a plan may say about any system."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True
    )

    start_timeout_s: int = Field(default=120, ge=1, le=86_400, strict=True)


S = TypeVar("S", bound=SystemSettings)


def checked(system: str, model: type[S], settings: Mapping[str, JsonValue]) -> S:
    """Give the settings as ``model`` has them.

    Raises ``SettingsFault`` with every unknown key (naming the nearest known one) and every value
    of another type or out of range.
    """
    try:
        return model.model_validate(settings)
    except ValidationError as error:
        problems = list(of_validation(error, lambda _: list(model.model_fields)))
        raise SettingsFault(system, problems) from None
