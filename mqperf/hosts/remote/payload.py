"""The data sent to a host: the sources of the agent and of all other code that runs there."""

import json
import zlib
from collections.abc import Mapping
from pathlib import Path

from mqperf.hosts.software import sources
from mqperf.onhost.agent import boot as booting

__all__ = ["boot", "packed", "sources"]


def boot() -> bytes:
    """Return the source of the boot program, which unpacks the rest."""
    return Path(booting.__file__).read_bytes()


def packed(files: Mapping[str, str], folder: str | None, lease_s: float) -> bytes:
    """Return the input of the boot program: a length, a newline, and as many bytes."""
    order = {"files": dict(files), "folder": folder, "lease_s": lease_s}
    content = zlib.compress(json.dumps(order).encode())
    return b"%d\n%s" % (len(content), content)
