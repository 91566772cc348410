"""What a plan may say about RabbitMQ."""

import os
import re
from collections.abc import Mapping, Sequence
from typing import Annotated
from urllib.parse import quote

from pydantic import AfterValidator, Field, JsonValue, SecretStr, model_validator

from mqperf.plan_file.problems import Problem
from mqperf.systems.settings import SettingsFault, SystemSettings, checked
from mqperf.urls import FORM, HIDDEN, BrokerUrl

SCHEMES = ("amqp", "rabbit")


def _of_a_node(url: SecretStr) -> SecretStr:
    parsed = BrokerUrl.parse(url.get_secret_value())
    if parsed.scheme not in SCHEMES:
        raise ValueError(f"its scheme must be {' or '.join(SCHEMES)}: expected {FORM}")
    if parsed.password is not None and parsed.password.get_secret_value() == HIDDEN:
        raise ValueError(f"its password was removed when the plan was copied: expected {FORM}")
    return url


NodeUrl = Annotated[SecretStr, AfterValidator(_of_a_node)]


class Settings(SystemSettings):
    """A private cluster's settings, or where an existing cluster is.

    With ``urls`` (one per node, passwords as ``${VARIABLE}``) nothing is started; ``nodes`` then
    gives the names by which reports call the nodes.  With ``tls`` clients connect encrypted only.
    With ``metrics`` the nodes tell of their inside.
    """

    management: bool = False
    metrics: bool = False
    tls: bool = False
    memory_watermark_mb: int = Field(default=1024, ge=64, le=16_777_216)
    nodes: tuple[str, ...] = ()
    urls: tuple[NodeUrl, ...] = ()

    @model_validator(mode="after")
    def _one_url_per_node(self) -> "Settings":
        if len(self.nodes) != len(self.urls):
            raise ValueError(
                f"{len(self.nodes)} nodes but {len(self.urls)} urls: give one of each per node"
            )
        return self

    @model_validator(mode="after")
    def _as_ours(self) -> "Settings":
        if self.tls and self.urls:
            raise ValueError("tls is for a cluster that mqperf starts: leave it out beside urls")
        if self.metrics and self.urls:
            raise ValueError(
                "metrics, and the probe inside, are for a cluster that mqperf starts: leave them"
                " out beside urls"
            )
        return self

    @property
    def endpoints(self) -> tuple[BrokerUrl, ...]:
        """The URLs, taken apart."""
        return tuple(BrokerUrl.parse(url.get_secret_value()) for url in self.urls)


def parse_settings(settings: Mapping[str, JsonValue]) -> Settings:
    """Check the settings and put the environment's values into the URLs.

    Raises ``SettingsFault`` for an unknown key, a value out of range, a URL that is none, or a
    variable that is not set.
    """
    parsed = checked("rabbitmq", Settings, settings)
    urls = [url.get_secret_value() for url in parsed.urls]
    problems = [*_unset(urls)]
    if not problems:
        urls = [_with_environment(url) for url in urls]
        problems = [*_unreachable(urls)]
    if problems:
        raise SettingsFault("rabbitmq", problems)
    return parsed.model_copy(update={"urls": tuple(map(SecretStr, urls))})


def _unset(urls: Sequence[str]) -> list[Problem]:
    """The variables that the URLs name and the environment lacks."""
    return [
        Problem(("urls", index), f"the environment variable {name} is not set: export it")
        for index, url in enumerate(urls)
        for name in dict.fromkeys(_VARIABLE.findall(url))
        if name not in os.environ
    ]


def _unreachable(urls: Sequence[str]) -> list[Problem]:
    """The URLs that are none with the environment's values in them."""
    problems = []
    for index, url in enumerate(urls):
        try:
            BrokerUrl.parse(url).port  # noqa: B018 (it checks)
        except ValueError as error:
            problems.append(Problem(("urls", index), str(error)))
    return problems


def _with_environment(url: str) -> str:
    return _VARIABLE.sub(lambda match: quote(os.environ[match[1]], safe=""), url)


_VARIABLE = re.compile(r"\$\{(\w+)\}")
