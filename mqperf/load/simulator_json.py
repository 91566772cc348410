"""The simulator's own JSON: summary and per-second series of one process, and the sums of 2016.

Its numbers are kept for comparison with the published reports and are not mqperf's own: the summary
of a client is about 1 s too long (the first message falls into the second before), a busy server
counts several seconds as one, and replies later than its last count are left out.  mqperf's own
figures come from the ``.messages`` files.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from mqperf.errors import LoadError

Summary = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Published:
    """A run's figures by the formulas of the published reports.

    ``throughput_per_s`` is a sum of separately timed rates: round trips for CALL, *sent* messages
    for CAST and NOTIFY.  ``latency_mean_s`` is the unweighted mean over processes; ``None`` when no
    process had one.  ``round_trip`` is ``None`` where there are no replies.
    """

    sent: int
    received: int
    round_trip: int | None
    errors: int
    lost: int
    throughput_per_s: float
    latency_mean_s: float | None


def read_summary(path: Path) -> dict[str, Any]:
    """``{"series": …, "summary": …}`` as the simulator wrote it.

    Raises `LoadError` if the file is missing, empty, cut short, or holds anything else.
    """
    try:
        content = json.loads(path.read_text())
    except FileNotFoundError:
        raise LoadError(f"{path} is missing: its process ended before its summary.") from None
    except ValueError as error:
        raise LoadError(f"{path} is empty or cut short ({error}); run the case again.") from error
    if not isinstance(content, dict) or not (content.get("series") and content.get("summary")):
        raise LoadError(f"{path} holds no series and summary: not written by the simulator.")
    return content


def published_compatible(
    clients: Iterable[Path], servers: Iterable[Path], test_case: str
) -> Published:
    """The figures of a run as the published reports would have them, from its processes' files."""
    at_clients = [read_summary(path)["summary"] for path in clients]
    at_servers = [read_summary(path)["summary"] for path in servers]
    sent = [summary["client"] for summary in at_clients]
    received = _count(at_servers)
    if test_case == "rpc-call":
        replies = [summary["round_trip"] for summary in at_clients]
        arrived, timed, delayed = _count(replies), replies, replies
    else:
        replies, arrived, timed, delayed = [], received, sent, at_servers
    latencies = [summary["latency"] for summary in delayed if "latency" in summary]
    return Published(
        sent=_count(sent),
        received=received,
        round_trip=_count(replies) if replies else None,
        errors=_count(summary["error"] for summary in at_clients),
        lost=_count(sent) - arrived,
        throughput_per_s=sum(map(_rate, timed)),
        latency_mean_s=fmean(latencies) if latencies else None,
    )


def _count(summaries: Iterable[Summary]) -> int:
    return sum(int(summary["count"]) for summary in summaries)


def _rate(summary: Summary) -> float:
    return summary["count"] / summary["duration"] if summary["duration"] else 0.0
