"""The output of ``ansible-inventory --list``, for any inventory that Ansible can read."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from mqperf.base import processes
from mqperf.base.errors import HostError, InstallError
from mqperf.base.one_line import one_line
from mqperf.base.problems import of_validation
from mqperf.hosts import ansible
from mqperf.hosts.inventory.listing import Listing, Value, members

PROGRAM = "ansible-inventory"
STRICT = "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED"
"""Without this variable, Ansible silently skips inventories that it cannot parse."""

FORMS = "YAML, INI or TOML"
DATA_PLUGINS = {
    "ANSIBLE_INVENTORY_ENABLED": "ansible.builtin.yaml,ansible.builtin.ini,ansible.builtin.toml"
}
"""The inventory plugins for these formats; none of them runs a program."""

LIMIT_S = 60
OWN_ANSIBLE = "mqperf's own Ansible, since there is none on the PATH"


class _Group(BaseModel, defer_build=True):
    hosts: tuple[str, ...] = ()
    children: tuple[str, ...] = ()


class _Meta(BaseModel, defer_build=True):
    hostvars: Mapping[str, Mapping[str, Any]]


class _Listed(BaseModel, extra="allow", hide_input_in_errors=True, defer_build=True):
    __pydantic_extra__: dict[str, _Group] = Field(init=False)

    meta: _Meta = Field(alias="_meta")


def read(path: Path, *, programs: bool) -> Listing:
    """Read an inventory with Ansible: the one on the PATH, else mqperf's own.

    Without ``programs`` only YAML, INI and TOML are accepted.  Raises ``HostError`` when Ansible
    cannot read the inventory, or cannot be installed.
    """
    installed = shutil.which(PROGRAM)
    try:
        done = _run(installed, ["-i", str(path), "--list"], programs=programs)
    except HostError as error:
        raise HostError(f"{path}: {error}") from None
    except InstallError as error:
        raise HostError(
            f"{path}: only inventories in YAML (*.yaml, *.yml) are read without Ansible: translate"
            f" it where Ansible is ({PROGRAM} -i {path.name} --list > {path.stem}.json), or have it"
            f" installed here: {error}"
        ) from None
    if done.returncode:
        only = "" if programs else f" as {FORMS}; give any other inventory by --hosts"
        raise HostError(f"{path}: {PROGRAM} cannot read it{only}: {one_line(done.stderr)}")
    listing = of_text(done.stdout, str(path))
    listing.reader = None if installed else OWN_ANSIBLE
    return listing


def _run(installed: str | None, arguments: list[str], *, programs: bool) -> CompletedProcess[str]:
    """Run ``ansible-inventory``; only with ``programs`` by the user's Ansible configuration."""
    if installed and programs:
        return processes.run(
            [installed, *arguments], env={**os.environ, STRICT: "True"}, timeout_s=LIMIT_S
        )
    variables = {} if programs else DATA_PLUGINS
    return ansible.run(PROGRAM, arguments, LIMIT_S, installed=installed, variables=variables)


def of_text(text: str, source: str) -> Listing:
    """Parse the printed inventory.  Raises ``HostError`` for any other text."""
    try:
        listed = _Listed.model_validate_json(text)
    except ValidationError as error:
        first = next(iter(of_validation(error, lambda _: [])))
        why = f": {first.sentence()}" if first.where else ""
        raise HostError(
            f"{source}: expected what {PROGRAM} --list prints, with _meta and hostvars{why}"
        ) from None
    groups = {
        name: (group.hosts, group.children) for name, group in listed.__pydantic_extra__.items()
    }
    listing = Listing(source, groups={name: members(name, groups) for name in groups})
    for host in dict.fromkeys(host for hosts in listing.groups.values() for host in hosts):
        listing.hosts[host] = {
            name: Value(str(value), source)
            for name, value in listed.meta.hostvars.get(host, {}).items()
            if not isinstance(value, dict | list)
        }
    return listing
