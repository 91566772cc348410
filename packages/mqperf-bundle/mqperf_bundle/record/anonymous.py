"""Hosts of runs under other names: the same for a host in every record, and seals of what follows.

Hosts are those that records call so, those of brokers' nodes and URLs, clients' addresses in logs,
and this machine.
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
"""Files whose lines have histograms in base64, which may spell the name of a host by chance."""

KEPT = "surrogateescape"
"""How bytes that are no UTF-8 become text, and themselves again."""

Rename = Callable[[str], str]


def renaming(runs: Iterable[Run], files: Iterable[Path]) -> tuple[list[str], Rename]:
    """The names of hosts that stand in these files of runs, and what renames them in a text.

    The first label of a long name is the same host.  Other names sort as these do.
    """
    texts = [text for file in files if (text := _text(file)) is not None]
    names = {socket.gethostname()} | {name for run in runs for name in _recorded(run.facts())}
    names |= {match["url"] or match["address"] for t in texts for match in _IN_TEXT.finditer(t)}
    names = {name for name in names if not _OURS.fullmatch(name)}
    short = {name: name if _ADDRESS.fullmatch(name) else name.partition(".")[0] for name in names}
    places = {host: place for place, host in enumerate(sorted({*short.values()}), 1)}
    width = len(str(len(places)))
    hosts = {**short, **{host: host for host in places}}
    aliases = {name: f"host-{places[host]:0{width}}" for name, host in hosts.items()}
    longest = sorted(aliases, key=len, reverse=True)
    ends = (r"(?![A-Za-z0-9-])" if "." in host else r"(?![\w-])" for host in longest)
    each = (re.escape(host) + end for host, end in zip(longest, ends, strict=True))
    words = re.compile(rf"(?<!\w)(?:{'|'.join(each)})")
    named = {match[0] for text in texts for match in words.finditer(text)} - {""}
    return sorted(named), lambda text: words.sub(lambda match: aliases.get(match[0], ""), text)


def rename_hosts(folder: Path, runs: Iterable[Run], rename: Rename) -> None:
    """Rename hosts in all files of a folder of runs, and in names of files; seal the runs anew.

    A run whose case names a host gets the name of the case as it is now.
    """
    for file in sorted(folder.rglob("*"), reverse=True):
        if file.is_file():
            _rewrite(file, rename)
        if (named := file.with_name(rename(file.name))) != file and file.parent != folder:
            file.rename(named)
    for run in runs:
        _seal(run.path)
        case = run.known_case()
        if case is not None and case.id != run.case_id:
            run.path.rename(run.path.with_name(run.path.name.replace(run.case_id, case.id)))


def _recorded(facts: Facts) -> Iterator[str]:
    processes = (*facts.processes, *(p for load in facts.background for p in load.processes))
    names = [host.label for host in facts.hosts] + [process.host for process in processes]
    names += [node.host for node in facts.system.nodes]
    yield from (name for name in (*names, *facts.clocks) if name is not None)
    yield from (node.name.rpartition("@")[2] for node in facts.system.nodes if "@" in node.name)


def _text(file: Path) -> str | None:
    """What is in a file of text, also with bytes of another encoding; None for one of numbers."""
    content = raw.content(file, raw.MESSAGES_LIMIT_BYTES)
    numbers = file.suffix == COUNTS or b"\0" in content
    return None if numbers else content.decode(errors=KEPT)


def _rewrite(file: Path, rename: Rename) -> None:
    """Rename in a file of text, or in the line of text above numbers."""
    text = _text(file)
    if text is not None:
        file.write_bytes(rename(text).encode(errors=KEPT))
        return
    head, line_break, numbers = file.read_bytes().partition(b"\n")
    try:
        file.write_bytes(rename(head.decode()).encode() + line_break + numbers)
    except UnicodeDecodeError:
        return


def _seal(folder: Path) -> None:
    """Have ``run.json`` tell the checksums of the files as they are now."""
    facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
    facts["files"] = checksums(folder)
    if SEAL in facts:
        facts[SEAL] = digest(facts)
    text = json.dumps(facts, indent=1, sort_keys=True)
    (folder / FACTS).write_text(f"{text}\n", encoding="utf-8")
