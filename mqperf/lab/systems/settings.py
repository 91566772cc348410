"""Settings of systems in plans: what all have in common, and how they are checked."""

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
    """Settings that a system does not know, or cannot be started with."""

    def __init__(self, system: str, problems: Sequence[Problem]) -> None:
        """Take every problem; places count from the settings."""
        within = [Problem(("settings", *problem.where), problem.text) for problem in problems]
        super().__init__("\n".join(f"{system}: {problem.sentence()}" for problem in within))
        self.problems = problems


Flag = Annotated[bool, Field(strict=True)]
"""True or false, and no word for them."""


def _in_quotes(version: object) -> object:
    """A number has lost its last digit when it is read: 3.10 is 3.1."""
    if isinstance(version, int | float):
        raise ValueError(f'write the version in quotes: "{version}"')  # noqa: TRY004 (for pydantic)
    return version


VersionAsked = Annotated[str, BeforeValidator(_in_quotes), Field(pattern=r"^\d+(\.\d+)*$")]
"""``4.3``, for any 4.3.x."""


class SystemSettings(
    BaseModel, frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True
):
    """What a plan may say about any system."""

    start_timeout_s: int = Field(default=120, ge=1, le=86_400, strict=True)


@dataclass(frozen=True, slots=True)
class HostSettings:
    """Settings of every system that are about its hosts; packages add them.

    ``model`` has them by name, and leaves all others alone.  ``applied`` gives the hosts as they
    are with these settings, for as long as its context lasts.  It raises ``HostError`` where hosts
    cannot be had so.
    """

    name: str
    model: type[BaseModel]
    applied: Callable[[Any, Hosts], AbstractContextManager[Hosts]]


HOST_SETTINGS: Registry[HostSettings] = Registry("host_settings")

S = TypeVar("S", bound=SystemSettings)


def checked(system: str, model: type[S], settings: Mapping[str, JsonValue]) -> S:
    """Give the settings as ``model`` has them.

    Raises ``SettingsFault`` with every unknown key (naming the nearest known one) and every value
    of another type or out of range.
    """
    models = [kind.model for kind in HOST_SETTINGS.values()]
    others = [name for of_hosts in models for name in of_hosts.model_fields]
    try:
        for of_hosts in models:
            of_hosts.model_validate(settings)
        return model.model_validate({key: settings[key] for key in settings if key not in others})
    except ValidationError as error:
        problems = list(of_validation(error, lambda _: [*model.model_fields, *others]))
        raise SettingsFault(system, problems) from None
