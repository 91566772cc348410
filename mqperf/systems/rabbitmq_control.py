"""RabbitMQ's own programs: where they are, and what is asked of rabbitmqctl.

A call takes half a second and as much CPU: never within a measured window.
"""

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from mqperf.errors import SystemFault
from mqperf.hosts import Host
from mqperf.systems.rabbitmq_version import parsed
from mqperf.systems.tool import Tool

TOOL = Tool(
    "rabbitmq-server",
    "/usr/lib/rabbitmq/bin/rabbitmq-server",
    packages=("rabbitmq-server",),
    services=("rabbitmq-server",),
)
INSTALL = TOOL.install
TIMEOUT_S = 60
NO_SUCH_VHOST = 65


def server_program() -> Path:
    """Find rabbitmq-server: the real one, not the wrapper on the PATH which changes the user.

    Raises ``SystemFault`` with the command that installs RabbitMQ, or Erlang.
    """
    path = f"{os.environ.get('PATH', os.defpath)}:/usr/local/sbin:/usr/sbin:/sbin"
    wrapper = shutil.which("rabbitmq-server", path=path)
    if wrapper is None:
        raise SystemFault(f"RabbitMQ is not installed: {INSTALL}")
    for program in ("erl", "epmd"):
        if shutil.which(program, path=path) is None:
            raise SystemFault(f"Erlang's {program} is not installed: {INSTALL}")
    # On Debian the wrapper is a link which leads to the folder of the real programs.
    folder = Path(wrapper).resolve().parent
    if not (folder / "rabbitmq-env").exists():
        raise SystemFault(f"{wrapper} leads to no RabbitMQ installation: {INSTALL}")
    return folder / "rabbitmq-server"


def installed_version() -> str:
    """Tell the installed version by the name of its folder: starting Erlang takes half a second."""
    library = server_program().parent.parent / "lib"
    versions = [folder.name.partition("-")[2] for folder in library.glob("rabbitmq_server-*")]
    if not versions:
        raise SystemFault(f"{library} holds no RabbitMQ: {INSTALL}")
    return max(versions, key=parsed)


@dataclass(frozen=True, slots=True)
class Control:
    """rabbitmqctl for one cluster; ``folder`` is private to the cluster."""

    host: Host
    program: Path
    environment: Mapping[str, str]
    folder: Path

    def status(self, node: str) -> dict[str, JsonValue]:
        """Ask a node who is running in its cluster, in which versions, with which alarms."""
        status: dict[str, JsonValue] = json.loads(
            self._call(node, "cluster_status", "--formatter", "json")
        )
        return status

    def add_vhost(
        self, node: str, vhost: str, user: str, policies: Mapping[str, Mapping[str, JsonValue]]
    ) -> None:
        """Make a virtual host, with the user's rights and the policies, in one call.

        The definitions go through a file: rabbitmqctl 4.0.0 to 4.0.5 waits for ever when they come
        from standard input (rabbitmq-server issue 13157).
        """
        everything = {"configure": ".*", "write": ".*", "read": ".*"}
        definitions = {
            "vhosts": [{"name": vhost}],
            "permissions": [{"user": user, "vhost": vhost, **everything}],
            "policies": [
                {"vhost": vhost, "name": name, **policy} for name, policy in policies.items()
            ],
        }
        file = self.folder / f"{vhost}.json"
        self.host.write(file, json.dumps(definitions))
        self._call(node, "import_definitions", str(file))

    def delete_vhost(self, node: str, vhost: str) -> None:
        """Delete a virtual host with all that is in it; one that is not there is no fault."""
        self._call(node, "delete_vhost", vhost, accepted=(0, NO_SUCH_VHOST))

    def _call(self, node: str, *arguments: str, accepted: tuple[int, ...] = (0,)) -> str:
        argv = [str(self.program), "--quiet", "--node", node, *arguments]
        done = self.host.run(argv, env=self.environment, timeout_s=TIMEOUT_S)
        if done.returncode not in accepted:
            reason = " ".join((done.stderr or done.stdout).split())[:500]
            raise SystemFault(f"rabbitmqctl {arguments[0]} at {node} failed: {reason}")
        return done.stdout
