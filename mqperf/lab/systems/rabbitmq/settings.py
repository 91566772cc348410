"""Settings of RabbitMQ in a plan."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field, JsonValue, SecretStr, create_model, model_validator

from mqperf.base.errors import SystemFault
from mqperf.base.packages import package_of
from mqperf.base.registry import Registry
from mqperf.base.releases import is_of
from mqperf.base.urls import BrokerUrl
from mqperf.hosts import Host
from mqperf.lab.systems.rabbitmq.installation import Installation, package
from mqperf.lab.systems.rabbitmq.policies import POLICIES
from mqperf.lab.systems.rabbitmq.urls import ENCRYPTED, NodeUrl, unset, unusable, with_environment
from mqperf.lab.systems.service import Server
from mqperf.lab.systems.settings import Flag, SettingsFault, SystemSettings, VersionAsked, checked
from mqperf.plan import Case

if TYPE_CHECKING:
    from mqperf.lab.load import Endpoint
    from mqperf.lab.systems.rabbitmq.rabbitmqctl import Definitions, Rabbitmqctl


class Settings(SystemSettings):
    """Settings of a private cluster, or the addresses of an existing cluster.

    With ``urls`` (one per node, passwords as ``${VARIABLE}``) nothing is started; ``nodes`` are
    then the names of the nodes in reports.  With ``tls`` clients connect by TLS only.  ``version``,
    in quotes, selects another version than the installed one, ``4.3`` any 4.3.x.
    """

    name: ClassVar = "rabbitmq"

    management: Flag = False
    tls: Flag = False
    memory_watermark_mb: int = Field(default=1024, ge=64, le=16_777_216, strict=True)
    version: VersionAsked | None = None
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
    def _consistent_urls(self) -> "Settings":
        if self.tls and self.urls:
            raise ValueError(
                "tls is for a cluster that mqperf starts: leave it out beside urls, and begin these"
                f" with {ENCRYPTED}://"
            )
        if len({url.scheme == ENCRYPTED for url in self.endpoints}) > 1:
            raise ValueError(f"some urls begin with {ENCRYPTED}:// and some do not: all, or none")
        if self.version and self.urls:
            raise ValueError(
                "version is for a cluster that mqperf starts: leave it out beside urls"
            )
        return self

    def obtainable(self, host: Host) -> str:
        """Return the version that a host has or can install; raises ``SystemFault`` otherwise."""
        return self.installation(host).version

    def getting(self, _hosts: Sequence[Host]) -> Iterator[str]:
        """Install what the hosts lack, and yield a description before each step."""
        yield from ()

    def installation(self, host: Host) -> Installation:
        """Return the installed RabbitMQ of a host; raises as ``obtainable`` does."""
        found = package(host)
        if self.version is not None and not is_of(found.version, self.version):
            raise SystemFault(
                f"RabbitMQ {self.version} is not what is installed: install it, or"
                f" {package_of('mqperf software')}, which gets versions beside the installed one"
            )
        return found

    def check_version(self, version: str) -> None:
        """Raise ``SystemFault`` when RabbitMQ of this version does not support the settings."""

    @property
    def plugins(self) -> tuple[str, ...]:
        """The plugins that are enabled in the nodes of a private cluster."""
        return ("rabbitmq_management",) if self.management else ()

    def tuned(self, node: Server, _addresses: Mapping[str, str]) -> Server:
        """Return a node of a private cluster with these settings applied.

        It may listen at the given addresses, one for each name in ``EXTENSIONS``.
        """
        return node

    def listener(self, _case: Case) -> str | None:
        """Return the name in ``EXTENSIONS`` whose address the load of a case connects to.

        None is the address for AMQP.  Raises ``SystemFault`` if no node has such a listener.
        """
        return None

    def declared(self, _case: Case, _run_id: str, _version: str) -> "Definitions":
        """Return the initial content of a run's virtual host; of an existing cluster, only queues.

        Raises ``SystemFault`` for a version that does not support the protocol of the load.
        """
        return {}

    def reached(self, _case: Case, endpoint: "Endpoint") -> "Endpoint":
        """Return the endpoint for the load of a case, for protocols other than AMQP 0-9-1."""
        return endpoint

    @contextmanager
    def applied(self, _nodes: Sequence[Server], _rabbitmqctl: "Rabbitmqctl") -> Iterator[None]:
        """Enclose the start of nodes, to apply settings that no configuration file supports.

        Raises ``SettingsFault`` for settings that nodes reject.
        """
        yield

    def policies(self, queues: str) -> Mapping[str, Mapping[str, JsonValue]]:
        """Return the policies of a virtual host by name, for a kind of queue."""
        return POLICIES[queues]

    @property
    def encrypted(self) -> bool:
        """Whether clients connect by TLS only."""
        return self.tls or any(url.scheme == ENCRYPTED for url in self.endpoints)

    @property
    def endpoints(self) -> tuple[BrokerUrl, ...]:
        """The parsed URLs."""
        return tuple(BrokerUrl.parse(url.get_secret_value()) for url in self.urls)


EXTENSIONS: Registry[type[Settings]] = Registry("rabbitmq_settings")
"""Extensions by packages: derived classes, which cooperate by ``super``."""


@cache
def _model() -> type[Settings]:
    return create_model("Settings", __base__=(*EXTENSIONS.values(), Settings))


def parse_settings(settings: Mapping[str, JsonValue]) -> Settings:
    """Validate the settings and substitute environment variables in the URLs.

    Raises ``SettingsFault`` for an unknown key, a value out of range, an invalid URL, an unset
    variable, or unreadable certificates.
    """
    parsed = checked("rabbitmq", _model(), settings)
    urls = [url.get_secret_value() for url in parsed.urls]
    problems = unset(urls)
    if not problems:
        urls = [with_environment(url) for url in urls]
        problems = unusable(urls)
    if problems:
        raise SettingsFault("rabbitmq", problems)
    return parsed.model_copy(update={"urls": tuple(map(SecretStr, urls))})
