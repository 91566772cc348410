"""How fast statistics of one run are: folding latencies into a histogram, and its log.

    ./noxw -s benchmarks -- histograms

A million latencies per run, folded at 20 million a second or more, cost 50 ms.
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from mqperf.onhost.record import hdr
from mqperf.record.streams.hdr_log import Interval, read_log, write_log
from mqperf.study.series.intervals import level_interval
from mqperf_imported.study.histograms import merged

MESSAGES = 10_000_000
SECONDS = 100


def main() -> None:
    """Print the best of three for each step."""
    random = np.random.default_rng(1)
    latency = np.exp(random.normal(-6, 1.5, MESSAGES))
    report("fold into a histogram", MESSAGES, lambda: hdr.fold(latency))
    histograms = [hdr.fold(chunk) for chunk in np.array_split(latency, SECONDS)]
    report("merge 100 histograms of", MESSAGES, lambda: merged(histograms))
    million = np.sort(random.random(1_000_000) * SECONDS).astype(np.int64), latency[:1_000_000]
    report("interval of p99 from", len(million[0]), lambda: interval(*million))
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "run.hlog"
        rows = [Interval(float(second), 1.0, each) for second, each in enumerate(histograms)]
        report("write a log of", MESSAGES, lambda: write_log(log, 0.0, rows, "benchmark"))
        report("read it", MESSAGES, lambda: list(read_log(log)))
        print(f"the log has {log.stat().st_size / 1e3:.0f} kB")


def interval(second: np.ndarray, latency: np.ndarray) -> None:
    """Compute the interval of one percentile; every run has five."""
    counts = np.bincount(second, minlength=SECONDS)
    above = np.bincount(second[latency > np.quantile(latency, 0.99)], minlength=SECONDS)
    levels = level_interval(0.99, (counts - above).astype(float), counts.astype(float))
    if levels is not None:
        np.quantile(latency, levels)


def report(title: str, messages: int, step: Callable[[], object]) -> None:
    """Run the step three times, and print the best time and rate."""
    times = []
    for _ in range(3):
        began = time.perf_counter()
        step()
        times.append(time.perf_counter() - began)
    best = min(times)
    print(f"{title:24} {messages:>11,} messages: {best:6.3f} s, {messages / best / 1e6:7.1f} M/s")


if __name__ == "__main__":
    main()
