"""A plan's settings of a private RabbitMQ beyond those of mqperf itself."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import ClassVar, Literal, Self

from pydantic import Field, JsonValue, ValidationInfo, field_validator, model_validator
from typing_extensions import override

from mqperf.base.errors import SystemFault
from mqperf.base.problems import Problem, Where
from mqperf.lab.systems.evidence import text
from mqperf.lab.systems.private import AgainError
from mqperf.lab.systems.rabbitmq.rabbitmqctl import Rabbitmqctl
from mqperf.lab.systems.rabbitmq.settings import Settings
from mqperf.lab.systems.service import Server
from mqperf.lab.systems.settings import Flag, SettingsFault
from mqperf.plan.driver import sets_of
from mqperf.plan.values import Misplaced
from mqperf_rabbitmq.lab import files, metadata, telling
from mqperf_rabbitmq.lab.presets import PRESETS, Keys
from mqperf_rabbitmq.lab.refusals import refused
from mqperf_rabbitmq.lab.reserved import reserved

FREE = ("config", "advanced", "environment", "policy")
"""The settings whose keys are RabbitMQ's, not mqperf's."""

KEY_FORMS: Mapping[str, str] = {
    "config": r"[a-z][\w.$-]*",
    "advanced": r"[a-z]\w*\.[a-z]\w*",
    "environment": r"[A-Z][A-Z0-9_]*",
    "policy": r"[a-z][a-z0-9-]*",
}
"""Setting -> pattern of its keys; of advanced.config they are ``APPLICATION.KEY``."""


class FreeSettings(Settings):
    """Keys of RabbitMQ's files, variables and policy: those of a preset and those of the plan."""

    name: ClassVar = "free"

    metrics: Flag = False
    preset: Literal[tuple(PRESETS)] | None = None  # type: ignore[valid-type]
    config: dict[str, JsonValue] = Field(default_factory=dict)
    advanced: dict[str, JsonValue] = Field(default_factory=dict)
    environment: dict[str, JsonValue] = Field(default_factory=dict)
    policy: dict[str, JsonValue] = Field(default_factory=dict)
    metadata_store: Literal["mnesia", "khepri"] | None = None

    @field_validator(*FREE)
    @classmethod
    def _settable(cls, given: dict[str, JsonValue], info: ValidationInfo) -> dict[str, JsonValue]:
        setting = str(info.field_name)
        for place, keys in sets_of(given):
            for key, value in keys.items():
                if why := _refusal(setting, key, value):
                    raise Misplaced((*place, key), why)
        return given

    @model_validator(mode="after")
    def _of_private_clusters(self) -> Self:
        if self.metrics and self.urls:
            raise ValueError(
                "metrics, and the probe inside, are for a cluster that mqperf starts: leave them"
                " out beside urls"
            )
        named = [name for name in ("preset", *FREE, "metadata_store") if getattr(self, name)]
        if self.urls and named:
            raise ValueError(
                f"{named[0]} is for a cluster that mqperf starts: leave it out beside urls"
            )
        return self

    def keys(self, setting: str) -> Keys:
        """Return all keys of a setting: those of the preset, overridden by the plan's."""
        sets = (keys for _, keys in sets_of(getattr(self, setting)))
        return {**getattr(PRESETS[self.preset or "none"], setting), **next(sets, {})}

    @override
    def check_version(self, version: str) -> None:
        super().check_version(version)
        if self.metrics:
            telling.check(version)
        if self.metadata_store is not None:
            metadata.check(self.metadata_store, version)

    @property
    @override
    def plugins(self) -> tuple[str, ...]:
        return (*super().plugins, *([telling.PLUGIN] if self.metrics else []))

    @override
    def tuned(self, node: Server, addresses: Mapping[str, str]) -> Server:
        node, metrics = super().tuned(node, addresses), addresses[FreeSettings.name]
        config = {**(telling.config(metrics) if self.metrics else {}), **self.keys("config")}
        node = telling.told(node, metrics) if self.metrics else node
        return files.tuned(node, config, self.keys("advanced"), self.keys("environment"))

    @contextmanager
    @override
    def applied(self, nodes: Sequence[Server], rabbitmqctl: Rabbitmqctl) -> Iterator[None]:
        try:
            yield
        except AgainError:
            raise
        except SystemFault:
            self._explain(nodes, rabbitmqctl.installation.version)
            raise
        if self.metadata_store is not None:
            metadata.applied(self.metadata_store, rabbitmqctl, nodes[0].name)

    @override
    def policies(self, queues: str) -> Mapping[str, Mapping[str, JsonValue]]:
        return files.policies(super().policies(queues), self.keys("policy"))  # type: ignore[return-value]

    def _explain(self, nodes: Sequence[Server], version: str) -> None:
        """Raise ``SettingsFault`` if the log of a node says which setting it refuses."""
        for node in nodes:
            if (answer := refused(text(node.host, node.log), [*self._places()])) is not None:
                where, why = answer
                problem = Problem(where, f"RabbitMQ {version} refuses it: {why}")
                raise SettingsFault("rabbitmq", [problem])

    def _places(self) -> Iterator[Where]:
        """Yield the path in the plan that sets each key: the key's own, or the preset's."""
        for setting in FREE:
            sets = sets_of(getattr(self, setting))
            named = {key: (setting, *place, key) for place, keys in sets for key in keys}
            for key in self.keys(setting):
                yield named.get(key, ("preset", key))


def _refusal(setting: str, key: str, value: object) -> str | None:
    if not re.fullmatch(KEY_FORMS[setting], key):
        return f"is no key of {setting}: expected such as {EXAMPLES[setting]}"
    if not isinstance(value, str | int | float):
        return "expected a number, true, false or text, or a list of such"
    if isinstance(value, str) and not value.isprintable():
        return "expected one line of text"
    why = reserved(setting, key)
    return why and f"a plan cannot set it: {why}"


EXAMPLES: Mapping[str, str] = {
    "config": "net_ticktime",
    "advanced": "kernel.net_ticktime",
    "environment": "RABBITMQ_IO_THREAD_POOL_SIZE",
    "policy": "max-length",
}
"""Setting -> an example of its keys."""
