"""RabbitMQ in the folder of its archive, with the installed Erlang or another version of it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Self

from pydantic import model_validator
from typing_extensions import override

from mqperf.hosts import Host
from mqperf.hosts.software import Root
from mqperf.lab.product import Product
from mqperf.lab.systems.rabbitmq.installation import Installation, in_folder
from mqperf.lab.systems.rabbitmq.settings import Settings
from mqperf.lab.systems.settings import VersionAsked
from mqperf.lab.tool import Tool

LIMIT_S = 60
RELEASE = "io:put_chars(erlang:system_info(otp_release)), halt()."


def installed_erlang(host: Host) -> str:
    """The release of the installed Erlang, such as ``25``."""
    program = ERLANG.tool.on(ERLANG.title, host)
    return host.run([program, "-noshell", "-eval", RELEASE], timeout_s=LIMIT_S).stdout.strip()


ERLANG = Product("Erlang", Tool("erlang-nox", "erl", packages=("erlang-nox",)), installed_erlang)


class ArchiveSettings(Settings):
    """``home`` is the folder of an unpacked archive on the hosts; ``erlang`` runs it.

    ``erlang`` is a version in quotes, ``27`` for any 27.x, and the installed one without it.
    """

    name: ClassVar = "archive"

    home: Path | None = None
    erlang: VersionAsked | None = None

    @model_validator(mode="after")
    def _one_archive(self) -> Self:
        if self.home is None:
            if self.erlang is not None:
                raise ValueError("erlang runs the folder of an archive: give home as well")
            return self
        if self.version is not None:
            raise ValueError("version and home are two ways to have another RabbitMQ: give one")
        if not self.home.is_absolute():
            raise ValueError(f"home: {self.home} is no absolute path of a folder on the hosts")
        if self.urls:
            raise ValueError("home is for a cluster that mqperf starts: leave it out beside urls")
        return self

    @override
    def obtainable(self, host: Host) -> str:
        if self.home is None:
            return super().obtainable(host)
        ERLANG.lacks(host, self.erlang)
        return _archive(host, self.home).version

    @override
    def getting(self, hosts: Sequence[Host]) -> Iterator[str]:
        if self.home is None:
            yield from super().getting(hosts)
        else:
            yield from ERLANG.getting(hosts, self.erlang)

    @override
    def installation(self, host: Host) -> Installation:
        if self.home is None:
            return super().installation(host)
        root = ERLANG.root(host, self.erlang)
        return _archive(host, self.home, root and replace(root, seen=(self.home,)))


def _archive(host: Host, home: Path, root: Root | None = None) -> Installation:
    how = f"give home the folder of its archive on {host.name}"
    return in_folder(host, home / "sbin", how, root)
