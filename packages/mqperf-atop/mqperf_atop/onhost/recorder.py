"""The atop probe's program: atop beside the load, and then what it recorded of chosen processes.

It runs as a process of its own, without importing mqperf, so that it can be copied to any host that
has Python 3.11 and atop.  atop starts at once, records once a second, and gets its SIGTERM when the
load has ended.  Then the same atop prints the record, of which are kept the lines of the whole
machine, and of the chosen processes with the children that they had at the start.  It writes

- ``atop.raw``, atop's own record of the whole machine;
- ``atop.json``, the chosen processes: ``{"version": ..., "processes": {label: [pid, ...]}}``;
- ``atop.txt``, the lines that were kept.

This program and atop are among the chosen processes, under this program's label.
"""

import argparse
import json
import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

POLL_S = 0.05
INTERVAL_S = 1
LAST_S = 0.5
"""Seconds after the load until atop is ended: its last sample in the load is on disk by then."""

ENDED = (0, 15, -15)
"""Exit codes of an atop that was ended by SIGTERM."""

RAW = "atop.raw"
TICKS = "PRC,CPU"
"""Kinds of lines that atop prints: of processes, and of the machine."""

Pids = Mapping[str, Sequence[int]]
"""Label -> process ids."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Record until the load's end, and write the record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--label", required=True, help="what this process is called")
    parser.add_argument("--control", type=Path, required=True, help="folder of the start file")
    parser.add_argument("--targets", type=Path, required=True, help="JSON list of processes")
    parser.add_argument("--seconds", type=int, required=True, help="length of the load")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    targets: list[dict[str, Any]] = json.loads(options.targets.read_text())
    with _recording(options.out) as atop:
        (options.control / f"{options.label}.ready").touch()
        start = _await_start(options.control / "start", atop)
        chosen = {**_families(targets), options.label: [os.getpid(), atop.pid]}
        _await_end(options.control / "end", start + options.seconds)
        _check(atop)
    version = subprocess.run(["atop", "-V"], capture_output=True, text=True, check=False).stdout
    _write(
        options.out / "atop.json", [json.dumps({"version": version.strip(), "processes": chosen})]
    )
    _write(options.out / "atop.txt", _printed(options.out, chosen))


def _await_end(file: Path, end: float) -> None:
    """Return when the load has ended, as agreed or earlier, and the last sample is on disk."""
    while (remaining_s := end + LAST_S - time.time()) > 0:
        time.sleep(min(remaining_s, 1.0))
        if file.exists():
            end = min(end, float(json.loads(file.read_text())["end"]))


@contextmanager
def _recording(out: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run atop, recording, within the context; enter when its first sample is on disk.

    ``ATOPACCT`` keeps it from switching on the kernel's process accounting, which would outlive it.
    """
    raw = out / RAW
    env = os.environ | {"ATOPACCT": ""}
    atop = subprocess.Popen(["atop", "-w", raw.name, str(INTERVAL_S)], cwd=out, env=env)
    try:
        while not raw.exists() or raw.stat().st_size == 0:
            _check(atop)
            time.sleep(POLL_S)
        yield atop
    finally:
        atop.terminate()
        code = atop.wait()
    if code not in ENDED:
        raise SystemExit(abs(code))


def _check(atop: subprocess.Popen[bytes]) -> None:
    """Exit as atop did, if it has ended: the log has its messages."""
    if (code := atop.poll()) is not None:
        raise SystemExit(abs(code) or 1)


def _await_start(file: Path, atop: subprocess.Popen[bytes]) -> float:
    while not file.exists():
        _check(atop)
        time.sleep(POLL_S)
    return float(json.loads(file.read_text())["start"])


def _families(targets: Sequence[Mapping[str, Any]]) -> Pids:
    """Return the process ids of every target, with all its descendants where requested."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # It has ended.
            parent = int(stat.read_text(errors="replace").rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(stat.parent.name))
    return {
        target["label"]: [
            target["pid"],
            *(_descendants(target["pid"], children) if target["children"] else ()),
        ]
        for target in targets
    }


def _descendants(pid: int, children: Mapping[int, Sequence[int]]) -> Iterator[int]:
    for child in children.get(pid, ()):
        yield child
        yield from _descendants(child, children)


def _printed(out: Path, chosen: Pids) -> Iterator[str]:
    """Yield the lines of the record that are about the machine or a chosen process."""
    pids = {str(pid) for group in chosen.values() for pid in group}
    argv = ["atop", "-r", RAW, "-P", TICKS]
    with subprocess.Popen(
        argv, cwd=out, stdout=subprocess.PIPE, text=True, encoding="utf-8", errors="replace"
    ) as atop:
        for line in atop.stdout or ():
            if _is_kept(line, pids):
                yield line
    if atop.returncode:
        raise SystemExit(abs(atop.returncode))


def _is_kept(line: str, pids: set[str]) -> bool:
    """Whether a line is not about a process, or about a chosen one, but not about a thread."""
    words = line.split(" ", 7)
    return words[0] != "PRC" or (words[6] in pids and f" {words[6]} y " in line)


def _write(file: Path, lines: Sequence[str] | Iterator[str]) -> None:
    """Write a file, which appears only when it is complete."""
    draft = file.with_name(f"{file.name}.draft")
    with draft.open("w", encoding="utf-8") as out:
        out.writelines(lines)
    draft.rename(file)


if __name__ == "__main__":
    main()
