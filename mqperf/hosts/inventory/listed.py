"""What ``ansible-inventory --list`` prints: any inventory that Ansible can read."""

import json
import os
import shutil
from pathlib import Path

from mqperf.base import processes as guarded
from mqperf.base.errors import HostError, InstallError
from mqperf.base.one_line import one_line
from mqperf.hosts import ansible
from mqperf.hosts.inventory.listing import Group, Listing, Value, members

PROGRAM = "ansible-inventory"
STRICT = "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED"
"""Else Ansible leaves out what it does not understand."""

LIMIT_S = 60
OWN = "mqperf's own Ansible, since there is none on the PATH"


def read(path: Path) -> Listing:
    """Have Ansible read the inventory: the one on the PATH, else mqperf's own.

    Raises ``HostError`` when it cannot, or cannot be had.
    """
    asked = ["-i", str(path), "--list"]
    found = shutil.which(PROGRAM)
    try:
        if found:
            done = guarded.run(
                [found, *asked], env={**os.environ, STRICT: "True"}, timeout_s=LIMIT_S
            )
        else:
            done = ansible.run(PROGRAM, asked, LIMIT_S)
    except (HostError, InstallError) as error:
        raise HostError(
            f"{path}: only inventories in YAML (*.yaml, *.yml) are read without Ansible: translate"
            f" it where Ansible is ({PROGRAM} -i {path.name} --list > {path.stem}.json), or have it"
            f" installed here: {error}"
        ) from None
    if done.returncode:
        raise HostError(f"{path}: {PROGRAM} cannot read it: {one_line(done.stderr)}")
    listing = of_text(done.stdout, str(path))
    listing.reader = None if found else OWN
    return listing


def of_text(text: str, source: str) -> Listing:
    """The inventory in what was printed.  Raises ``HostError`` when that is something else."""
    try:
        listed = json.loads(text)
        variables = listed.pop("_meta")["hostvars"]
        groups: dict[str, Group] = {
            name: (tuple(group.get("hosts", ())), tuple(group.get("children", ())))
            for name, group in listed.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        raise HostError(
            f"{source}: expected what {PROGRAM} --list prints, with _meta and hostvars"
        ) from None
    listing = Listing(source, groups={name: members(name, groups) for name in groups})
    for host in dict.fromkeys(host for found in listing.groups.values() for host in found):
        listing.hosts[host] = {
            name: Value(str(value), source)
            for name, value in variables.get(host, {}).items()
            if not isinstance(value, dict | list)
        }
    return listing
