"""A validated inventory: the address and the roles of every host."""

import ipaddress
import re
import shlex
import socket
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mqperf.base.errors import HostError
from mqperf.base.one_line import NAME
from mqperf.base.redaction import shown
from mqperf.hosts.interfaces import interface_of
from mqperf.hosts.inventory import listed, yaml_file
from mqperf.hosts.inventory.listing import Listing, Value
from mqperf.hosts.place import Place
from mqperf.plan.file.reading import UnreadableError, first_bytes

ROLES: Mapping[str, str] = {
    "broker": "nodes, in the order Master, Slave 1, Slave 2",
    "client": "clients of the load",
    "server": "servers of the load",
}
"""Groups that every inventory must have, and the purpose of their hosts."""

NAMES: Mapping[str, tuple[str, ...]] = {
    "address": ("ansible_host", "ansible_ssh_host"),
    "user": ("ansible_user", "ansible_ssh_user"),
    "port": ("ansible_port", "ansible_ssh_port"),
    "key": ("ansible_private_key_file", "ansible_ssh_private_key_file"),
    "python": ("ansible_python_interpreter",),
    "folder": ("ansible_remote_tmp",),
    "connection": ("ansible_connection",),
    "listens": ("mqperf_address",),
}
ARGUMENTS = ("ansible_ssh_common_args", "ansible_ssh_extra_args")
SSH = {"ssh", "smart", "paramiko", "ansible.builtin.ssh"}

FOLDER = re.compile(r"[\w ./~+@%=,-]+")
"""Paths that brokers support: RabbitMQ does not start below a quotation mark, Java takes a colon as
a separator of folders, and such a path is safe where a broker passes it to a shell.
"""

HERE = "this machine"

DATA_SUFFIXES = {".yaml", ".yml", ".json"}
"""Suffixes of inventories that are read without Ansible."""

MAX_BYTES = 5_000_000
"""Maximum size of an inventory that is not a program."""

SECRET = re.compile(r"^ansible_.*pass(word|phrase)?$")
UNCHECKED = re.compile(
    r"StrictHostKeyChecking[= ]*(no|off|accept-new)|KnownHostsFile[= ]*/dev/null", re.IGNORECASE
)
SWITCHES = {"ansible_host_key_checking", "ansible_ssh_host_key_checking"}


@dataclass(frozen=True, slots=True)
class Inventory:
    """Hosts by role, in the order of the file; a host may have several roles.

    ``reader`` names the program that read it where that may be unexpected.
    """

    source: str
    broker: tuple[Place, ...]
    client: tuple[Place, ...]
    server: tuple[Place, ...]
    reader: str | None = None

    @property
    def places(self) -> tuple[Place, ...]:
        """Each host once, brokers first."""
        return tuple(dict.fromkeys((*self.broker, *self.client, *self.server)))


def read(path: Path, *, programs: bool = False) -> Inventory:
    """Return the inventory in a file, whose groups are roles.

    Raises ``HostError`` as ``listing`` does, with one line for each problem.
    """
    return _checked(listing(path, programs=programs))


def listing(path: Path, *, programs: bool = False) -> Listing:
    """Return the hosts and groups of an inventory, whatever the names of its groups.

    YAML is read directly, as is JSON printed by ``ansible-inventory --list``; every other format
    is read by Ansible itself.  Only with ``programs``, for a path that a user gave to a command,
    may it be a program, a folder, or a file for an Ansible plugin.  Raises ``HostError`` for an
    inventory that cannot be read.
    """
    if not path.exists():
        raise HostError(f"{path}: there is no such inventory")
    if programs and (path.is_dir() or (path.is_file() and path.suffix not in DATA_SUFFIXES)):
        return listed.read(path, programs=True)
    text = _text(path)
    if path.suffix not in DATA_SUFFIXES:
        return listed.read(path, programs=False)
    if path.suffix == ".json":
        return listed.of_text(text, str(path))
    return yaml_file.read(text, path)


def _text(path: Path) -> str:
    """Return the text of an inventory; raises ``HostError`` if it is unreadable or not text."""
    try:
        content = first_bytes(path, MAX_BYTES + 1)
    except UnreadableError as error:
        raise HostError(f"{path}: cannot read the inventory: {error}") from None
    if len(content) > MAX_BYTES:
        raise HostError(f"{path}: more than {MAX_BYTES:,} bytes: no inventory needs so many")
    if b"\0" not in content:
        with suppress(UnicodeDecodeError):
            return content.decode("utf-8")
    raise HostError(f"{path}: not text in UTF-8: correct or replace the file")


def address(of: Listing, host: str) -> str:
    """Return the address of a host for measured traffic: ``mqperf_address``, else that of ssh."""
    variables = of.hosts.get(host, {})
    value = _variable(variables, "listens") or _variable(variables, "address")
    return value.text if value else host


def _checked(listing: Listing) -> Inventory:
    members = {role: listing.groups.get(role, ()) for role in ROLES}
    names = list(dict.fromkeys(name for role in ROLES for name in members[role]))
    problems = [*listing.problems, *_missing_groups(listing)]
    places: dict[str, Place] = {}
    for name in names:
        variables = listing.hosts.get(name, {})
        host_problems = [*_invalid(name, variables, listing.source), *_forbidden(name, variables)]
        problems += host_problems
        if not host_problems:
            groups = tuple(role for role in ROLES if name in members[role])
            places[name] = _place(name, variables, groups, Path(listing.source).parent)
    problems += _duplicates(places, listing.source)
    if problems:
        raise HostError("\n".join(problems))
    roles = {role: tuple(places[name] for name in members[role]) for role in ROLES}
    return Inventory(listing.source, **roles, reader=listing.reader)


def _missing_groups(listing: Listing) -> Iterator[str]:
    for role, purpose in ROLES.items():
        if role not in listing.groups:
            yield f"{listing.source}: no group {role!r}: add one, with the hosts for {purpose}"
        elif not listing.groups[role]:
            yield f"{listing.source}: group {role!r} has no hosts: name those for {purpose}"


def _invalid(name: str, variables: Mapping[str, Value], source: str) -> Iterator[str]:
    """Yield a problem for the name and each variable of a host that has an invalid value."""
    if not NAME.fullmatch(name):
        yield (
            f"{source}: {name!r} is no name for tables and folders: take letters, digits, '.',"
            " '_' and '-', and give its address as ansible_host"
        )
    connection = _variable(variables, "connection")
    if connection and connection.text not in SSH:
        yield (
            f"{connection.where}: {name} is reached by {shown(connection.text)}: mqperf reaches"
            " hosts by ssh only"
        )
    listens = _variable(variables, "listens")
    if listens and not _is_ipv4(listens.text):
        yield (
            f"{listens.where}: the mqperf_address of {name} is {shown(listens.text)}: expected an"
            " IPv4 address, such as 192.0.2.1"
        )
    folder = _variable(variables, "folder")
    if folder and not FOLDER.fullmatch(folder.text) and "{{" not in folder.text:
        yield (
            f"{folder.where}: the ansible_remote_tmp of {name} is {shown(folder.text)}: expected a"
            " path of letters, digits, spaces and ._~/+@%=,-"
        )
    file = _variable(variables, "key")
    if file and _expanded(file.text) is None:
        yield f"{file.where}: the key of {name} is in the home of a user who is not known here"
    port = _variable(variables, "port")
    if port and not (port.text.isdecimal() and 0 < int(port.text) < 1 << 16):
        yield f"{port.where}: the port of {name} is {shown(port.text)}: expected 1 to 65535"
    for key in ARGUMENTS:
        if key in variables and _split(variables[key].text) is None:
            yield f"{variables[key].where}: {key} of {name} has a quotation mark without its end"


def _forbidden(name: str, variables: Mapping[str, Value]) -> Iterator[str]:
    """Yield a problem for each password, each template, and each way to skip host key checks."""
    used = {*ARGUMENTS, *(variable for names in NAMES.values() for variable in names)}
    for key, value in variables.items():
        if SECRET.match(key):
            yield (
                f"{value.where}: {key} of {name} is a password, which inventories may not hold:"
                " remove it, and let ssh use a key"
            )
        elif key in used and "{{" in value.text:
            yield f"{value.where}: {key} of {name} is a template, or encrypted: write its value out"
        elif key in ARGUMENTS and UNCHECKED.search(value.text):
            yield (
                f"{value.where}: {key} of {name} switches the check of host keys off: remove that,"
                " and put the host's key into known_hosts"
            )
        elif key in SWITCHES and value.text.lower() in {"no", "false", "0"}:
            yield f"{value.where}: {key} of {name} switches the check of host keys off: remove it"


def _place(
    name: str, variables: Mapping[str, Value], groups: tuple[str, ...], folder: Path
) -> Place:
    address, user, port, key, python, temporary, listens = (
        value.text if (value := _variable(variables, meaning)) else None
        for meaning in ("address", "user", "port", "key", "python", "folder", "listens")
    )
    arguments = [
        word for key in ARGUMENTS if key in variables for word in _split(variables[key].text) or ()
    ]
    return Place(
        name=name,
        address=address or name,
        user=user,
        port=None if port is None else int(port),
        key=None if key is None else str(folder / (_expanded(key) or key)),
        python=python,
        folder=temporary,
        ssh_args=tuple(arguments),
        groups=groups,
        listens=listens,
    )


def _variable(variables: Mapping[str, Value], meaning: str) -> Value | None:
    """Return the variable of this meaning under the first of its names that is set."""
    return next((variables[name] for name in NAMES[meaning] if name in variables), None)


def _expanded(path: str) -> Path | None:
    """Return the path with ``~`` expanded, as ssh does; None for an unknown user."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return None


def _is_ipv4(text: str) -> bool:
    try:
        return bool(ipaddress.IPv4Address(text))
    except ValueError:
        return False


def _split(text: str) -> list[str] | None:
    try:
        return shlex.split(text)
    except ValueError:
        return None


def _duplicates(places: Mapping[str, Place], source: str) -> Iterator[str]:
    """Yield a problem for each second name of a host: its figures would be mixed up."""
    names: dict[tuple[str, int | None], str] = {}
    for name, place in places.items():
        where = HERE if _is_ours(place.address) else place.address
        other = names.setdefault((where, place.port), name)
        if other != name:
            yield f"{source}: {other} and {name} are both {where}: name that host once"


def _is_ours(address: str) -> bool:
    """Return whether an address or a host name is that of this machine."""
    try:
        return interface_of(address) is not None
    except ValueError:
        return address in {"localhost", socket.gethostname(), socket.getfqdn()}
