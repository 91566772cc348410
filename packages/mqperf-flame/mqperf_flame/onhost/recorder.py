"""The program of the probe: runs ``perf record``, and writes folded stacks of chosen processes.

It runs on any Linux host with Python 3.11 and perf.  From before the load to its end, perf samples
the call stack of each busy core 99 times a second.  Sampling by thread instead would miss threads
that run for less than a hundredth of a second.  The recording covers the whole machine, and is
deleted with its scratch folder.  The program leaves

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
"""Not 100, so that samples are not in step with periodic work every hundredth of a second."""

PERIOD_NS = 1_000_000_000 // HERTZ
EVENT = "cpu-clock:I"
"""The software clock, which every machine has; ``I`` excludes idle cores."""

FOLDED, ABOUT = "flame.folded", "flame.json"
POLL_S = 0.02
WATCHED = ("broker", "client", "server", "background")
"""The kinds of processes that are profiled."""


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
                if (text := options.targets.read_text()) != targets:  # such as a restarted node
                    targets, labels = text, labels | dict(_families(json.loads(text)))
        for pid in labels:
            java.name_code(pid)
        offset_s = time.time() - time.monotonic() - start
        pids = ",".join(map(str, labels))
        lines = _output(folder, "script", "--no-inline", "--pid", pids, "-F", FIELDS)
        counts = folded(lines, labels, lambda instant: math.floor(instant + offset_s))
        version = "".join(_output(folder, "--version")).strip()
    _write(options.out, counts, {"version": version, "period_ns": PERIOD_NS, "seconds": seconds})


def _write(out: Path, counts: Counter[Stack], about: Mapping[str, Any]) -> None:
    """Write both files of the run folder, with the seconds of the load only."""
    within = Counter({key: n for key, n in counts.items() if key[0] < about["seconds"]})
    (out / FOLDED).write_text("".join(written(within)), encoding="utf-8")
    (out / ABOUT).write_text(json.dumps(about), encoding="utf-8")


@contextmanager
def _recording(folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Run ``perf record`` in the context: begun on entry, and fully written on exit."""
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
    """Exit with the code of perf if it has ended; its last message is in the log."""
    if (code := perf.poll()) is not None:
        sys.exit(abs(code) or "perf ended before the load")


def _output(folder: Path, *arguments: str) -> Iterator[str]:
    """Yield the lines that perf prints, which may exceed memory; exit if it fails."""
    with subprocess.Popen(
        ["perf", *arguments],
        cwd=folder,
        env=_variables(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
        errors="replace",
    ) as perf:
        yield from perf.stdout or ()
    if perf.returncode:
        sys.exit(f"perf {arguments[0]} ended with code {perf.returncode}")


def _variables(folder: Path) -> dict[str, str]:
    """Return variables for perf, without the user's; perf keeps its own files in the folder."""
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8"}


def _families(targets: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, str]]:
    """Yield the id and label of each profiled process, and of its descendants if asked for."""
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
