"""The installed Java of a host, for brokers that are written in it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from mqperf.base.errors import SystemFault
from mqperf.hosts import Host
from mqperf.lab.systems.settings import SystemSettings
from mqperf.lab.tool import Tool

JAVA = Tool("java", "java", packages=("default-jre-headless",))
INSTALL = JAVA.install
VERSION_LIMIT_S = 60

OPTION = re.compile(r"-X[\w:+.=%-]+")
"""An option of the virtual machine without a file name."""


def _options(text: str) -> str:
    for word in text.split():
        if OPTION.fullmatch(word) is None:
            raise ValueError(f"{word} is no option of the virtual machine such as -XX:+UseSerialGC")
    return text


class JavaSettings(SystemSettings):
    """Settings in a plan of a server that is written in Java."""

    heap_mb: int = Field(default=512, ge=64, strict=True)
    java_options: Annotated[str, AfterValidator(_options)] = ""


@dataclass(frozen=True, slots=True)
class Java:
    """The installed Java of a host."""

    program: str
    version: str

    def command(
        self, folder: Path, settings: JavaSettings, properties: Mapping[str, object]
    ) -> list[str]:
        """Return the beginning of a server's command, limited to ``folder``, its heap, and IPv4."""
        all_properties = {
            "java.io.tmpdir": folder,
            "user.home": folder,
            "java.net.preferIPv4Stack": "true",
            **properties,
        }
        return [
            self.program,
            f"-Xms{settings.heap_mb}m",
            f"-Xmx{settings.heap_mb}m",
            "-XX:+ExitOnOutOfMemoryError",
            # no files below /tmp, even after a crash
            "-XX:-UsePerfData",
            f"-XX:ErrorFile={folder}/crash.log",
            *settings.java_options.split(),
            *(f"-D{name}={value}" for name, value in all_properties.items()),
        ]


def installed_java(oldest: int, host: Host) -> Java:
    """Return the first Java on the PATH.

    Raises ``SystemFault`` with the command that installs it if it is missing or too old.
    """
    program = JAVA.on(f"Java, of which {oldest} or later is needed,", host)
    result = host.run([program, "-version"], timeout_s=VERSION_LIMIT_S)
    version = re.search(r'version "(([0-9]+)[^"]*)"', result.stderr + result.stdout)
    if version is None:
        raise SystemFault(f"{program} does not report its version; install another Java: {INSTALL}")
    if int(version[2]) < oldest:
        raise SystemFault(
            f"{program} is Java {version[1]}, too old: {oldest} or later is needed: {INSTALL}"
        )
    return Java(program, version[1])


ENVIRONMENT: Mapping[str, str] = {"LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"}
"""All variables of a Java server, which inherits none of the user's."""
