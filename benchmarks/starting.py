"""CPU of short commands, in seconds and in loops of a fixed length.

    ./noxw -s benchmarks -- starting [TIMES]

The yardsticks are Python alone, and a loop of a million additions.  All commands run TIMES times in
turns (11 unless given), and medians are printed: once with compiled bytecode, once without.
"""

import os
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import spent

LOOP = "a loop of 1,000,000 additions"
MQPERF = str(Path(sys.executable).with_name("mqperf"))
COMMANDS: Mapping[str, Sequence[str]] = {
    "python -I -c pass": (sys.executable, "-I", "-c", "pass"),
    LOOP: (sys.executable, "-I", "-c", "x = 0\nfor i in range(1_000_000): x += i"),
    "mqperf --version": (MQPERF, "--version"),
    "mqperf --help": (MQPERF, "--help"),
    "mqperf plan --help": (MQPERF, "plan", "--help"),
    "mqperf plan plans/quickstart.yaml": (MQPERF, "plan", "plans/quickstart.yaml"),
    "mqperf status data/samples/runs": (MQPERF, "status", "data/samples/runs"),
}


def main(arguments: list[str]) -> None:
    """Measure all commands in both ways."""
    times = int(arguments[0]) if arguments else 11
    with tempfile.TemporaryDirectory() as folder:
        cached = {"PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}
        print("with compiled bytecode")
        measure(times, cached)
    print("without")
    measure(times, {"PYTHONPYCACHEPREFIX": os.devnull, "PYTHONDONTWRITEBYTECODE": "1"})


def measure(times: int, variables: Mapping[str, str]) -> None:
    """Print the median of every command, after one run that is not counted."""
    samples: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for number in range(times + 1):
        for name, argv in COMMANDS.items():
            cpu_s = spent.of(argv, variables)
            if number:
                samples[name].append(cpu_s)
    median = {name: statistics.median(all_s) for name, all_s in samples.items()}
    for name, cpu_s in median.items():
        print(f"  {name:34} {cpu_s:6.3f} s of CPU, {cpu_s / median[LOOP]:5.2f} loops", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
