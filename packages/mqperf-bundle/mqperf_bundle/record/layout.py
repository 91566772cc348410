"""The files of a bundle: their paths, and the manifest, which ``sha256sum -c`` can read."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from mqperf.base import raw
from mqperf.base.errors import RecordError
from mqperf.record.seal import checksums

RUNS, TABLES, PAGES = "runs", "tables", "report.html"
PLAN = f"{RUNS}/plan.yaml"
VERSIONS = "versions.json"
CRATE = "ro-crate-metadata.json"
MANIFEST = "manifest-sha256.txt"
SIGNATURE = f"{MANIFEST}.sig"

UNLISTED = {MANIFEST, SIGNATURE}
"""The files whose checksums the manifest cannot contain."""

_LINE = re.compile(r"(?P<sha256>[0-9a-f]{64})  (?P<name>\S.*)\n")


def write_manifest(folder: Path) -> list[str]:
    """Write the manifest of a folder into it; return the names of all files, the manifest first."""
    all_digests = checksums(folder)
    digests = {name: digest for name, digest in all_digests.items() if name not in UNLISTED}
    lines = [f"{digest}  {name}\n" for name, digest in digests.items()]
    (folder / MANIFEST).write_text("".join(lines), encoding="utf-8")
    return [MANIFEST, *digests]


def read_manifest(folder: Path) -> dict[str, str]:
    """Return the sha256 of each file by name; raises ``RecordError`` for an invalid manifest."""
    try:
        text = raw.content(folder / MANIFEST).decode()
    except FileNotFoundError:
        raise RecordError(f"{MANIFEST}: is missing") from None
    except UnicodeDecodeError:
        raise RecordError(f"{MANIFEST}: is no text") from None
    digests: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        match = _LINE.fullmatch(line)
        if match is None or match["name"] in digests:
            raise RecordError(f"{MANIFEST}:{number}: is no line of a manifest")
        digests[match["name"]] = match["sha256"]
    return digests


def differing(listed: Mapping[str, str], digests: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each file that is missing, not listed, or has another digest than listed."""
    for name, digest in listed.items():
        if name not in digests:
            yield f"{name}: is missing"
        elif digests[name] != digest:
            yield f"{name}: is not what was bundled"
    yield from (f"{name}: was not bundled" for name in digests if name not in {*listed, *UNLISTED})
