"""Configuration of a laboratory's hosts and of their clients: keys, addresses, an inventory."""

import os
import sys
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from mqperf.base import processes
from mqperf.base.errors import HostError

KEY_LIMIT_S = 30
Roles = Sequence[Sequence[str]]

USUAL: Roles = (("broker",), ("broker",), ("broker",), ("client",), ("server",))
"""Roles of the first hosts by default."""

SSHD = """\
Port 22
ListenAddress {address}
HostKey /run/mqperf/host_key
AuthorizedKeysFile /run/mqperf/authorized_keys
AuthenticationMethods publickey
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
PermitRootLogin prohibit-password
PidFile none
PrintMotd no
UseDNS no
MaxStartups 100
"""

ARGUMENTS = (
    "-F none -o IdentitiesOnly=yes -o UserKnownHostsFile={known} -o GlobalKnownHostsFile=none"
)
"""Options of ssh that exclude the user's own configuration, keys and known hosts."""


def write(folder: Path, addresses: dict[str, str], roles: Roles = USUAL) -> None:
    """Write keys, the configuration of every sshd, ``known_hosts`` and ``inventory.yaml``.

    ``addresses`` are by name of host, ``roles`` those of the first hosts; others are clients and
    servers in turn.  Raise ``HostError`` if a key cannot be made.
    """
    _key(folder / "key")
    known_hosts = []
    for name, address in addresses.items():
        public = _key(folder / f"{name}.host_key")
        known_hosts.append(f"{address} {public}\n")
        (folder / f"{name}.sshd_config").write_text(SSHD.format(address=address))
    (folder / "known_hosts").write_text("".join(known_hosts))
    lines = ["127.0.0.1 localhost", *(f"{address} {name}" for name, address in addresses.items())]
    (folder / "hosts").write_text("\n".join(lines) + "\n")
    (folder / "inventory.yaml").write_text(_inventory(folder, addresses, roles))


def _key(path: Path) -> str:
    """Make a key without passphrase; return its public key, type and content."""
    argv = f"ssh-keygen -q -t ed25519 -C {path.stem} -f".split()
    result = processes.run([*argv, str(path), "-N", ""], timeout_s=KEY_LIMIT_S)
    if result.returncode:
        raise HostError(f"{path}: ssh-keygen cannot make this key: {result.stderr.strip()}")
    return path.with_suffix(path.suffix + ".pub").read_text().strip()


def _inventory(folder: Path, addresses: dict[str, str], first: Roles) -> str:
    """Return an ordinary Ansible inventory, whose groups are roles."""
    lines = [
        "all:",
        "  vars:",
        "    ansible_user: root",
        f"    ansible_python_interpreter: {interpreter()}",
        f"    ansible_ssh_private_key_file: {folder / 'key'}",
        f"    ansible_ssh_common_args: {ARGUMENTS.format(known=folder / 'known_hosts')}",
        "  children:",
    ]
    more = ((("client",), ("server",))[number % 2] for number in range(len(addresses)))
    roles = dict(zip(addresses, (*first, *more), strict=False))
    for role in dict.fromkeys(chain.from_iterable(roles.values())):
        lines += [f"    {role}:", "      hosts:"]
        lines += [
            f"        {name}: {{ansible_host: {address}}}"
            for name, address in addresses.items()
            if role in roles[name]
        ]
    return "\n".join(lines) + "\n"


def interpreter() -> str:
    """Return the path of this Python without our virtual environment; hosts have the same path."""
    return os.path.realpath(sys.executable)
