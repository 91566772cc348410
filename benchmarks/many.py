"""CPU time and memory of ``mqperf audit`` and ``mqperf tables`` by the number of runs.

    ./noxw -s benchmarks -- many [COUNT ...] [seconds=20] [rate=500]

The counts are 100, 300 and 1000 unless given; runs have a measured window of ``seconds``, with
``rate`` messages in each.  Memory is that of the command with all its processes, shared pages
counted once, as read from the kernel ten times a second (``Pss``).
"""

import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psutil

MIB = 2**20
STEP_S = 0.1
COMMANDS = (("audit",), ("tables", "--out", "tables"))


def main(arguments: list[str]) -> None:
    """Write synthetic runs, and have both commands read them."""
    from synthetic import write_runs

    counts = [int(argument) for argument in arguments if argument.isdigit()]
    given = dict(argument.split("=") for argument in arguments if "=" in argument)
    seconds, rate = int(given.get("seconds", 20)), int(given.get("rate", 500))
    for count in counts or [100, 300, 1000]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_runs(folder / "runs", count, duration_s=seconds, rate=rate)
            for command in COMMANDS:
                print(f"{count:6} runs: {measured(folder, *command)}", flush=True)


def measured(folder: Path, name: str, *options: str) -> str:
    """Run a command on the folder's runs; return wall and CPU time and peak memory as text."""
    before, began = os.times(), time.perf_counter()
    peak = 0
    with (folder / name).with_suffix(".txt").open("w") as output:
        argv = [str(Path(sys.executable).with_name("mqperf")), name, "runs", *options]
        process = subprocess.Popen(argv, cwd=folder, stdout=output)
        while process.poll() is None:
            peak = max(peak, _memory_bytes(process.pid))
            time.sleep(STEP_S)
    after, wall_s = os.times(), time.perf_counter() - began
    if process.returncode:
        raise SystemExit(f"mqperf {name} failed")
    cpu_s = after.children_user + after.children_system - before.children_user
    cpu_s -= before.children_system
    return f"{name:6} {cpu_s:7.1f} s of CPU in {wall_s:7.1f} s, {peak / MIB:6.0f} MiB"


def _memory_bytes(pid: int) -> int:
    """Return the memory of a process and its descendants; one that has just ended has none."""
    total = 0
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        for member in (process, *process.children(recursive=True)):
            with suppress(psutil.Error, OSError):
                total += member.memory_full_info().pss
    return total


if __name__ == "__main__":
    main(sys.argv[1:])
