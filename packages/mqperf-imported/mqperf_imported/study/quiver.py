"""Imports runs of quiver: a sender and a receiver with one connection, session and link each.

If its transfers were kept, every message is known to the millisecond.  If there are summaries only,
the rate is of the whole run, and percentiles are those of the summaries.
"""

from collections.abc import Mapping, Sequence
from math import ceil, floor
from pathlib import Path

import pandas as pd

from mqperf.base.errors import TableError
from mqperf.plan import PERCENTILES
from mqperf.plan.test_cases import TEST_CASES
from mqperf.record.streams.stream import Instants, Window
from mqperf.record.streams.telling import tells
from mqperf.study.importer import Importer, Measurement, throughput
from mqperf.study.tables import within_run
from mqperf.study.tables.histograms import by_second
from mqperf.study.tables.of_run import intervals
from mqperf.study.tables.percentiles import percentiles
from mqperf_imported.study.contradictions import LONGEST_S
from mqperf_imported.study.quiver_files import (
    MS,
    ROLES,
    Config,
    Results,
    Summary,
    read_snapshots,
    read_summary,
    read_transfers,
    summary_file,
)

TEST_CASE = "transfer"
STREAM = TEST_CASES[TEST_CASE].finish.latency

PROCESSES = {"sender": ("client-1", "client"), "receiver": ("server-1", "server")}
"""Label and kind of a process in mqperf's runs, by the role of an arrow."""

NINES = ("latency_p90_s", "latency_p99_s", "latency_p999_s")
LEVELS = (0.9, 0.99, 0.999, 0.9999, 0.99999)
"""The percentiles of a summary's ``latency_nines``: columns of the first three, and all shares."""

WHOLE = "its throughput and latency are of the whole run: no transfers of a whole second are there"

COVERED_S = 0.1
"""Time of the window that snapshots may miss: the first is taken after an arrow has begun."""

Frames = dict[str, pd.DataFrame]


def is_quiver(folder: Path) -> bool:
    """Whether this folder has the summary of an arrow."""
    return any(summary_file(folder, role).exists() for role in ROLES)


def read(folder: Path, source: str) -> Measurement:
    """Read the run in this folder, called ``source``.

    Raises ``TableError`` for files that are missing or damaged.
    """
    sender, receiver = (read_summary(folder, role) for role in ROLES)
    begin_s, length_s = _sending_time(folder, sender.results)
    window = 0.0, length_s
    counts: dict[str, object] = {
        "sent": sender.results.message_count,
        "received": receiver.results.message_count,
        "offered_rate_msg_s": float(sender.config.rate) or None,
    }
    frames: Frames = {"cpu": _cpu(folder, begin_s, length_s)}
    sent, received = (read_transfers(folder, role, begin_s) for role in ROLES)
    if sent is not None and received is not None and length_s > 0:
        counts |= throughput(received.per_second(window), sent.per_second(window))
        counts["disagreements"] = _disagreements(folder, (sender, receiver), (sent, received))
        frames |= _of_transfers(sent, received, window)
        histograms, notes = by_second(received, window), []
    else:
        counts |= {"throughput_msg_s": receiver.results.message_rate}
        frames |= _of_summary(receiver.results)
        histograms, notes = [], [WHOLE]
    return Measurement(
        source=source,
        test_case=TEST_CASE,
        threads=1,
        parameters=_parameters(sender.config),
        facts=_facts(sender, receiver, begin_s, length_s),
        frames={"messages": pd.DataFrame([counts]), **frames},
        histograms=histograms,
        notes=notes,
    )


def _sending_time(folder: Path, sender: Results) -> tuple[int, float]:
    """Return the first whole second in which messages were sent, and the number of seconds."""
    if sender.first_send_time is None or sender.last_send_time is None:
        raise TableError(f"{summary_file(folder, 'sender')}: records no message as sent")
    begin_s = ceil(sender.first_send_time / 1000)
    length_s = max(0, sender.last_send_time // 1000 - begin_s)
    if length_s > LONGEST_S:
        raise TableError(f"{summary_file(folder, 'sender')}: records sending for over a week")
    return begin_s, float(length_s)


def _parameters(config: Config) -> Mapping[str, object]:
    rate = {"rate_msg_s": float(config.rate)} if config.rate else {}
    return rate | {
        "payload_bytes": config.body_size,
        "credit": config.credit_window,
        "delivery": "persistent" if config.durable else "transient",
    }


def _facts(
    sender: Summary, receiver: Summary, begin_s: int, length_s: float
) -> Mapping[str, object]:
    arrows = dict.fromkeys((sender.config.impl, receiver.config.impl))
    return {
        "generator": "quiver",
        "generator_version": f"quiver, {' to '.join(arrows)}",
        "started": pd.Timestamp(begin_s, unit="s", tz="UTC"),
        "window_s": length_s or None,
        **dict.fromkeys(("green_threads", "processes", "hosts"), 1),
    }


def _of_transfers(sent: Instants, received: Instants, window: Window) -> Frames:
    processes = {"client-1": {"sent": sent}, "server-1": {"received": received}}
    load = float(floor(sent.started.min())), float(floor(received.finished.max()) + 1)
    frames = {"intervals": intervals(processes, load, window)}
    latencies = received.started_in(window)
    if not latencies.count:
        return frames
    figures = within_run.latency_figures(latencies)
    estimates = {name: figures[name] for name in PERCENTILES}
    figures |= within_run.latency_intervals(latencies, window, estimates)
    row = {"stream": STREAM, "samples": latencies.count, **figures}
    return frames | {
        "latency": pd.DataFrame([row]),
        "percentiles": pd.DataFrame(percentiles(STREAM, latencies)),
    }


def _of_summary(results: Results) -> Frames:
    """Return the latency tables of a receiver's summary, over the whole run."""
    if (
        results.latency_average is None
        or not results.latency_quartiles
        or not results.latency_nines
    ):
        return {}
    nines, count = [value * MS for value in results.latency_nines], results.message_count
    _, _, median, _, largest = (value * MS for value in results.latency_quartiles)
    row = {
        "stream": STREAM,
        "samples": count,
        "latency_mean_s": results.latency_average * MS,
        "latency_p50_s": median if tells(count, 0.5) else None,
        "latency_max_s": largest,
        **{
            name: value if tells(count, level) else None
            for name, level, value in zip(NINES, LEVELS, nines, strict=False)
        },
    }
    rows = [
        {"stream": STREAM, "samples": count, "percentile": level, "latency_s": value}
        for level, value in zip((0.5, *LEVELS), (median, *nines), strict=True)
        if tells(count, level)
    ]
    return {"latency": pd.DataFrame([row]), "percentiles": pd.DataFrame(rows)}


def _disagreements(
    folder: Path, summaries: Sequence[Summary], transfers: Sequence[Instants]
) -> str | None:
    """Return arrows whose summary counts another number of messages than their transfers."""
    differences = [
        f"{summary_file(folder, role).name} counts {summary.results.message_count} messages, the"
        f" transfers have {instants.count}"
        for role, summary, instants in zip(ROLES, summaries, transfers, strict=True)
        if summary.results.message_count != instants.count
    ]
    return "; ".join(differences) or None


def _cpu(folder: Path, begin_s: int, length_s: float) -> pd.DataFrame:
    """Return the CPU of both arrows between their snapshots, and in the window from ``begin_s`` on.

    If the window ends between two snapshots, CPU is assumed to be used evenly between them.
    """
    usages = []
    for role, (process, kind) in PROCESSES.items():
        snapshots = read_snapshots(folder, role, begin_s)
        length = snapshots["end_s"] - snapshots["start_s"]
        usage = snapshots.assign(scope="interval", total_cores=snapshots["cpu_s"] / length)
        covered = usage["end_s"].clip(upper=length_s) - usage["start_s"].clip(lower=0)
        if length_s > 0 and covered.clip(lower=0).sum() > length_s - COVERED_S:
            used_s = (usage["total_cores"] * covered.clip(lower=0)).sum()
            window = {"start_s": 0.0, "end_s": length_s, "total_cores": used_s / length_s}
            usage = pd.concat([usage, pd.DataFrame([{"scope": "window", **window}])])
        usages.append(usage.drop(columns="cpu_s").assign(process=process, kind=kind))
    return pd.concat(usages, ignore_index=True)


IMPORTER = Importer(
    name="quiver",
    title="Quiver",
    link="https://github.com/ssorj/quiver",
    known_by="sender-summary.json",
    holds=is_quiver,
    read=read,
)
