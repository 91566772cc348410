"""Histograms equal those of the reference implementation, and other readers can read them."""

import base64
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st
from quantiles import quantile_s

from mqperf.base.errors import TableError
from mqperf.onhost.record.hdr import (
    DIGITS,
    HIGHEST_NS,
    LOWEST_NS,
    fold,
    highest_ns,
)
from mqperf.onhost.record.hdr_code import encode
from mqperf.record.streams.hdr_log import Interval, read_log, write_log
from mqperf.record.streams.stream import Instants
from mqperf.study.tables.histograms import by_second

LATENCIES = st.lists(st.floats(0, 3600), max_size=50).map(np.array)


def sample(seed: int, size: int = 5000) -> np.ndarray:
    return np.exp(np.random.default_rng(seed).normal(-6, 1.5, size))


def independently_decoded(encoded: str) -> dict[int, int]:
    """Index -> count, decoded from the format's description without the library: ZigZag LEB128."""
    raw = base64.b64decode(encoded)
    cookie, length = struct.unpack(">ii", raw[:8])
    assert cookie == 0x1C849304 | 0x10
    assert length == len(raw) - 8
    payload = zlib.decompress(raw[8:])
    cookie, length, offset, digits, lowest, highest, ratio = struct.unpack(">iiiiqqd", payload[:40])
    assert (cookie, offset, digits) == (0x1C849303 | 0x10, 0, DIGITS)
    assert (lowest, highest, ratio) == (LOWEST_NS, HIGHEST_NS, 1.0)
    assert length == len(payload) - 40
    counts, index, at = {}, 0, 40
    while at < len(payload):
        value = shift = 0
        while True:
            byte = payload[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                break
        number = (value >> 1) ^ -(value & 1)
        if number < 0:
            index -= number
        else:
            if number:
                counts[index] = number
            index += 1
    return counts


@given(LATENCIES)
def test_folding_is_recording(latencies: np.ndarray) -> None:
    """Every value is counted in the same bucket as in the reference implementation."""
    reference = HdrHistogram(LOWEST_NS, HIGHEST_NS, DIGITS)
    for latency in latencies:
        assert reference.record_value(round(latency * 1e9))
    ours = fold(latencies)
    assert np.array_equal(ours.counts, np.frombuffer(reference.counts, dtype=np.int64))
    seen = np.flatnonzero(ours.counts)
    values = [reference.get_value_from_index(int(index)) for index in seen]
    assert [reference.get_highest_equivalent_value(v) for v in values] == list(highest_ns(seen))


def test_quantiles_have_three_digits() -> None:
    """A quantile is within a thousandth of the exact one."""
    latencies = sample(1)
    for level in (0.5, 0.9, 0.99, 0.999, 1.0):
        exact = np.quantile(latencies, level, method="inverted_cdf")
        assert quantile_s(fold(latencies), level) == pytest.approx(exact, rel=1e-3)


def test_values_out_of_range_are_counted() -> None:
    """Values beyond all buckets are counted apart; negative ones, by clock offset, are zero."""
    histogram = fold(np.array([-0.1, 0.5, 3600.0, 4000.0]))
    assert (histogram.total, histogram.beyond) == (3, 1)
    assert histogram.counts[0] == 1


def test_the_encoding_is_the_described_one() -> None:
    """A decoder that shares no code with the encoder finds the same counts."""
    for histogram in (fold(sample(7)), fold(np.array([])), fold(np.array([0.0, 3600.0]))):
        seen = np.flatnonzero(histogram.counts)
        expected = {int(index): int(histogram.counts[index]) for index in seen}
        assert independently_decoded(encode(histogram)) == expected


def test_a_log_survives(tmp_path: Path) -> None:
    """Times, counts and an empty second are read back; the header has the start and the content."""
    parts = [fold(sample(1)), fold(np.array([])), fold(sample(2))]
    intervals = [Interval(float(second), 1.0, part) for second, part in enumerate(parts)]
    file = tmp_path / "run.hlog"
    write_log(file, 1_800_000_000.0, intervals, "[Latencies]")
    read = list(read_log(file))
    assert [interval.start_s for interval in read] == [0, 1, 2]
    for interval, part in zip(read, parts, strict=True):
        assert np.array_equal(interval.histogram.counts, part.counts)
    head = file.read_text().splitlines()
    assert head[1] == "#[Histogram log format version 1.3]"
    assert head[2].startswith("#[StartTime: 1800000000.000 (seconds since epoch), 2027-01-15T")


@pytest.mark.parametrize("line", ["nonsense", "0.0,1.0,2.0,bm9uc2Vuc2U=", "a,b,c,d"])
def test_a_damaged_log_is_refused(tmp_path: Path, line: str) -> None:
    """The error has the file and the number of the invalid line."""
    file = tmp_path / "run.hlog"
    file.write_text(f"#[Histogram log format version 1.3]\n{line}\n")
    with pytest.raises(TableError, match=r"run\.hlog:2: no line of a histogram log"):
        list(read_log(file))


def test_seconds_add_up_to_the_window() -> None:
    """Each message counts in the second of its start; none from outside the window counts."""
    finished = np.array([[9.5, 9.9], [9.8, 10.0], [10.0, 12.6], [10.1, 10.4], [12.9, 13.5]])
    intervals = by_second(Instants(finished), (10.0, 13.0))
    assert [interval.histogram.total for interval in intervals] == [2, 0, 1]
    assert quantile_s(intervals[0].histogram, 1) == pytest.approx(2.6, rel=1e-3)
    assert quantile_s(intervals[2].histogram, 1) == pytest.approx(0.6, rel=1e-3)
