"""Cost of ``mqperf report``: seconds of CPU, drawings, and space on the disk.

    ./noxw -s benchmarks -- publishing [FOLDER ...]

Without notebooks; for each folder of runs, or for data/samples/runs and 48 synthetic runs of 100 s.
Files that are stored once under several names count once.
"""

import sys
import tempfile
import time
from pathlib import Path

import spent

RUNS = 48
MB = 1e6


def main(arguments: list[str]) -> None:
    """Publish each folder by the command that a user types."""
    from synthetic import write_runs

    with tempfile.TemporaryDirectory() as name:
        folders = [Path(argument) for argument in arguments]
        if not folders:
            folders = [Path("data/samples/runs"), Path(name) / "synthetic"]
            write_runs(folders[-1], RUNS)
        for number, folder in enumerate(folders):
            print(f"{folder.name}: {published(folder, Path(name) / str(number))}", flush=True)


def published(runs: Path, out: Path) -> str:
    """Write the report, and return its cost as text."""
    began = time.perf_counter()
    mqperf = str(Path(sys.executable).with_name("mqperf"))
    argv = [mqperf, "report", str(runs), "--out", str(out), "--no-notebooks"]
    cpu_s, wall_s = spent.of(argv), time.perf_counter() - began
    files = {file.stat().st_ino: file.stat().st_size for file in out.rglob("*") if file.is_file()}
    drawn = len({file.stat().st_ino for file in out.rglob("*.svg")})
    return (
        f"{cpu_s:.1f} s of CPU in {wall_s:.1f} s, {drawn} drawings,"
        f" {sum(files.values()) / MB:.1f} MB"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
