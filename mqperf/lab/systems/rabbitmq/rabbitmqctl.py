"""Calls of rabbitmqctl, and faster calls of a node itself.

A call of rabbitmqctl takes half a second of time and of CPU: never within a measured window.  Calls
for every run use Erlang's own ``erl_call``, which takes some milliseconds; where that is missing,
or does not report success, rabbitmqctl is called, and reports the error if there is one.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from mqperf.base.errors import SystemFault
from mqperf.hosts import HostFolder
from mqperf.lab.systems.rabbitmq.installation import Installation

TIMEOUT_S = 60
PROMPT_S = 10
"""Limit of ``erl_call`` for an answer."""

PROMPTLY_MS, PATIENTLY_MS = 8_000, 50_000
"""Limits for the start of a virtual host on all nodes, awaited by ``erl_call`` or by rabbitmqctl: a
busy node takes a while, and refuses clients until then."""

NO_SUCH_VHOST = 65

Definitions = Mapping[str, Sequence[Mapping[str, JsonValue]]]
"""Content of a virtual host, by kind, as RabbitMQ imports it: queues, exchanges, bindings."""


@dataclass(frozen=True, slots=True)
class Rabbitmqctl:
    """rabbitmqctl for one cluster, run in a private folder on one of its hosts.

    ``options`` are passed to every call.
    """

    host_folder: HostFolder
    installation: Installation
    environment: Mapping[str, str]
    options: tuple[str, ...]

    def status(self, node: str) -> dict[str, JsonValue]:
        """Return the cluster status from a node: running nodes, versions, alarms."""
        status: dict[str, JsonValue] = json.loads(
            self.call(node, "cluster_status", "--formatter", "json")
        )
        return status

    def add_vhost(
        self,
        node: str,
        vhost: str,
        user: str,
        policies: Mapping[str, Mapping[str, JsonValue]],
        declared: Definitions,
    ) -> None:
        """Create a virtual host with the user's permissions, policies, and the declared content.

        The definitions are passed in a file: rabbitmqctl 4.0.0 to 4.0.5 hangs when it reads them
        from standard input (rabbitmq-server issue 13157).
        """
        permissions = {"configure": ".*", "write": ".*", "read": ".*"}
        definitions: dict[str, Sequence[Mapping[str, JsonValue]]] = {
            "vhosts": [{"name": vhost}],
            "permissions": [{"user": user, "vhost": vhost, **permissions}],
            "policies": [
                {"vhost": vhost, "name": name, **policy} for name, policy in policies.items()
            ],
        }
        for kind, entries in declared.items():
            definitions[kind] = [{"vhost": vhost, **entry} for entry in entries]
        file = self.host_folder.folder / f"{vhost}.json"
        self.host_folder.host.write(file, json.dumps(definitions))
        content = f"element(2, file:read_file({_quoted(file)}))"
        import_it = f"ok = rabbit_definitions:import_raw({content})"
        if not self.says_ok(node, f"{import_it}, {_await(vhost, PROMPTLY_MS)}"):
            self.call(node, "import_definitions", str(file))
            self.call(node, "eval", f"ok = {_await(vhost, PATIENTLY_MS)}")

    def delete_vhost(self, node: str, vhost: str) -> None:
        """Delete a virtual host with its content; no error if it does not exist."""
        if not self.says_ok(node, f'rabbit_vhost:delete(<<{_quoted(vhost)}>>, <<"mqperf">>).'):
            self.call(node, "delete_vhost", vhost, accepted=(0, NO_SUCH_VHOST))

    def says_ok(self, node: str, expression: str) -> bool:
        """Return whether a node evaluates the expression to ``ok``; other results are ignored."""
        name = "-name" if self.options else "-sname"
        erl_call = ("erl_call", name, node, "-timeout", str(PROMPT_S), "-e")
        shell = ("sh", "-c", 'printf "%s\\n" "$0" | exec "$@"', expression, *erl_call)
        argv = self.installation.erlang(*shell, shown=self.host_folder.folder)
        done = self.host_folder.host.run(argv, env=self.environment, timeout_s=TIMEOUT_S)
        return done.stdout.strip() == "{ok, ok}"

    def call(self, node: str, *arguments: str, accepted: tuple[int, ...] = (0,)) -> str:
        """Return the output of a command; raises ``SystemFault`` with the reason if it fails."""
        options = (*self.options, "--quiet", "--node", node, *arguments)
        argv = self.installation.command("rabbitmqctl", *options, shown=self.host_folder.folder)
        done = self.host_folder.host.run(argv, env=self.environment, timeout_s=TIMEOUT_S)
        if done.returncode not in accepted:
            reason = " ".join((done.stderr or done.stdout).split())[:500]
            raise SystemFault(f"rabbitmqctl {arguments[0]} at {node} failed: {reason}")
        return done.stdout


def _await(vhost: str, limit_ms: int) -> str:
    """Return the expression that waits until all nodes accept clients of a virtual host."""
    return f"rabbit_vhost:await_running_on_all_nodes(<<{_quoted(vhost)}>>, {limit_ms})."


def _quoted(text: object) -> str:
    """Return a text as a string literal of Erlang."""
    return '"' + str(text).replace("\\", r"\\").replace('"', r"\"") + '"'
