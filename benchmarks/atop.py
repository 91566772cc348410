"""How fast a record of atop is read: CPU time and memory, compared with the parser of performa.

    ./noxw -s benchmarks -- atop [PATH-OF-PERFORMA/performa/modules/atop.py]

The record has 120 processes, three of them brokers, in each second of a quarter of an hour.
performa was written for Python 2; where it changes a dictionary while iterating, it gets a list.
"""

import sys
import tempfile
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from mqperf_atop.study import unwatched

BEGIN = 1_700_000_000
SECONDS = 900
PROCESSES = 120
NAMES = ("kworker/0:1-events", "python3", "bash", "sshd", "systemd-journal")
PAIRS = 5


def main() -> None:
    """Print the medians of alternating readings, and the memory for records of three lengths."""
    with tempfile.TemporaryDirectory() as folder:
        record = write_record(Path(folder) / "mq1.txt", SECONDS)
        ours(record)  # pandas is imported by now
        print(f"{PROCESSES} processes, {SECONDS} s, {record.stat().st_size / 1e6:.1f} MB")
        if len(sys.argv) > 1:
            compare(record, performa(Path(sys.argv[1])))
        else:
            print(f"read in {median(cpu_s(lambda: ours(record)) for _ in range(PAIRS)):.3f} s")
        for seconds in (60, SECONDS, 4 * SECONDS):
            file = write_record(Path(folder) / f"{seconds}.txt", seconds)
            print(f"{seconds:6} s: peak of memory {peak_mib(file):.1f} MiB")


def compare(record: Path, parse: Callable[..., Any]) -> None:
    """Print CPU times in pairs, and the median of their ratios."""
    text = record.read_text()
    filters = {"name": "beam.*", "label": ["PRC"]}
    pairs = [
        (cpu_s(lambda: parse(text, filters)), cpu_s(lambda: ours(record))) for _ in range(PAIRS)
    ]
    for their_s, our_s in pairs:
        print(f"performa {their_s:.3f} s, mqperf {our_s:.3f} s, ratio {their_s / our_s:.1f}")
    print(f"median of the ratios {median(their_s / our_s for their_s, our_s in pairs):.1f}")


def ours(record: Path) -> None:
    """Read a whole record with mqperf."""
    unwatched.intervals.cache_clear()
    unwatched.read(record, "mq1", (float(BEGIN), float(BEGIN + 1)))


def performa(source: Path) -> Callable[..., Any]:
    """Return the published parser: the part of the file before the code that runs on hosts."""
    code = (
        source.read_text().split("\ndef start(")[0].replace("point.items()", "list(point.items())")
    )
    names: dict[str, Any] = {}
    with warnings.catch_warnings(action="ignore"):
        exec(compile(code, source.name, "exec"), names)  # noqa: S102 (a file that the user names)
    parse: Callable[..., Any] = names["parse"]
    return parse


def cpu_s(step: Callable[[], object]) -> float:
    """Return the seconds of CPU that a step takes."""
    began = time.process_time()
    step()
    return time.process_time() - began


def peak_mib(record: Path) -> float:
    """Return the peak of allocated memory while a record is read, in MiB."""
    tracemalloc.start()
    ours(record)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 2**20


def write_record(file: Path, seconds: int) -> Path:
    """Write a record of this number of seconds; return the file."""
    with file.open("w") as out:
        out.writelines(block(BEGIN + second) for second in range(seconds))
    return file


def block(end: int) -> str:
    """Return one second as ``atop -P PRC,CPU`` prints it."""
    return "".join(lines(f"node-1 {end} 2026/11/21 02:04:21 1")) + "SEP\n"


def lines(start: str) -> Iterator[str]:
    """Yield the line of the host, and of every process."""
    yield f"CPU {start} 100 2 28 133 0 26 0 0 12 0 0 5198 100 0 0\n"
    for number in range(PROCESSES):
        name = "beam.smp" if number % 40 == 0 else NAMES[number % len(NAMES)]
        ticks = f"100 {number % 7} {number % 3}"
        pid = 6000 + number
        yield f"PRC {start} {pid} ({name}) S {ticks} 0 120 0 0 1 0 {pid} y 69351835 () 0 -3 -3\n"


if __name__ == "__main__":
    main()
