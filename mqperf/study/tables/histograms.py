"""The latencies of a run as histograms per second: every message, to three significant digits.

CALL without an offered rate is a closed loop: a thread sends its next message after the reply to
the last.  Its latency is the service time, so there is no coordinated omission to correct for.
"""

from pathlib import Path

import pandas as pd

from mqperf.record import Run, runs
from mqperf.record.streams.hdr_log import Interval, write_log
from mqperf.record.streams.stream import Stream, Window
from mqperf.study.tables.of_run import finished_messages


def latency_histograms(run: Run) -> list[Interval]:
    """One histogram per second of the window, over all processes; by the start of a message."""
    return by_second(*finished_messages(run))


def write_hdr(run: Run, path: Path) -> None:
    """Write the histograms of a whole run as an HdrHistogram log; values are nanoseconds."""
    finished, window = finished_messages(run)
    comment = f"[Latencies of {run.id}, in nanoseconds]"
    write_log(path, window[0], by_second(finished, window), comment)


def by_second(finished: Stream, window: Window) -> list[Interval]:
    """One interval, with its histogram, per second of the window."""
    histograms = finished.started_in(window).histograms()
    return [Interval(float(number), 1.0, histogram) for number, histogram in enumerate(histograms)]


def write_all(runs_folder: Path, folder: Path, read: pd.DataFrame) -> list[Path]:
    """Write a log for each run of a runs folder whose status is done; return the files.

    ``read`` is the table ``runs`` of that folder; a log is named after its run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    done = set(read.loc[read["status"] == "done", "run"])
    files = []
    for run in runs(runs_folder):
        if run.id in done:
            files.append(folder / f"{run.id}.hlog")
            write_hdr(run, files[-1])
    return files
