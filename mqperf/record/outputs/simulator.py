"""The simulator's own JSON: summary and per-second series of one process, and the sums of 2016.

Its numbers are kept for comparison with the published reports and are not mqperf's own: the summary
of a client is about 1 s too long (the first message falls into the second before), a busy server
counts several seconds as one, and replies later than its last count are left out.  mqperf's own
figures come from the ``.messages`` files.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Annotated, TypeVar

from pydantic import BaseModel, Field, ValidationError

from mqperf.base import raw
from mqperf.base.errors import LoadError
from mqperf.plan.test_cases import TEST_CASES
from mqperf.record.load_file import opened

Count = Annotated[int, Field(ge=0, le=2**53)]
THREAD = re.compile(r"_\d+$")
Number = Annotated[float, Field(ge=-1e12, le=1e12)]


class Checked(BaseModel, frozen=True, strict=True, allow_inf_nan=False, defer_build=True):
    """Base of models with finite numbers of exact JSON types, as the simulator writes them."""


class Point(Checked):
    """What one thread, or a server, counted between the previous point and ``timestamp``."""

    timestamp: Number
    count: Count
    latency: Number | None = None
    min_latency: Number | None = None
    max_latency: Number | None = None


class Summary(Checked):
    """Counts over the whole run and all threads; ``duration`` begins 1 s before the first point."""

    count: Count
    duration: float = Field(ge=0, le=1e12)
    latency: Number | None = None
    min_latency: Number | None = None
    max_latency: Number | None = None


class ClientSummary(Checked):
    """The summaries of a client: what it sent, what failed, and the replies it got."""

    client: Summary
    error: Summary
    round_trip: Summary | None = None


class Output(Checked):
    """The output of one process: points by thread (``client_0``, ``round_trip_0``), and a sum."""

    series: Mapping[str, tuple[Point, ...]] = Field(min_length=1)

    def points(self, stream: str) -> list[Point]:
        """Return all threads' points of ``client``, ``error``, ``round_trip`` or ``server``."""
        names = [name for name in self.series if THREAD.sub("", name) == stream]
        return [point for name in names for point in self.series[name]]


class ServerOutput(Output):
    """The output of a server, with a summary of what it received."""

    summary: Summary


class ClientOutput(Output):
    """The output of a client."""

    summary: ClientSummary


T = TypeVar("T", bound=Output)


def read_client(path: Path) -> ClientOutput:
    """Read the simulator's output of a client.

    Raises `LoadError` if the file is missing, empty, cut short, or invalid.
    """
    return _read(path, ClientOutput)


def read_server(path: Path) -> ServerOutput:
    """Read the simulator's output of a server; raises as ``read_client`` does."""
    return _read(path, ServerOutput)


def _read(path: Path, model: type[T]) -> T:
    try:
        with opened(path, missing="its process ended before its summary") as file:
            return model.model_validate_json(file.read())
    except ValidationError as error:
        problem, cut = raw.first_problem(error), raw.is_cut(error)
    if cut:
        raise LoadError(f"{path} is empty or cut short ({problem}); run the case again.")
    raise LoadError(f"{path} holds no series and summary as the simulator writes them: {problem}.")


def summaries(output: Output) -> dict[str, Summary]:
    """Return the summaries of an output by stream: ``server``, or those of a client."""
    if isinstance(output, ServerOutput):
        return {"server": output.summary}
    if not isinstance(output, ClientOutput):
        return {}
    of_client = {"client": output.summary.client, "error": output.summary.error}
    replies = output.summary.round_trip
    return of_client if replies is None else {**of_client, "round_trip": replies}


def summed(points: Sequence[Point]) -> Summary:
    """Compute the summary of points exactly as the simulator does, to the last digit.

    Its duration begins 1 s before the first point that has messages.
    """
    count = sum(point.count for point in points)
    instants = [point.timestamp for point in points if point.count]
    timed = [point for point in points if point.latency is not None]
    total = 0.0
    for point in timed:
        total += (point.latency or 0.0) * point.count
    return Summary(
        count=count,
        duration=max(instants) - (min(instants) - 1) if instants else 0.0,
        latency=total / count if total else None,
        min_latency=min((p.min_latency or 0.0 for p in timed), default=None) if total else None,
        max_latency=max((p.max_latency or 0.0 for p in timed), default=None) if total else None,
    )


def published_compatible(
    clients: Sequence[ClientSummary], servers: Sequence[Summary], test_case: str
) -> tuple[float, float | None]:
    """Compute throughput and mean latency of a run by the formulas of the published reports.

    Throughput is a sum of separately timed rates: round trips for CALL, *sent* messages for all
    else.  The latency is the unweighted mean over processes; None when no process had one.
    """
    timed: Sequence[Summary] = [summary.client for summary in clients]
    delayed = servers
    if TEST_CASES[test_case].replies:
        timed = delayed = [summary.round_trip for summary in clients if summary.round_trip]
    latencies = [summary.latency for summary in delayed if summary.latency is not None]
    rate = sum(summary.count / summary.duration for summary in timed if summary.duration)
    return rate, fmean(latencies) if latencies else None
