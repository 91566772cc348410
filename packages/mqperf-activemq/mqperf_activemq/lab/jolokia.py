"""Jolokia: by it a Java virtual machine tells of its management beans, over HTTP."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mqperf.hosts import Host, HostFolder
from mqperf.lab.probes import Inside
from mqperf_activemq.onhost import jolokia
from mqperf_java.hosts.archive import Archive, fetched

# Later versions wait in Artemis for two minutes for a kind of access control that it has not here.
AGENT = Archive(
    group="org.jolokia",
    artifact="jolokia-agent-jvm",
    version="2.0.3",
    sha512="1bdc3626fdb2bd511894569c9b3bfef0c5dde3ca9b64b1570249bcdab43f3571"
    "0cecaa835d9991976ce5c55d7cf22c537d53c52ef8a59115b967b409a750b51a",
    extension="jar",
    classifier="javaagent",
)
USER = "mqperf"
FILE, POLICY_FILE = "jolokia.properties", "jolokia-access.xml"

# Whoever asks may read, and do nothing else.
POLICY = """\
<restrict>
  <commands>
    <command>read</command>
  </commands>
</restrict>
"""
CONFIGURATION = """\
protocol=http
host={address}
port={port}
user={user}
password={password}
policyLocation={policy}
discoveryEnabled=false
"""


@dataclass(frozen=True, slots=True)
class Jolokia:
    """Agents in brokers: their file on each host, by its name, and a password at random."""

    jars: Mapping[str, Path]
    password: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    def at(self, host_folder: HostFolder, port: int) -> "Agent":
        """The agent of the broker there."""
        return Agent(self.jars[host_folder.host.name], host_folder, port, self.password)

    def redacted(self, text: str) -> str:
        """Give the text without the password."""
        return text.replace(self.password, "***")


@dataclass(frozen=True, slots=True)
class Agent:
    """The agent of a broker: its file, the broker's folder, its port, and its password."""

    jar: Path
    host_folder: HostFolder
    port: int
    password: str = field(repr=False)

    @property
    def option(self) -> str:
        """The option that has Java start it; all else is in a file."""
        return f"-javaagent:{self.jar}=config={self.host_folder.folder / FILE}"

    @property
    def files(self) -> dict[str, str]:
        """What it reads."""
        configuration = CONFIGURATION.format(
            address=self.host_folder.host.address,
            port=self.port,
            user=USER,
            password=self.password,
            policy=(self.host_folder.folder / POLICY_FILE).as_uri(),
        )
        return {FILE: configuration, POLICY_FILE: POLICY}

    def inside(self, node: str) -> Inside:
        """Where the broker of that label tells of its inside."""
        address = f"{self.host_folder.host.address}:{self.port}"
        return Inside(node, jolokia.__name__, address, USER, self.password)


def jolokia_on(*hosts: Host) -> Jolokia:
    """Agents for brokers on these hosts, fetched here and copied there; raises as ``fetched``."""
    return Jolokia({host.name: host.copied(fetched(AGENT)) / AGENT.file for host in hosts})
