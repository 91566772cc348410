"""Checksums of every recorded file, and of the content of ``run.json``."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mqperf.base import raw

SEAL = "seal"
"""The key of ``run.json`` with the checksum of all its other keys."""


def digest(facts: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the facts without the seal, as compact JSON with sorted keys."""
    unsealed = {key: value for key, value in facts.items() if key != SEAL}
    text = json.dumps(unsealed, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def checksums(folder: Path, *, sync: bool = False) -> dict[str, str]:
    """Return the SHA-256 of every file of a run folder, except ``run.json``, by relative name."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    names = sorted(path.relative_to(folder) for path in files)
    return {
        str(name): sha256(folder / name, sync=sync) for name in names if str(name) != "run.json"
    }


def sha256(path: Path, *, limit_bytes: int = 2**63, sync: bool = False) -> str:
    """Return the checksum of one file; with ``sync`` also flush it to disk.

    Raises ``RecordError`` for a file larger than ``limit_bytes``, which may be one huge hole.
    """
    with raw.opened(path, limit_bytes) as file:
        checksum = hashlib.file_digest(file, "sha256").hexdigest()
        if sync:
            os.fsync(file.fileno())
    return checksum
