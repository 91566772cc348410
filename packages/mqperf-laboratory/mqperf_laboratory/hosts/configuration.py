"""What the hosts of a laboratory and their visitors are told: keys, addresses, an inventory."""

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
"""Groups of the first hosts, unless others are asked for."""

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
"""Nothing of the user's own configuration, keys and known hosts matters in a laboratory."""


def write(folder: Path, addresses: dict[str, str], roles: Roles = USUAL) -> None:
    """Write keys, the configuration of every sshd, ``known_hosts`` and ``inventory.yaml``.

    ``addresses`` are by name of host, ``roles`` those of the first hosts; what follows are clients
    and servers in turns.  Raises ``HostError`` when keys cannot be made.
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
    """Make a key without passphrase; type and content of its public half."""
    words = f"ssh-keygen -q -t ed25519 -C {path.stem} -f".split()
    done = processes.run([*words, str(path), "-N", ""], timeout_s=KEY_LIMIT_S)
    if done.returncode:
        raise HostError(f"{path}: ssh-keygen cannot make this key: {done.stderr.strip()}")
    return path.with_suffix(path.suffix + ".pub").read_text().strip()


def _inventory(folder: Path, addresses: dict[str, str], first: Roles) -> str:
    """An ordinary Ansible inventory, whose groups are roles."""
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
    """This Python, without the environment that we run in: hosts see it under the same path."""
    return os.path.realpath(sys.executable)
