"""The program of the probe: ``perf record``, and what it saw of chosen processes as folded stacks.

It runs on any Linux host with Python 3.11 and perf.  99 times a second perf looks at each core that
is in use, and at the functions that are called there just then, from before the load to its end.
Looked at by thread instead, threads that run for less than a hundredth of a second would be missed.
What it writes tells of the whole machine, and goes with a scratch folder.  What stays is

- ``flame.folded``, a line for each second, chosen process and stack, in the form of ``folding``;
- ``flame.json``, how it was made: ``{"version": ..., "period_ns": ..., "seconds": ...}``.
"""

import json
import math
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from mqperf.onhost.probes import sampling
from mqperf.onhost.processes.scratch import scratch
from mqperf_flame.onhost import java
from mqperf_flame.onhost.folding import FIELDS, Stack, folded, written

HERTZ = 99
"""Not 100, so that it does not keep time with what happens in hundredths of a second."""

PERIOD_NS = 1_000_000_000 // HERTZ
EVENT = "cpu-clock:I"
"""The software clock, which every machine has, but for cores that are idle."""

FOLDED, ABOUT = "flame.folded", "flame.json"
POLL_S = 0.02
WATCHED = ("broker", "client", "server", "background")
"""Kinds of processes that are looked at."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Record until the load's end, and fold what was recorded."""
    options = sampling.parsed(arguments)
    targets, labels, seconds = "", dict[int, str](), 0
    with scratch("flame") as folder:
        with _recording(folder) as perf:
            options.talk.say("ready")
            start = options.talk.wait_for_start()
            for _ in sampling.each_second(options.talk, start, options.seconds):
                _check(perf)
                seconds = round(time.time() - start)
                if (text := options.targets.read_text()) != targets:  # a node was started again
                    targets, labels = text, labels | dict(_families(json.loads(text)))
        for pid in labels:
            java.name_code(pid)
        ahead_s = time.time() - time.monotonic() - start
        pids = ",".join(map(str, labels))
        lines = _printed(folder, "script", "--no-inline", "--pid", pids, "-F", FIELDS)
        counts = folded(lines, labels, lambda instant: math.floor(instant + ahead_s))
        version = "".join(_printed(folder, "--version")).strip()
    _write(options.out, counts, {"version": version, "period_ns": PERIOD_NS, "seconds": seconds})


def _write(out: Path, counts: Counter[Stack], about: Mapping[str, Any]) -> None:
    """Both files of the run folder, the seconds of the load only."""
    within = Counter({key: n for key, n in counts.items() if key[0] < about["seconds"]})
    (out / FOLDED).write_text("".join(written(within)), encoding="utf-8")
    (out / ABOUT).write_text(json.dumps(about), encoding="utf-8")


@contextmanager
def _recording(folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Have perf record; it has begun, and has written all when the context ends."""
    argv = ["perf", "record", "--quiet", "-a", "-e", EVENT, "-c", str(PERIOD_NS), "-g"]
    argv += ["-k", "mono", "-N", "-o", "perf.data"]
    perf = subprocess.Popen(argv, cwd=folder, env=_variables(folder))
    try:
        while not (data := folder / "perf.data").exists() or not data.stat().st_size:
            _check(perf)
            time.sleep(POLL_S)
        yield perf
    finally:
        perf.send_signal(signal.SIGINT)
        perf.wait()


def _check(perf: "subprocess.Popen[bytes]") -> None:
    """Exit as perf did, if it has ended: what it said last is in the log."""
    if (code := perf.poll()) is not None:
        sys.exit(abs(code) or "perf ended before the load")


def _printed(folder: Path, *words: str) -> Iterator[str]:
    """The lines that perf prints, of a long load more than memory may hold; exits if it fails."""
    with subprocess.Popen(
        ["perf", *words],
        cwd=folder,
        env=_variables(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
        errors="replace",
    ) as perf:
        yield from perf.stdout or ()
    if perf.returncode:
        sys.exit(f"perf {words[0]} ended with code {perf.returncode}")


def _variables(folder: Path) -> dict[str, str]:
    """Nothing of the user's; what perf keeps is in the folder."""
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8"}


def _families(targets: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, str]]:
    """Every process that is looked at by its id with its label, and what descends from it."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            parent = int(stat.read_text(errors="replace").rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(stat.parent.name))
    for target in targets:
        if target["kind"] not in WATCHED:
            continue
        family = [target["pid"]]
        for pid in family if target["children"] else ():
            family += children.get(pid, ())
        yield from ((pid, target["label"]) for pid in family)


if __name__ == "__main__":
    main()
