"""What is sent to a host: the agent and all else of ours that runs there, as text."""

import json
import zlib
from collections.abc import Mapping
from pathlib import Path

from mqperf.hosts.software import sources
from mqperf.onhost.agent import boot as booting

__all__ = ["boot", "packed", "sources"]


def boot() -> bytes:
    """The program that unpacks the rest."""
    return Path(booting.__file__).read_bytes()


def packed(files: Mapping[str, str], folder: str | None, lease_s: float) -> bytes:
    """What the booting program reads: a length, and as many bytes."""
    order = {"files": dict(files), "folder": folder, "lease_s": lease_s}
    content = zlib.compress(json.dumps(order).encode())
    return b"%d\n%s" % (len(content), content)
