"""How reading scales: run folders of 100 s into tables and doubts, time and peak memory.

    ./noxw -s benchmarks -- reading [COUNT ...]

The counts are 10, 100 and 1000 unless given.  Each count is read in a process of its own, so that
its peak memory is its own.
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

READ = "--read"


def main(arguments: list[str]) -> None:
    """Write synthetic runs once, and read growing numbers of them."""
    if arguments[:1] == [READ]:
        measure(Path(arguments[1]))
        return
    from synthetic import write_runs

    for count in [int(argument) for argument in arguments] or [10, 100, 1000]:
        with tempfile.TemporaryDirectory() as folder:
            write_runs(Path(folder), count)
            subprocess.run([sys.executable, "-P", __file__, READ, folder], check=True)


def measure(folder: Path) -> None:
    """Print seconds and peak memory of reading tables, and of judging them."""
    from mqperf.study import stats, tables

    began = time.perf_counter()
    frames = tables.read(folder)
    read = time.perf_counter()
    doubts = stats.complete(frames)["doubts"]
    done = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{len(frames['runs']):5} runs: tables {read - began:6.2f} s, doubts and points"
        f" {done - read:6.2f} s ({len(doubts)} doubts), peak memory {peak:6.0f} MiB",
        flush=True,
    )


if __name__ == "__main__":
    main(sys.argv[1:])
