"""Installation by Ansible of what the roles of hosts need, and a report of the changes."""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import CompletedProcess

from mqperf.base import processes
from mqperf.base.errors import HostError
from mqperf.base.redaction import without_passwords
from mqperf.front.findings import Finding
from mqperf.hosts import ansible, inventory
from mqperf.hosts.place import Place
from mqperf.lab.systems import Tool
from mqperf_hosts.front.host_check import known, needed, optional

PLAYBOOK = Path(__file__).with_name("playbook.yml")
LIMIT_S = 3600

EVERYWHERE = "util-linux"
TASK = re.compile(r"TASK \[(.*)\] \**$")
RESULT = re.compile(r"(changed|failed|fatal): \[([^\]]+)\](?: \(item=(.*?)\))?:? ?(.*)$")
INSTALL = "Install"
NO_REASON = "non-zero return code"

SUDO = {
    "password": "sudo asks for a password there: disable that (NOPASSWD in /etc/sudoers.d)",
    "sudo: not found": "there is no sudo: install it",
}
"""Part of the message where we cannot become root -> what to do."""


@dataclass
class HostResult:
    """Ansible's result for one host."""

    installed: list[str] = field(default_factory=list)
    problem: str | None = None


def prepare(path: Path, systems: Collection[str], *, dry: bool = False) -> Iterator[Finding]:
    """Prepare every host of the inventory in ``path``; yield a finding each, in its order.

    Broker hosts get what these systems need, or, when none is named, the first of all systems.
    With ``dry`` nothing is changed, and the findings are what would be.  Raise ``HostError`` for an
    inventory that cannot be read, a tool without a package, and where Ansible is not available.
    """
    if path.suffix == ".json":
        raise HostError(f"{path}: give the inventory itself, not what was printed of it")
    broker_tools = needed(systems)
    for tool in broker_tools:
        if tool.by_hand:
            raise HostError(f"{tool.name} has no package that could be installed: {tool.by_hand}")
    places = inventory.read(path, programs=True).places
    packages = {place.name: _packages(place, broker_tools) for place in places}
    results = read_printed(_play(path, packages, dry=dry))
    for place in places:
        yield _finding(place, results[place.name], dry=dry)


def _packages(place: Place, tools: Collection[Tool]) -> list[str]:
    for_broker = _packages_of(tools if "broker" in place.groups else ())
    return [*dict.fromkeys([*for_broker, EVERYWHERE, *_packages_of(optional())])]


def _packages_of(tools: Collection[Tool]) -> list[str]:
    return [package for tool in tools for package in tool.packages]


def _services() -> dict[str, tuple[str, ...]]:
    """Return, by package, the services that start with it."""
    return {package: tool.services for tool in known() for package in tool.packages}


def _play(path: Path, packages: Mapping[str, list[str]], *, dry: bool) -> str:
    """Run the playbook, and return what Ansible printed."""
    with processes.scratch("prepare") as folder:
        variables = folder / "variables.json"
        extra = {"packages": packages, "services": _services(), "dry": dry}
        variables.write_text(json.dumps(extra))
        argv = ["--inventory", str(path.resolve()), "--extra-vars", f"@{variables}", str(PLAYBOOK)]
        result = ansible.run("ansible-playbook", argv, LIMIT_S)
    if not any(TASK.match(line) for line in result.stdout.splitlines()):
        raise HostError(f"{path}: Ansible ended with {result.returncode}: {last_line(result)}")
    return result.stdout


def read_printed(text: str) -> Mapping[str, HostResult]:
    """Parse Ansible's default output, a line for every task and host, into results by host."""
    results: defaultdict[str, HostResult] = defaultdict(HostResult)
    task = ""
    for line in text.splitlines():
        if heading := TASK.match(line):
            task = heading[1]
        elif result := RESULT.match(line):
            outcome, name, item, details = result.groups()
            host = name.split(" ")[0]
            if outcome != "changed":
                results[host].problem = results[host].problem or _reason(details)
            elif task == INSTALL:
                package = item or details.removeprefix("=> (item=").removesuffix(")")
                results[host].installed.append(package)
    return results


def _reason(details: str) -> str:
    """Return why a task failed: the message of its result, or the last line of its command."""
    _, _, result = details.partition("=> ")
    try:
        answer = json.loads(result)
        message = str(answer.get("msg", result))
        if message == NO_REASON:
            output = str(answer.get("stderr") or answer.get("stdout"))
            message = (output.strip().splitlines() or [message])[-1]
    except ValueError:
        message = details
    for words, remedy in SUDO.items():
        if "sudo" in message and words in message:
            message = f"{remedy}, or name root as ansible_user"
    return without_passwords(" ".join(message.split()))


def _finding(place: Place, result: HostResult, *, dry: bool) -> Finding:
    subject = f"{place.name} ({', '.join(place.groups)})"
    names = {package: tool.name for tool in known() for package in tool.packages}
    packages = ", ".join(dict.fromkeys(names.get(package, package) for package in result.installed))
    done = f"{'would install' if dry else 'installed'} {packages}" if packages else ""
    if result.problem:
        return Finding("FAILED", f"{subject}: {'; '.join(filter(None, [result.problem, done]))}")
    return Finding("ok", f"{subject}: {done or 'everything was installed already'}")


def last_line(done: CompletedProcess[str]) -> str:
    """Return the last line that a command printed, without passwords."""
    lines = (done.stdout + done.stderr).strip().splitlines()
    return without_passwords(lines[-1]) if lines else "no output"
