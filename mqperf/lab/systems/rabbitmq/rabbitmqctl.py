"""What is asked of rabbitmqctl, and what of a node itself.

A call of rabbitmqctl takes half a second and as much CPU: never within a measured window.  What is
asked for every run goes by Erlang's own ``erl_call``, which takes some milliseconds; where there is
none, or it is not told that all is well, rabbitmqctl does it, or says what is wrong.
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
"""How long ``erl_call`` waits for an answer."""

AWAITED_MS = 8_000
"""How long other nodes have until a virtual host runs on them, too: one that is busy takes a while,
and refuses clients until then."""

NO_SUCH_VHOST = 65

Definitions = Mapping[str, Sequence[Mapping[str, JsonValue]]]
"""What is in a virtual host, by kind, as RabbitMQ imports it: queues, exchanges, bindings."""


@dataclass(frozen=True, slots=True)
class Rabbitmqctl:
    """rabbitmqctl for one cluster, run in a private folder of a host of it.

    ``options`` are those that every call has.
    """

    host_folder: HostFolder
    installation: Installation
    environment: Mapping[str, str]
    options: tuple[str, ...]

    def status(self, node: str) -> dict[str, JsonValue]:
        """Ask a node who is running in its cluster, in which versions, with which alarms."""
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
        """Make a virtual host, with the user's rights, policies, and what is declared in it.

        The definitions go through a file: rabbitmqctl 4.0.0 to 4.0.5 waits for ever when they come
        from standard input (rabbitmq-server issue 13157).
        """
        everything = {"configure": ".*", "write": ".*", "read": ".*"}
        definitions: dict[str, Sequence[Mapping[str, JsonValue]]] = {
            "vhosts": [{"name": vhost}],
            "permissions": [{"user": user, "vhost": vhost, **everything}],
            "policies": [
                {"vhost": vhost, "name": name, **policy} for name, policy in policies.items()
            ],
        }
        for kind, entries in declared.items():
            definitions[kind] = [{"vhost": vhost, **entry} for entry in entries]
        file = self.host_folder.folder / f"{vhost}.json"
        self.host_folder.host.write(file, json.dumps(definitions))
        content = f"element(2, file:read_file({_quoted(file)}))"
        imported = f"ok = rabbit_definitions:import_raw({content})"
        awaited = f"rabbit_vhost:await_running_on_all_nodes(<<{_quoted(vhost)}>>, {AWAITED_MS})"
        if not self.says_ok(node, f"{imported}, {awaited}."):
            self.call(node, "import_definitions", str(file))

    def delete_vhost(self, node: str, vhost: str) -> None:
        """Delete a virtual host with all that is in it; one that is not there is no fault."""
        if not self.says_ok(node, f'rabbit_vhost:delete(<<{_quoted(vhost)}>>, <<"mqperf">>).'):
            self.call(node, "delete_vhost", vhost, accepted=(0, NO_SUCH_VHOST))

    def says_ok(self, node: str, expression: str) -> bool:
        """Whether a node evaluates this and says ``ok``; what it says else is not looked at."""
        name = "-name" if self.options else "-sname"
        words = ("erl_call", name, node, "-timeout", str(PROMPT_S), "-e")
        shell = ("sh", "-c", 'printf "%s\\n" "$0" | exec "$@"', expression, *words)
        argv = self.installation.erlang(*shell, shown=self.host_folder.folder)
        done = self.host_folder.host.run(argv, env=self.environment, timeout_s=TIMEOUT_S)
        return done.stdout.strip() == "{ok, ok}"

    def call(self, node: str, *arguments: str, accepted: tuple[int, ...] = (0,)) -> str:
        """What a command says; raises ``SystemFault`` with its reason when it fails."""
        words = (*self.options, "--quiet", "--node", node, *arguments)
        argv = self.installation.command("rabbitmqctl", *words, shown=self.host_folder.folder)
        done = self.host_folder.host.run(argv, env=self.environment, timeout_s=TIMEOUT_S)
        if done.returncode not in accepted:
            reason = " ".join((done.stderr or done.stdout).split())[:500]
            raise SystemFault(f"rabbitmqctl {arguments[0]} at {node} failed: {reason}")
        return done.stdout


def _quoted(text: object) -> str:
    """A text as Erlang reads it."""
    return '"' + str(text).replace("\\", r"\\").replace('"', r"\"") + '"'
