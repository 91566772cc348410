"""From 48 run folders to HTML: seconds, and Sphinx's own share of them.

./noxw -s benchmarks -- publishing
"""

import tempfile
import time
from pathlib import Path

from mqperf.study import stats, tables

RUNS = 48


def main() -> None:
    """Publish synthetic runs and print where the time went."""
    from synthetic import write_runs

    from mqperf.pages.report import build

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_runs(folder / "runs", RUNS)
        began = time.perf_counter()
        frames = stats.complete(tables.read(folder / "runs"))
        read = time.perf_counter()
        build.build(frames, folder / "sources", title="48 runs", html=False)
        written = time.perf_counter()
        build.build(frames, folder / "report", title="48 runs")
        built = time.perf_counter()
    sphinx = (built - written) - (written - read)
    total = built - written + read - began
    print(f"{RUNS} run folders to HTML: {total:.1f} s")
    print(f"  tables and doubts {read - began:.1f} s, RST and figures {written - read:.1f} s,")
    print(f"  Sphinx {sphinx:.1f} s")


if __name__ == "__main__":
    main()
