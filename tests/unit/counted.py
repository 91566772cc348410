"""Converts runs recorded as instants to runs recorded as counts of the same messages."""

import json
import shutil
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mqperf.record.messages import read_all
from mqperf.record.seal import SEAL, checksums, digest
from mqperf_numbered.onhost.tally import Tally

CHUNK = 1000
"""Messages that a generator might count at a time."""


class Numbering:
    """The number of each message, looked up by its start; clients number what they send."""

    def __init__(self, sent: Mapping[str, np.ndarray]) -> None:
        self.known = defaultdict(list)
        for label, starts in sent.items():
            for number, start in enumerate(starts.tolist()):
                self.known[start].append((label, number))

    def of(self, starts: np.ndarray, seen: Counter[float]) -> list[tuple[str, int]]:
        """Sender and number of each message; messages without a known sender are a stranger's."""
        pairs = []
        for position, start in enumerate(starts.tolist()):
            ids = self.known.get(start, [("stranger", position)])
            pairs.append(ids[min(seen[start], len(ids) - 1)])
            seen[start] += 1
        return pairs


def convert(run: Path) -> None:
    """Replace the ``.messages`` files of a run folder by ``.counts`` files, and renew its seal."""
    start, ahead = _load_start(run), _ahead_s(run)
    files = sorted((run / "load").glob("*.messages"))
    read = {file: read_all(file) for file in files}
    numbering = Numbering(
        {
            header.label: streams["sent"][:, 0]
            for header, streams in read.values()
            if "sent" in streams
        }
    )
    seen: dict[str, Counter[float]] = {"received": Counter(), "sent": Counter(), "ended": Counter()}
    for file, (header, streams) in read.items():
        local_start = start + ahead.get(header.label, 0.0)
        tally = Tally(header.label, header.kind, header.test_case, local_start, list(streams))
        for name, instants in streams.items():
            order = np.argsort(instants[:, -1], kind="stable")
            add(tally, name, instants[order], numbering, seen.get(name, seen["ended"]))
        tally.save(file.with_suffix(".counts"))
        file.unlink()
    seal(run)


def add(
    tally: Tally, name: str, instants: np.ndarray, numbering: Numbering, seen: Counter[float]
) -> None:
    """Count the messages in chunks, in the order of their arrival."""
    ids = numbering.of(instants[:, 0], seen)
    for sender in dict.fromkeys(label for label, _ in ids):
        mask = np.array([label == sender for label, _ in ids])
        numbers = np.array([number for label, number in ids if label == sender], dtype=np.int64)
        of_sender = instants[mask]
        for first in range(0, len(of_sender), CHUNK):
            part = of_sender[first : first + CHUNK]
            ends = part[:, 1] if part.shape[1] > 1 else None
            tally.add(name, sender, numbers[first : first + CHUNK], part[:, 0], ends)


def converted(source: Path, target: Path) -> Path:
    """A copy of a run folder, recorded as counts."""
    shutil.copytree(source, target)
    convert(target)
    return target


def seal(run: Path) -> None:
    """Recompute the checksums and the seal."""
    file = run / "run.json"
    facts = json.loads(file.read_text())
    facts["files"] = checksums(run)
    if SEAL in facts:
        facts[SEAL] = digest(facts)
    file.write_text(json.dumps(facts))


def _ahead_s(run: Path) -> dict[str, float]:
    """By process, how far the clock of its host was ahead when it received the start."""
    facts = json.loads((run / "run.json").read_text())
    clocks = facts.get("clocks", {})
    return {
        process["label"]: clocks[process["host"]]["before"]["offset_s"]
        for process in facts["processes"]
        if process.get("host") in clocks
    }


def _load_start(run: Path) -> float:
    facts = json.loads((run / "run.json").read_text())
    start: float = facts["window"]["start"] - facts["case"].get("warmup_s", 2)
    return start
