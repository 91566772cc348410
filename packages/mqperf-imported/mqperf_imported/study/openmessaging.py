"""Imports results of the OpenMessaging Benchmark: rates of every 10 s, latencies of the whole run.

Its counts do not include the warm-up.  Latencies are in ms, publish delays in µs.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, median
from typing import Annotated, Any

import pandas as pd
from pydantic import BaseModel, Field, FiniteFloat, ValidationError, model_validator

from mqperf.base.errors import TableError
from mqperf.base.raw import first_problem
from mqperf.plan.test_cases import TEST_CASES
from mqperf.record.streams.telling import tells
from mqperf.study.importer import Importer, Measurement
from mqperf.study.tables.given import MIB, text_of
from mqperf_imported.study.contradictions import ROUNDING, differing, falling

TEST_CASE = "publish"
STREAM = TEST_CASES[TEST_CASE].finish.latency

PERIOD_S = 10
"""The nominal time between two entries of its lists; the actual one is a little longer."""

LATE = 0.1
"""Allowed excess length of a period, as a share of it."""

MS, US = 1e-3, 1e-6
LIMIT_BYTES = 64 * MIB
SIGNS = ("workload", "driver", "publishRate", "consumeRate")
"""Keys by which a result is recognized."""

LEVELS = {"50pct": 0.5, "75pct": 0.75, "95pct": 0.95, "99pct": 0.99, "999pct": 0.999}
COLUMNS = {
    "50pct": "latency_p50_s",
    "95pct": "latency_p95_s",
    "99pct": "latency_p99_s",
    "999pct": "latency_p999_s",
}
RISING = (*LEVELS, "9999pct", "Max")
KINDS = {"Publish": MS, "PublishDelay": US, "EndToEnd": MS}
"""Kinds of latencies, and their unit in seconds."""

FIGURES = [f"aggregated{kind}Latency{level}" for kind in KINDS for level in ("Avg", *RISING)]
"""Keys of the latencies of a whole run."""

IN_FLIGHT = 10.0
"""Messages under way by Little's law may be so many times the backlog; more is a contradiction."""

FEW = 10
"""Messages by which two readings of a backlog may differ."""

Amount = Annotated[FiniteFloat, Field(ge=0)]
Count = Annotated[int, Field(ge=0)]


class Result(BaseModel, strict=True):
    """The parameters of a run, its counts of every 10 s, and figures of the whole run."""

    workload: str
    driver: str
    messageSize: int = Field(gt=0)  # noqa: N815 (as in the file)
    topics: int = Field(1, gt=0)
    producersPerTopic: int = Field(1, gt=0)  # noqa: N815
    consumersPerTopic: Count | None = None  # noqa: N815
    publishRate: list[Amount] = Field(min_length=1)  # noqa: N815
    consumeRate: list[Amount] = Field(min_length=1)  # noqa: N815
    backlog: list[Count] = []
    publishLatencyAvg: list[Amount] = []  # noqa: N815
    endToEndLatencyAvg: list[Amount] = []  # noqa: N815
    figures: dict[str, Amount | None]

    @model_validator(mode="before")
    @classmethod
    def _figures_aside(cls, document: Any) -> Any:  # noqa: ANN401 (JSON)
        if not isinstance(document, dict):
            return document
        return {**document, "figures": {key: document[key] for key in FIGURES if key in document}}

    def figure(self, name: str, unit: float) -> float | None:
        """Return a figure of the whole run in seconds; None if it is missing or 0."""
        value = self.figures.get(name)
        return value * unit if value else None

    def latency(self, kind: str) -> dict[str, float]:
        """Return latencies of a kind of ``KINDS`` in seconds, by level in rising order."""
        values = {
            level: self.figure(f"aggregated{kind}Latency{level}", KINDS[kind]) for level in RISING
        }
        return {level: value for level, value in values.items() if value is not None}

    @property
    def copies(self) -> int:
        """How many subscriptions got each message: estimated by the rates, as the file lacks it."""
        published = sum(self.publishRate)
        return max(1, round(sum(self.consumeRate) / published)) if published else 1

    @property
    def length_s(self) -> int:
        """The approximate length of the counted time."""
        return PERIOD_S * len(self.publishRate)


def is_openmessaging(path: Path) -> bool:
    """Whether a file is a result of the OpenMessaging Benchmark."""
    if path.suffix != ".json" or not path.is_file():
        return False
    try:
        document = json.loads(text_of(path, path, LIMIT_BYTES))
    except (ValueError, RecursionError, TableError):
        return False
    return isinstance(document, dict) and all(sign in document for sign in SIGNS)


def read(file: Path, source: str) -> Measurement:
    """Read the run of a file, called ``source``; raises ``TableError`` if it is damaged."""
    try:
        result = Result.model_validate_json(text_of(file, file, LIMIT_BYTES))
    except ValidationError as error:
        reason = first_problem(error)
        raise TableError(f"{file}: is no result of the OpenMessaging Benchmark: {reason}") from None
    if len(result.consumeRate) != len(result.publishRate):
        raise TableError(f"{file}: publishRate and consumeRate are of different periods")
    threads = result.topics * result.producersPerTopic
    consumed, sent, copies = fmean(result.consumeRate), fmean(result.publishRate), result.copies
    several = copies > 1 and abs(consumed - copies * sent) <= ROUNDING * consumed
    message = {
        "throughput_msg_s": consumed,
        "send_rate_msg_s": None if several else sent,
        "handover_p99_s": result.figure("aggregatedPublishDelayLatency99pct", US),
        "handover_max_s": result.figure("aggregatedPublishDelayLatencyMax", US),
        "disagreements": "; ".join(_disagreements(result)) or None,
    }
    notes = ["its throughput is of periods of 10 s, so that single seconds are not known"]
    if several:
        notes.append(f"each message was delivered {copies} times, as to a subscription for each")
    return Measurement(
        source=source,
        test_case=TEST_CASE,
        threads=threads,
        parameters={"payload_bytes": result.messageSize} | ({"copies": copies} if several else {}),
        facts={
            "generator": "openmessaging",
            "generator_version": f"OpenMessaging Benchmark, {result.workload}",
            "system_title": result.driver,
            "green_threads": threads,
            "processes": 1,
            "hosts": 1,
            "window_s": result.length_s,
        },
        frames={"messages": pd.DataFrame([message]), **_latencies(result)},
        notes=notes,
    )


def _latencies(result: Result) -> dict[str, pd.DataFrame]:
    """Return the tables of the end-to-end latency; none if nothing was received."""
    end_to_end, confirms = result.latency("EndToEnd"), result.latency("Publish")
    count = round(fmean(result.consumeRate) * result.length_s)
    if not end_to_end or not count:
        return {}
    levels = {name for name, share in LEVELS.items() if tells(count, share)}
    row = {
        "stream": STREAM,
        "samples": count,
        "latency_mean_s": result.figure("aggregatedEndToEndLatencyAvg", MS),
        **{column: end_to_end[name] for name, column in COLUMNS.items() if name in levels},
        "latency_max_s": end_to_end.get("Max"),
        "confirm_p50_s": confirms.get("50pct"),
        "confirm_p99_s": confirms.get("99pct"),
    }
    rows = [
        {"stream": STREAM, "samples": count, "percentile": share, "latency_s": end_to_end[name]}
        for name, share in LEVELS.items()
        if name in levels and name in end_to_end
    ]
    return {"latency": pd.DataFrame([row]), "percentiles": pd.DataFrame(rows)}


def _disagreements(result: Result) -> Iterator[str]:
    """Yield contradictions of the figures with themselves, each other, or Little's law."""
    for kind in KINDS:
        yield from falling(f"{kind} latency", result.latency(kind))
    yield from _backlog_growth(result)
    yield from _under_way(result)


def _backlog_growth(result: Result) -> Iterator[str]:
    """Yield if the backlog grew by another number than was published and not consumed.

    With several subscriptions each message has several copies.
    """
    if len(result.backlog) != len(result.publishRate):
        return
    copies = result.copies
    first, *_, last = (*result.backlog, *result.backlog)
    counted = zip(result.publishRate[1:], result.consumeRate[1:], strict=True)
    growth = PERIOD_S * sum(copies * sent - received for sent, received in counted)
    tolerance = LATE * abs(growth) + FEW + max(result.publishRate) * copies * LATE
    yield from differing(
        "growth of the backlog, messages",
        ("backlog has", last - first),
        ("the rates leave", round(growth)),
        tolerance,
    )


def _under_way(result: Result) -> Iterator[str]:
    """Yield if rate x latency exceeds the backlog, which counts the messages under way (Little).

    The backlog has messages from their confirm on, so the time to the confirm is subtracted.
    Errors of time stamps are detected by it: those of AMQP 0-9-1 are whole seconds.
    """
    latencies = zip(result.endToEndLatencyAvg, result.publishLatencyAvg, strict=False)
    waits_s = [max(0.0, (to_end - to_confirm) * MS) for to_end, to_confirm in latencies]
    if not waits_s or not len(waits_s) == len(result.consumeRate) == len(result.backlog):
        return
    under_way = median(
        rate * wait_s for rate, wait_s in zip(result.consumeRate, waits_s, strict=True)
    )
    backlog = median(result.backlog)
    if under_way > IN_FLIGHT * max(backlog, FEW):
        yield (
            f"{median(result.consumeRate):.0f} msg/s that take {median(waits_s) * 1e3:.0f} ms after"
            f" their confirm are {under_way:.0f} messages under way (Little's law), the backlog was"
            f" {backlog:.0f}: the end-to-end latency is wrong, or the clocks that it is of"
        )


IMPORTER = Importer(
    name="openmessaging",
    title="OpenMessaging Benchmark",
    link="https://openmessaging.cloud/docs/benchmarks/",
    known_by="its result as JSON",
    holds=is_openmessaging,
    read=read,
)
