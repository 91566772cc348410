"""What is sent to a host: the agent and the modules of ours that it imports, as text."""

import json
import zlib
from collections.abc import Mapping
from pathlib import Path

from mqperf.hosts.software.modules import sources as texts

MODULES = (
    "errors",
    "guarded/child",
    "guarded/guardian",
    "guarded/lease",
    "guarded/link",
    "guarded/reaper",
    "guarded/scratch",
    "hosts/facts",
    "hosts/files",
    "hosts/kernel_clock",
    "hosts/network",
    "hosts/ports",
    "hosts/proc",
    "hosts/remote/agent",
    "hosts/remote/operations",
    "hosts/remote/wire",
    "software/platforms",
)
"""All of them import each other and the standard library of Python 3.11 only."""


def sources() -> dict[str, str]:
    """The text of every module by its path; packages have none of their own there."""
    return texts(MODULES)


def boot() -> bytes:
    """The program that unpacks the rest."""
    return Path(__file__).with_name("boot.py").read_bytes()


def packed(files: Mapping[str, str], folder: str | None, lease_s: float) -> bytes:
    """What the booting program reads: a length, and as many bytes."""
    order = {"files": dict(files), "folder": folder, "lease_s": lease_s}
    content = zlib.compress(json.dumps(order).encode())
    return b"%d\n%s" % (len(content), content)
