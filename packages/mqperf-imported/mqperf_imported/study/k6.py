"""Imports runs of k6: the samples that ``k6 run --out json=FILE`` writes, each in a line.

k6 counts iterations of a script, whatever the script does; so an iteration is a request, and its
end the reply.  The first second, in which virtual users start, is the warm-up; the last second,
which is not whole, is left out.
"""

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from math import floor, isfinite
from pathlib import Path

import numpy as np
import pandas as pd

from mqperf.base.errors import TableError
from mqperf.plan import PERCENTILES
from mqperf.plan.test_cases import TEST_CASES
from mqperf.record.streams.telling import tells
from mqperf.study.importer import Importer, Measurement, throughput
from mqperf_imported.study.contradictions import LATEST_S, LONGEST_S, ROUNDING, differing
from mqperf_imported.study.measured import intervals
from mqperf_imported.study.unpacked import unpacked

TEST_CASE = "request"
STREAM = TEST_CASES[TEST_CASE].finish.latency
CLIENT = "client-1"
"""The label of the only process."""

SUFFIXES = (".json", ".gz")
SIGNS = ('"type":"Metric"', '"type":"Point"')
HEAD_BYTES = 4096
LIMIT_BYTES = 1 << 30

MS = 1e-3
LEAST_S = 3
"""Whole seconds that a run takes at least, with the first one."""

COUNTED, DURATION, USERS = "iterations", "iteration_duration", "vus_max"
DROPPED, CHECKS = "dropped_iterations", "checks"
READ = {COUNTED, DURATION, USERS, DROPPED, CHECKS}
"""The metrics that are read."""

WHAT = (
    "k6 counts iterations of its script, whatever that does: each counts as a request, and its end"
    " as the reply"
)


@dataclass(frozen=True, slots=True)
class Samples:
    """The samples of a run: ``of`` each metric its values, and the ``ends`` of iterations."""

    of: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in READ})
    ends: list[float] = field(default_factory=list)
    scenarios: set[str] = field(default_factory=set)

    @property
    def users(self) -> int:
        """The virtual users, busy or not; ``vus`` has those that are busy at an instant."""
        return max(1, round(max(self.of[USERS], default=1)))


@dataclass(frozen=True, slots=True)
class Iterations:
    """All iterations: start, end and duration in seconds, since the first one began."""

    starts: np.ndarray
    ends: np.ndarray
    length_s: int

    @property
    def durations(self) -> np.ndarray:
        """How long each took."""
        durations: np.ndarray = self.ends - self.starts
        return durations

    @property
    def measured(self) -> np.ndarray:
        """The durations of those that began in the window."""
        return self.durations[(self.starts >= 1) & (self.starts < self.length_s)]

    def in_seconds(self, instants: np.ndarray) -> np.ndarray:
        """The number of instants in each second, with the first."""
        counts, _ = np.histogram(instants, np.arange(self.length_s + 1))
        return counts


def is_k6(path: Path) -> bool:
    """Whether a file has samples of k6."""
    if path.suffix not in SUFFIXES or not path.is_file():
        return False
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            head = file.read(HEAD_BYTES).decode(errors="replace")
    except (OSError, EOFError, zlib.error):
        return False
    return '"metric":' in head and any(sign in head for sign in SIGNS)


def read(file: Path, source: str) -> Measurement:
    """Read the run of a file, called ``source``; raises ``TableError`` if it is damaged."""
    samples = _samples(file)
    iterations = _iterations(file, samples)
    begun, ended = (iterations.in_seconds(of) for of in (iterations.starts, iterations.ends))
    message = {
        "sent": len(iterations.ends),
        "round_trip": len(iterations.ends),
        **throughput(ended[1:], begun[1:]),
        "disagreements": "; ".join(_disagreements(samples, iterations)) or None,
    }
    seconds = [intervals(CLIENT, name, of) for name, of in (("sent", begun), (STREAM, ended))]
    return Measurement(
        source=source,
        test_case=TEST_CASE,
        threads=samples.users,
        parameters={},
        facts={
            "generator": "k6",
            "green_threads": samples.users,
            "processes": 1,
            "hosts": 1,
            "window_s": iterations.length_s - 1,
        },
        frames={
            "messages": pd.DataFrame([message]),
            "intervals": pd.concat(seconds, ignore_index=True),
            **_latencies(iterations.measured),
        },
        notes=[*_notes(samples)],
    )


def _samples(file: Path) -> Samples:
    """Return the samples of the metrics that are read."""
    samples = Samples()
    for number, line in enumerate(unpacked(file, LIMIT_BYTES).splitlines(), 1):
        try:
            sample = json.loads(line)
            name, data = sample["metric"], sample["data"]
            if sample["type"] != "Point" or name not in READ:
                continue
            value = float(data["value"])
            at = datetime.fromisoformat(data["time"]).timestamp()
        except (ValueError, KeyError, TypeError, RecursionError):
            raise TableError(f"{file}:{number}: is no sample of k6, or is cut short") from None
        if not (isfinite(value) and value >= 0 and 0 < at < LATEST_S):
            raise TableError(f"{file}:{number}: has an invalid value or time")
        samples.of[name].append(value)
        if name == DURATION:
            samples.ends.append(at)
            samples.scenarios.add((data.get("tags") or {}).get("scenario", ""))
    return samples


def _iterations(file: Path, samples: Samples) -> Iterations:
    if len(samples.scenarios) > 1:
        names = ", ".join(sorted(samples.scenarios))
        raise TableError(f"{file}: has several scenarios ({names}): run each of them by itself")
    ends = np.array(samples.ends)
    starts = ends - MS * np.array(samples.of[DURATION])
    first = float(starts.min()) if len(starts) else 0.0
    length_s = floor(float(ends.max()) - first) if len(ends) else 0
    if length_s > LONGEST_S:
        raise TableError(f"{file}: its times are not those of a run of a week or less")
    if length_s < LEAST_S:
        raise TableError(f"{file}: has iterations in {length_s} s: a run takes {LEAST_S} or more")
    return Iterations(starts - first, ends - first, length_s)


def _latencies(durations: np.ndarray) -> dict[str, pd.DataFrame]:
    """Return the tables of the durations; none if no iteration began in the window."""
    if not len(durations):
        return {}
    common = {"stream": STREAM, "samples": len(durations)}
    levels = {name: share for name, share in PERCENTILES.items() if tells(len(durations), share)}
    values = {name: float(np.quantile(durations, share)) for name, share in levels.items()}
    row = {
        **common,
        "latency_mean_s": float(durations.mean()),
        **values,
        "latency_max_s": float(durations.max()),
    }
    rows = [
        {**common, "percentile": share, "latency_s": values[name]} for name, share in levels.items()
    ]
    return {"latency": pd.DataFrame([row]), "percentiles": pd.DataFrame(rows)}


def _disagreements(samples: Samples, iterations: Iterations) -> Iterator[str]:
    """Yield contradictions of the samples.

    A virtual user has one iteration at a time, so by Little's law rate x duration is at most the
    number of users.
    """
    counted = ("the counter has", sum(samples.of[COUNTED]))
    yield from differing("iterations", counted, ("durations are of", len(iterations.ends)), 0)
    window_s = iterations.length_s - 1
    rate = float(iterations.in_seconds(iterations.ends)[1:].mean())
    inside = np.minimum(iterations.ends, iterations.length_s) - np.maximum(iterations.starts, 1)
    busy = float(np.maximum(inside, 0).sum()) / window_s
    if busy > samples.users * (1 + ROUNDING):
        yield (
            f"{rate:.0f} iterations/s of {iterations.durations.mean() * 1e3:g} ms keep {busy:.1f}"
            f" virtual users busy, and there were {samples.users}"
        )


def _notes(samples: Samples) -> Iterator[str]:
    yield WHAT
    if dropped := round(sum(samples.of[DROPPED])):
        yield (
            f"{dropped} iterations were dropped: no virtual user was free when they were due, so"
            " less was offered than the script says"
        )
    checks = samples.of[CHECKS]
    if failed := len(checks) - round(sum(checks)):
        yield f"{failed} of {len(checks)} checks of the script failed"


IMPORTER = Importer(
    name="k6",
    title="k6",
    link="https://grafana.com/docs/k6/latest/",
    known_by="its samples as JSON, of --out json=FILE",
    holds=is_k6,
    read=read,
)
