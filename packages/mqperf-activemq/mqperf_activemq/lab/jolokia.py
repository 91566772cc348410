"""Jolokia, an agent that exposes the management beans of a Java virtual machine over HTTP."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mqperf.hosts import Host, HostFolder
from mqperf.lab.probes import Inside
from mqperf_activemq.onhost import jolokia
from mqperf_java.hosts.archive import Archive, fetched

# In Artemis, later versions wait two minutes for an access control that is not configured here.
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

# Clients may read, and do nothing else.
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
    """The agents in brokers: their jar by the name of the host, and a random password."""

    jars: Mapping[str, Path]
    password: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    def at(self, host_folder: HostFolder, port: int) -> "Agent":
        """Return the agent of the broker in this folder."""
        return Agent(self.jars[host_folder.host.name], host_folder, port, self.password)

    def redacted(self, text: str) -> str:
        """Return the text without the password."""
        return text.replace(self.password, "***")


@dataclass(frozen=True, slots=True)
class Agent:
    """The agent of a broker: its jar, the broker's folder, its port and its password."""

    jar: Path
    host_folder: HostFolder
    port: int
    password: str = field(repr=False)

    @property
    def option(self) -> str:
        """The option that makes Java load the agent; its settings are in a file."""
        return f"-javaagent:{self.jar}=config={self.host_folder.folder / FILE}"

    @property
    def files(self) -> dict[str, str]:
        """The agent's configuration files: name -> content."""
        configuration = CONFIGURATION.format(
            address=self.host_folder.host.address,
            port=self.port,
            user=USER,
            password=self.password,
            policy=(self.host_folder.folder / POLICY_FILE).as_uri(),
        )
        return {FILE: configuration, POLICY_FILE: POLICY}

    def inside(self, node: str) -> Inside:
        """Return where the broker of this label exposes its metrics."""
        address = f"{self.host_folder.host.address}:{self.port}"
        return Inside(node, jolokia.__name__, address, USER, self.password)


def jolokia_on(*hosts: Host) -> Jolokia:
    """Return agents for brokers on these hosts, fetched here and copied; raise as ``fetched``."""
    return Jolokia({host.name: host.copied(fetched(AGENT)) / AGENT.file for host in hosts})
