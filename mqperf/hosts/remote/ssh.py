"""The system's ssh: its command line, and the meaning of its error messages.

Keys, names, jump hosts and agents come from the user's ssh configuration.  Options that
measurements require override it: no prompts, host keys always checked, no shared connection, and a
connection that fails within seconds when the link is cut.
"""

import re
import shlex
from collections.abc import Sequence

from mqperf.base.one_line import one_line
from mqperf.hosts.place import Place

OLDEST = (3, 11)
PYTHONS = ("python3", *(f"python3.{minor}" for minor in range(20, 10, -1)))
"""Interpreters to try, in this order, where the inventory names none."""

DISCOVERY_VALUES = {None, "auto", "auto_legacy", "auto_silent", "auto_legacy_silent"}
"""Values of an inventory by which Ansible finds the interpreter itself."""

SILENCE_S = 3
"""ssh sends a keepalive each second; after so many without an answer the host is lost."""

OPTIONS = {
    "BatchMode": "yes",
    "StrictHostKeyChecking": "yes",
    "ConnectTimeout": "10",
    "ServerAliveInterval": "1",
    "ServerAliveCountMax": str(SILENCE_S),
    "ControlMaster": "no",
    "ControlPath": "none",
    "ClearAllForwardings": "yes",
    "PermitLocalCommand": "no",
    "RemoteCommand": "none",
    "RequestTTY": "no",
    "LogLevel": "INFO",
}

NO_PYTHON = "mqperf: no Python:"

REFUSALS = {
    r"Could not resolve hostname": "its name is unknown: correct it, or give its address"
    " (ansible_host in the inventory, HostName in ~/.ssh/config)",
    r"REMOTE HOST IDENTIFICATION HAS CHANGED": "its host key has changed: if it was reinstalled,"
    " forget the old key with: ssh-keygen -R {address}; otherwise ask its administrator who answers"
    " there",
    r"Host key verification failed|No \S+ host key is known": "its host key is not known:"
    " connect once with ssh, and compare the fingerprint with what its administrator says",
    r"Permission denied": "it refused our key: put a public key of yours into"
    " ~/.ssh/authorized_keys there, or name the right user and key"
    " (ansible_user, ansible_ssh_private_key_file)",
    r"Too many authentication failures": "it refused our keys, of which there were too many:"
    " name the right one (ansible_ssh_private_key_file)",
    r"Connection refused": "nothing listens on its ssh port: start sshd there,"
    " or correct the port (ansible_port)",
    r"timed out|No route to host|Network is unreachable": "it cannot be reached: start it, or"
    " correct its address (ansible_host)",
    r"Identity file \S+ not accessible": "the private key of the inventory is not there: correct"
    " ansible_ssh_private_key_file",
    r"Bad configuration option|command-line.* line 0|unknown option|illegal option": "ssh does not"
    " know an option: correct ansible_ssh_common_args",
}
"""Patterns of messages of ssh, and what the user should do."""


def command(place: Place, boot: bytes) -> list[str]:
    """Return the command that starts an agent on a host; it reads ``boot`` from standard input."""
    arguments = ["ssh", "-T", "-x", "-a"]
    arguments += [text for name, value in OPTIONS.items() for text in ("-o", f"{name}={value}")]
    pythons = PYTHONS if place.python in DISCOVERY_VALUES else (str(place.python),)
    script = f"exec sh -c {shlex.quote(_script(pythons, len(boot)))}"
    return [*arguments, *destination(place), script]


def destination(place: Place) -> list[str]:
    """Return the arguments of ssh that the inventory gives for a host."""
    arguments = list(place.ssh_args)
    for letter, value in (("-p", place.port), ("-l", place.user), ("-i", place.key)):
        arguments += [] if value is None else [letter, str(value)]
    return [*arguments, "--", place.address]


def _script(pythons: Sequence[str], size: int) -> str:
    """Return a shell script that runs the first recent enough Python, or prints all versions."""
    version_check = f"import sys; sys.exit(sys.version_info < {OLDEST})"
    run_boot = f"import sys; exec(compile(sys.stdin.buffer.read({size}), 'mqperf', 'exec'))"
    return (
        f"for python in {shlex.join(pythons)}; do"
        ' if command -v "$python" >/dev/null 2>&1; then'
        f' "$python" -c "{version_check}" && exec "$python" -I -S -c "{run_boot}";'
        ' found="$found $("$python" -c "import platform; print(platform.python_version())" 2>&1)";'
        f' fi; done; echo "{NO_PYTHON}$found" >&2; exit 1'
    )


def refusal(place: Place, complaints: str, code: int | None) -> str:
    """Return why no agent started and what to do, from ssh's error output and exit code."""
    match = re.search(rf"^{NO_PYTHON}(.*)$", complaints, re.MULTILINE)
    if match:
        versions = ", ".join(dict.fromkeys(match[1].split()))
        problem = f"its Python is too old ({versions})" if versions else "it has no Python"
        oldest = ".".join(map(str, OLDEST))
        return (
            f"{problem}: install Python {oldest} or later there, or name it"
            " (ansible_python_interpreter)"
        )
    for pattern, meaning in REFUSALS.items():
        if re.search(pattern, complaints):
            return meaning.format(address=place.address)
    return one_line(complaints.strip().rpartition("\n")[2]) or f"ssh ended with exit code {code}"


def loss(complaints: str, code: int | None) -> str:
    """Return why a host stopped answering, from ssh's error output and exit code."""
    if re.search(r"Timeout, server .* not responding", complaints):
        return f"no answer for {SILENCE_S} s: its link was cut, or it hangs"
    if code is not None and code < 0:
        return "its ssh was killed here"
    if code == 255:
        return one_line(complaints.strip().rpartition("\n")[2]) or "its connection was closed"
    return "its agent was killed, or the host heard nothing from mqperf for too long"
