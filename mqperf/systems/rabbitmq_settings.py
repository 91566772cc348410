"""What a plan may say about RabbitMQ."""

import os
import re
from collections.abc import Mapping
from urllib.parse import quote

from pydantic import Field, JsonValue, model_validator

from mqperf.errors import SystemFault
from mqperf.systems.settings import SystemSettings, checked


class Settings(SystemSettings):
    """A private cluster's settings, or where an existing cluster is.

    With ``urls`` (one per node, passwords as ``${VARIABLE}``) nothing is started; ``nodes`` then
    gives the names by which reports call the nodes.
    """

    management: bool = False
    memory_watermark_mb: int = Field(default=1024, ge=64)
    nodes: tuple[str, ...] = ()
    urls: tuple[str, ...] = Field(default=(), repr=False)

    @model_validator(mode="after")
    def _one_url_per_node(self) -> "Settings":
        if len(self.nodes) != len(self.urls):
            raise ValueError(f"{len(self.nodes)} nodes but {len(self.urls)} urls")
        return self


def parse_settings(settings: Mapping[str, JsonValue]) -> Settings:
    """Check the settings and put the environment's values into the URLs.

    Raises ``SystemFault`` for an unknown key, a value out of range, or a variable that is not set.
    """
    parsed = checked("rabbitmq", Settings, settings)
    return parsed.model_copy(update={"urls": tuple(map(_with_environment, parsed.urls))})


def _with_environment(url: str) -> str:
    def value(match: re.Match[str]) -> str:
        found = os.environ.get(match[1])
        if found is None:
            raise SystemFault(
                f"rabbitmq: the environment variable {match[1]} in a URL is not set: export it"
            )
        return quote(found, safe="")

    return re.sub(r"\$\{(\w+)\}", value, url)
