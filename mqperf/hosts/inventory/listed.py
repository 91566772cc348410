"""What ``ansible-inventory --list`` prints: any inventory that Ansible can read."""

import json
import shutil
from pathlib import Path

from mqperf import guarded
from mqperf.errors import HostError
from mqperf.hosts.inventory.listing import Group, Listing, Value, members
from mqperf.one_line import one_line

PROGRAM = "ansible-inventory"
LIMIT_S = 60


def read(path: Path) -> Listing:
    """Have Ansible read the inventory.  Raises ``HostError`` when it cannot, or is not there."""
    if shutil.which(PROGRAM) is None:
        raise HostError(
            f"{path}: only inventories in YAML (*.yaml, *.yml) are read without Ansible: install"
            f" ansible-core, or translate it elsewhere: {PROGRAM} -i {path.name} --list --yaml"
        )
    done = guarded.run([PROGRAM, "-i", str(path), "--list"], timeout_s=LIMIT_S)
    if done.returncode:
        raise HostError(f"{path}: {PROGRAM} cannot read it: {one_line(done.stderr)}")
    return of_text(done.stdout, str(path))


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
