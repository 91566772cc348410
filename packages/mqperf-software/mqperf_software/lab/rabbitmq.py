"""RabbitMQ in a version other than the installed one, or from its archive, with any Erlang."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Self

from pydantic import model_validator
from typing_extensions import override

from mqperf.hosts import Host
from mqperf.lab.systems.rabbitmq.installation import (
    PROGRAM,
    TOOL,
    Installation,
    in_folder,
    installed_version,
)
from mqperf.lab.systems.rabbitmq.settings import Settings
from mqperf.lab.systems.settings import VersionAsked
from mqperf.lab.tool import Tool
from mqperf_software.lab.product import Product

LIMIT_S = 60


def installed_erlang(host: Host) -> str:
    """Return the release of the installed Erlang, such as ``25``; raise ``SystemFault`` if none is.

    It is the name of a folder, as starting Erlang would take half a second.
    """
    program = ERLANG.tool.on(ERLANG.title, host)
    target = host.run(["readlink", "-f", program], timeout_s=LIMIT_S).stdout.strip()
    names = host.names(Path(target).parents[1] / "releases")
    return str(max((int(name) for name in names if name.isdigit()), default=0))


ERLANG = Product("Erlang", Tool("erlang-nox", "erl", packages=("erlang-nox",)), installed_erlang)
RABBITMQ = Product("RabbitMQ", TOOL, installed_version)


class VersionSettings(Settings):
    """``home`` is the folder of an unpacked RabbitMQ archive on the hosts, run by ``erlang``.

    That is a version in quotes, ``27`` for any 27.x; the default is the installed Erlang.
    """

    name: ClassVar = "versions"

    home: Path | None = None
    erlang: VersionAsked | None = None

    @model_validator(mode="after")
    def _check_combination(self) -> Self:
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
        if self.home is not None:
            ERLANG.lacks(host, self.erlang)
            return _archive(host, self.home).version
        if RABBITMQ.lacks(host, self.version):
            return str(self.version)
        return self.installation(host).version

    @override
    def getting(self, hosts: Sequence[Host]) -> Iterator[str]:
        if self.home is not None:
            yield from ERLANG.getting(hosts, self.erlang)
        else:
            yield from RABBITMQ.getting(hosts, self.version)

    @override
    def installation(self, host: Host) -> Installation:
        if self.home is not None:
            root = ERLANG.root(host, self.erlang)
            with_home = root and replace(root, seen=(self.home,))
            return replace(_archive(host, self.home), root=with_home)
        if (root := RABBITMQ.root(host, self.version)) is None:
            return super().installation(host)
        inside = PROGRAM.parent
        found = in_folder(host, root.folder / inside.relative_to("/"), TOOL.install)
        return replace(found, folder=inside, root=root)


def _archive(host: Host, home: Path) -> Installation:
    return in_folder(host, home / "sbin", f"give home the folder of its archive on {host.name}")
