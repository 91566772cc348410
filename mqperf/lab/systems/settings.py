"""Settings of systems in plans: common settings and validation."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, JsonValue, ValidationError

from mqperf.base.errors import SystemFault
from mqperf.base.problems import Problem, of_validation
from mqperf.base.registry import Registry
from mqperf.hosts import Hosts


class SettingsFault(SystemFault):
    """Settings that a system does not know, or cannot start with."""

    def __init__(self, system: str, problems: Sequence[Problem]) -> None:
        """Raise all problems at once; their paths start below the settings."""
        full_paths = [Problem(("settings", *problem.where), problem.text) for problem in problems]
        super().__init__("\n".join(f"{system}: {problem.sentence()}" for problem in full_paths))
        self.problems = problems


Flag = Annotated[bool, Field(strict=True)]
"""A boolean; no text is accepted for it."""


def _in_quotes(version: object) -> object:
    """Reject numbers, which lose trailing zeros: 3.10 would be read as 3.1."""
    if isinstance(version, int | float):
        raise ValueError(f'write the version in quotes: "{version}"')  # noqa: TRY004 (for pydantic)
    return version


VersionAsked = Annotated[str, BeforeValidator(_in_quotes), Field(pattern=r"^\d+(\.\d+)*$")]
"""A version or its beginning: ``4.3`` for any 4.3.x."""


class SystemSettings(
    BaseModel, frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True
):
    """Settings of every system."""

    start_timeout_s: int = Field(default=120, ge=1, le=86_400, strict=True)


@dataclass(frozen=True, slots=True)
class HostSettings:
    """Settings of every system that concern its hosts; packages add them.

    ``model`` has them by name, and ignores all other settings.  The context ``applied`` provides
    the hosts with these settings.  It raises ``HostError`` where they cannot be applied.
    """

    name: str
    model: type[BaseModel]
    applied: Callable[[Any, Hosts], AbstractContextManager[Hosts]]


HOST_SETTINGS: Registry[HostSettings] = Registry("host_settings")

S = TypeVar("S", bound=SystemSettings)


def checked(system: str, model: type[S], settings: Mapping[str, JsonValue]) -> S:
    """Return the settings validated by ``model``.

    Raises ``SettingsFault`` with every unknown key (naming the nearest known one) and every value
    of another type or out of range.
    """
    models = [kind.model for kind in HOST_SETTINGS.values()]
    others = [name for host_model in models for name in host_model.model_fields]
    try:
        for host_model in models:
            host_model.model_validate(settings)
        return model.model_validate({key: settings[key] for key in settings if key not in others})
    except ValidationError as error:
        problems = list(of_validation(error, lambda _: [*model.model_fields, *others]))
        raise SettingsFault(system, problems) from None
