"""Renaming of the hosts of runs, consistently in all records, which are sealed again.

Hosts are those named as such in records, those of broker nodes and URLs, addresses of clients in
logs, and this machine.
"""

import json
import re
import socket
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from mqperf.base import raw
from mqperf.record import FACTS, Run
from mqperf.record.facts import Facts
from mqperf.record.seal import SEAL, checksums, digest

_IN_TEXT = re.compile(
    r"(?:amqps?|rabbit|kafka|redis|tcp)://(?:[^\s/@\"]*@)?(?P<url>[\w.-]+)"
    r"|(?<![\w.])(?P<address>\d{1,3}(?:\.\d{1,3}){3})(?=:\d)"
)
_ADDRESS = re.compile(r"[\d.]+")
_OURS = re.compile(r"local|localhost|127\..*|::1|0\.0\.0\.0|")

COUNTS = ".counts"
"""Suffix of files with histograms in base64, which may contain the name of a host by chance."""

KEPT = "surrogateescape"
"""Error handler that keeps bytes which are not UTF-8 when text is decoded and encoded again."""

Rename = Callable[[str], str]


def renaming(runs: Iterable[Run], files: Iterable[Path]) -> tuple[list[str], Rename]:
    """Return the names of hosts in these files of runs, and a function that renames them in text.

    A long name, and its first label alone, are the same host.  New names sort like the old ones.
    """
    texts = [text for file in files if (text := _text(file)) is not None]
    names = {socket.gethostname()} | {name for run in runs for name in _host_names(run.facts())}
    names |= {match["url"] or match["address"] for t in texts for match in _IN_TEXT.finditer(t)}
    names = {name for name in names if not _OURS.fullmatch(name)}
    short = {name: name if _ADDRESS.fullmatch(name) else name.partition(".")[0] for name in names}
    numbers = {host: number for number, host in enumerate(sorted({*short.values()}), 1)}
    width = len(str(len(numbers)))
    hosts = {**short, **{host: host for host in numbers}}
    aliases = {name: f"host-{numbers[host]:0{width}}" for name, host in hosts.items()}
    longest = sorted(aliases, key=len, reverse=True)
    ends = (r"(?![A-Za-z0-9-])" if "." in host else r"(?![\w-])" for host in longest)
    each = (re.escape(host) + end for host, end in zip(longest, ends, strict=True))
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(each)})")
    found = {match[0] for text in texts for match in pattern.finditer(text)} - {""}
    return sorted(found), lambda text: pattern.sub(lambda match: aliases.get(match[0], ""), text)


def rename_hosts(folder: Path, runs: Iterable[Run], rename: Rename) -> None:
    """Rename hosts in contents and names of all files of a folder of runs; seal the runs again.

    A run whose case names a host is renamed to the new name of the case.
    """
    for file in sorted(folder.rglob("*"), reverse=True):
        if file.is_file():
            _rewrite(file, rename)
        if (target := file.with_name(rename(file.name))) != file and file.parent != folder:
            file.rename(target)
    for run in runs:
        _seal(run.path)
        case = run.known_case()
        if case is not None and case.id != run.case_id:
            run.path.rename(run.path.with_name(run.path.name.replace(run.case_id, case.id)))


def _host_names(facts: Facts) -> Iterator[str]:
    processes = (*facts.processes, *(p for load in facts.background for p in load.processes))
    names = [host.label for host in facts.hosts] + [process.host for process in processes]
    names += [node.host for node in facts.system.nodes]
    yield from (name for name in (*names, *facts.clocks) if name is not None)
    yield from (node.name.rpartition("@")[2] for node in facts.system.nodes if "@" in node.name)


def _text(file: Path) -> str | None:
    """Return the content of a text file, in any encoding; None for a file with binary data."""
    content = raw.content(file, raw.MESSAGES_LIMIT_BYTES)
    binary = file.suffix == COUNTS or b"\0" in content
    return None if binary else content.decode(errors=KEPT)


def _rewrite(file: Path, rename: Rename) -> None:
    """Rename hosts in a text file, or in the header line of a file with binary data."""
    text = _text(file)
    if text is not None:
        file.write_bytes(rename(text).encode(errors=KEPT))
        return
    header, line_break, data = file.read_bytes().partition(b"\n")
    try:
        file.write_bytes(rename(header.decode()).encode() + line_break + data)
    except UnicodeDecodeError:
        return


def _seal(folder: Path) -> None:
    """Update the checksums in ``run.json`` to the current files."""
    facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
    facts["files"] = checksums(folder)
    if SEAL in facts:
        facts[SEAL] = digest(facts)
    text = json.dumps(facts, indent=1, sort_keys=True)
    (folder / FACTS).write_text(f"{text}\n", encoding="utf-8")
