"""Runs recorded as counts per second: the same tables as from instants, and doubts."""

import json
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import counted
import numpy as np
import pandas as pd
import pytest
import samples
from hypothesis import given
from hypothesis import strategies as st
from test_tables import CALL, START, Known

from mqperf.onhost.record import numbers
from mqperf.onhost.record.hdr import indices
from mqperf.plan import PERCENTILES
from mqperf.record import Run
from mqperf.record.counts import read_counts
from mqperf.record.streams.hdr_log import read_log
from mqperf.record.streams.stream import Instants, Stream
from mqperf.study import stats, tables
from mqperf.study.stats import checks
from mqperf.study.tables.histograms import write_hdr
from mqperf.study.tables.within_run import latency_intervals
from mqperf_numbered.onhost.tally import Tally

pytestmark = pytest.mark.takes_long

ROOT = Path(__file__).parent.parent.parent
SAMPLES = ROOT / "data/samples/runs"
NAME = "rabbitmq-cmsm-classic-rpc-call-t0005-p1-r1-367280fe"
CAST = "rabbitmq-cs1ss2-classic-rpc-cast-t0005-p1-r1-33683205"

Frames = Mapping[str, pd.DataFrame]

DIGITS = 1e-3
"""Relative error of a histogram of three digits; the absolute error in seconds follows:"""

UNIT_S = 1e-6

ROUGH = re.compile(r"latency_(p\d+_)?s(_within_(low|high))?")
"""Columns that come from histograms; all others come from exact sums."""

OWN = {"runs": ["record", "content"], "messages": ["reordered"]}
"""Columns in which the two kinds of record differ by definition."""


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Frames, Frames]:
    """All recorded runs as they are, and recorded as counts, with points and doubts."""
    folder = tmp_path_factory.mktemp("runs")
    shutil.copy(SAMPLES / "plan.yaml", folder)
    for run in SAMPLES.iterdir():
        if run.is_dir():
            counted.converted(run, folder / run.name)
    return samples.complete(SAMPLES), stats.complete(tables.read(folder))


def assert_same(exact: Frames, other: Frames) -> None:
    """All figures are equal, those of histograms to their digits."""
    assert exact.keys() == other.keys()
    for name, frame in exact.items():
        skipped = OWN.get(name, [])
        rough = [column for column in frame.columns if ROUGH.match(column)]
        left, right = frame.drop(columns=skipped), other[name].drop(columns=skipped)
        pd.testing.assert_frame_equal(left[rough], right[rough], rtol=DIGITS, atol=UNIT_S)
        pd.testing.assert_frame_equal(
            left.drop(columns=rough), right.drop(columns=rough), rtol=1e-9, atol=1e-12
        )


def test_recorded_runs_have_the_same_tables_as_counts(both: tuple[Frames, Frames]) -> None:
    """Every table, point and doubt of every recorded run; percentiles to three digits."""
    assert len(both[0]["runs"]) == 24
    assert_same(*both)


def test_memory_does_not_grow_with_messages() -> None:
    """Finished seconds take some kilobytes of a file, and nothing counted is lost."""
    generator = np.random.default_rng(1)
    tally = Tally("server-1", "server", "publish", START, ["received"])
    latencies = []
    for second in range(100):
        started = START + second + np.sort(generator.random(2000))
        latencies.append(generator.gamma(2.0, 0.01, 2000))
        finished = started + latencies[-1]
        tally.add("received", "client-1", np.arange(2000) + 2000 * second, started, finished)
    buckets = tally.streams["received"].buckets
    assert len(buckets.whole) <= 8
    assert sum(length for _, length in buckets.packed.values()) < 100 * 8192
    for second, of_second in enumerate(latencies):
        assert buckets.of(second).sum() == 2000
        assert np.flatnonzero(buckets.of(second)).max() == indices(of_second)[0].max()


def test_tables_say_which_record_a_run_has(both: tuple[Frames, Frames]) -> None:
    """The column ``record`` has the kind; reordered messages are known of counts alone."""
    exact, other = both
    assert set(exact["runs"]["record"]) == {"instants"}
    assert set(other["runs"]["record"]) == {"counts"}
    assert exact["messages"]["reordered"].isna().all()
    assert other["messages"]["reordered"].notna().all()


def test_lost_duplicate_and_failed_messages_are_the_same(tmp_path: Path) -> None:
    """A message may be received twice or fail, or two processes may have equal start times."""
    Known(clients=CALL.clients * 2, servers=CALL.servers * 2).write(tmp_path / "a")
    run = CALL.write(tmp_path / "b").path
    shutil.copytree(tmp_path / "a", tmp_path / "c")
    shutil.copytree(tmp_path / "b", tmp_path / "d")
    for folder in ("c", "d"):
        for path in (tmp_path / folder).iterdir():
            counted.convert(path)
    for exact, other in (("a", "c"), ("b", "d")):
        assert_same(*(tables.read(tmp_path / name) for name in (exact, other)))
    row = tables.read(tmp_path / "d")["messages"].iloc[0]
    assert list(row[["sent", "errors", "lost", "duplicates", "foreign"]]) == [9, 1, 1, 1, 0]
    assert (run / "load/client-1.messages").exists()


def test_histograms_are_the_same_to_the_message(tmp_path: Path) -> None:
    """A log of HdrHistograms has the same buckets for both kinds of record."""
    run = counted.converted(SAMPLES / NAME, tmp_path / NAME)
    logs = []
    for number, path in enumerate((SAMPLES / NAME, run)):
        write_hdr(Run(path, NAME, "done"), tmp_path / f"{number}.hlog")
        logs.append(
            [entry.histogram.counts.tolist() for entry in read_log(tmp_path / f"{number}.hlog")]
        )
    assert logs[0] == logs[1]
    assert sum(map(sum, logs[0])) > 0


# one stream

MESSAGES = st.lists(
    st.tuples(
        st.floats(0, 8, allow_nan=False),
        st.one_of(st.floats(-0.01, 3), st.floats(0, 1e-5), st.just(0.0)),
    ),
    max_size=60,
).map(lambda pairs: np.array([(START + s, START + s + t) for s, t in pairs]).reshape(-1, 2))
WINDOW = (START + 1, START + 6)


def counted_stream(folder: Path, instants: np.ndarray, parts: int = 1) -> Stream:
    """The same messages, counted in some parts, written to a file and read back."""
    tally = Tally("server-1", "server", "rpc-cast", START, ["received"])
    sequence = np.arange(len(instants))
    for part in np.array_split(sequence, parts):
        tally.add("received", "client-1", part, instants[part, 0], instants[part, 1])
    tally.save(folder / "server-1.counts")
    return read_counts(folder / "server-1.counts").streams["received"]


@given(MESSAGES, st.integers(1, 4))
def test_counts_agree_with_instants(tmp_path: Path, instants: np.ndarray, parts: int) -> None:
    """Counts, sums and largest values exactly; quantiles to three digits."""
    exact, other = Instants(instants), counted_stream(tmp_path, instants, parts)
    assert (exact.count, exact.last(), exact.timed) == (other.count, other.last(), other.timed)
    assert exact.per_second(WINDOW).tolist() == other.per_second(WINDOW).tolist()
    left, right = exact.summary(), other.summary()
    if left is None or right is None:
        assert left is right
    else:
        assert (left.min_s, left.max_s) == (right.min_s, right.max_s)
        assert left.mean_s == pytest.approx(right.mean_s, abs=1e-9)
    seconds, by_counts = exact.by_finish(WINDOW), other.by_finish(WINDOW)
    assert np.array_equal(seconds.latency_max_s, by_counts.latency_max_s, equal_nan=True)
    assert np.allclose(seconds.latency_mean_s, by_counts.latency_mean_s, atol=1e-9, equal_nan=True)
    latencies, more = exact.started_in(WINDOW), other.started_in(WINDOW)
    assert latencies.count == more.count
    assert [h.counts.tolist() for h in latencies.histograms()] == [
        h.counts.tolist() for h in more.histograms()
    ]
    if latencies.count:
        levels = [0, 0.1, 0.5, 0.9, 0.999, 1]
        later = np.column_stack([instants[:, 0], instants.max(axis=1)])  # negative ones count as 0
        above_zero = Instants(later).started_in(WINDOW).quantiles_s(levels)
        assert np.allclose(np.maximum(more.quantiles_s(levels), 0), above_zero, DIGITS, UNIT_S)
        assert (more.quantiles_s(levels) <= more.max_s).all()
        assert more.max_s == latencies.max_s
        assert more.mean_s == pytest.approx(latencies.mean_s, abs=1e-9)


def test_intervals_within_a_run_are_the_same(tmp_path: Path) -> None:
    """The window is long enough for intervals; they agree within a hundredth."""
    random = np.random.default_rng(3)
    starts = np.sort(START + random.uniform(0, 60, 30_000))
    calls = np.column_stack([starts, starts + random.gamma(4, 0.002, len(starts))])
    window = START, START + 60
    intervals = []
    for stream in (Instants(calls), counted_stream(tmp_path, calls)):
        latencies = stream.started_in(window)
        estimates = latencies.quantiles_s(list(PERCENTILES.values()))
        intervals.append(
            latency_intervals(latencies, window, dict(zip(PERCENTILES, estimates, strict=True)))
        )
    assert intervals[0].keys() == intervals[1].keys()
    assert len(intervals[0]) >= 6
    assert intervals[1] == pytest.approx(intervals[0], rel=0.01)


def test_a_quantile_beyond_all_buckets_is_not_known(tmp_path: Path) -> None:
    """Latencies above an hour are counted, and only the largest of them is known."""
    calls = np.array([[START + 2, START + 2 + t] for t in (0.1, 0.2, 4000.0)])
    latencies = counted_stream(tmp_path, calls).started_in(WINDOW)
    median, high = latencies.quantiles_s([0.5, 0.99])
    assert median == pytest.approx(0.2, rel=DIGITS)
    assert np.isnan(high)
    assert latencies.count == 3
    assert latencies.max_s == pytest.approx(4000.0)


def test_the_example_of_the_reference_is_a_whole_file(tmp_path: Path) -> None:
    """The example in the page of the format can be read once its broken lines are joined."""
    page = (ROOT / "docs/reference/run-folder.md").read_text()
    text = page.partition("## The .counts format")[2].partition("```json")[2].partition("```")[0]
    whole = re.sub(r"\n(?!\{)", " ", text.strip())
    (tmp_path / "server-1.counts").write_text(f"{whole}\n")
    read = read_counts(tmp_path / "server-1.counts")
    assert read.streams["received"].count == 3
    assert read.numbers["received"]["client-1"].count == 3


# sequence numbers

SEQUENCE = st.lists(st.integers(0, 30), max_size=80)


def numbered(folder: Path, sequence: list[int], parts: int) -> numbers.Numbers:
    """These numbers in this order, written to a file and read back."""
    tally = Tally("server-1", "server", "rpc-cast", START, ["received"])
    for part in np.array_split(np.array(sequence, dtype=np.int64), parts):
        instants = np.full(len(part), START + 1)
        tally.add("received", "client-1", part, instants, instants)
    tally.save(folder / "server-1.counts")
    by_sender = read_counts(folder / "server-1.counts").numbers["received"]
    return by_sender.get("client-1", numbers.NONE)


@given(SEQUENCE, st.sets(st.integers(0, 30)), st.integers(1, 5))
def test_every_number_is_accounted_for(
    tmp_path: Path, sequence: list[int], sent: set[int], parts: int
) -> None:
    """Counts, repeats, reordering and the overlap with sent numbers agree with sets of Python."""
    seen = numbered(tmp_path, sequence, parts)
    sent_ranges = numbers.of(np.array(sorted(sent), dtype=np.int64))
    assert seen.count == len(sequence)
    assert numbers.size(seen.ranges) == len(set(sequence))
    assert seen.among(sent_ranges) == sum(number in sent for number in sequence)
    assert numbers.common(seen.ranges, sent_ranges) == len(sent & set(sequence))
    first_seen = list(dict.fromkeys(sequence))
    assert seen.reordered == sum(
        any(other > number for other in first_seen[:place])
        for place, number in enumerate(first_seen)
    )


def test_ranges_are_compact(tmp_path: Path) -> None:
    """Ten thousand messages without two of them are three ranges, in a file of some 100 bytes."""
    sequence = [number for number in range(10_000) if number not in {17, 4711}]
    seen = numbered(tmp_path, sequence, 3)
    assert seen.ranges.tolist() == [[0, 16], [18, 4710], [4712, 9999]]
    assert (tmp_path / "server-1.counts").stat().st_size < 1000


# doubts

Change = Callable[[list[dict[str, Any]]], object]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def changed(path: Path, change: Change) -> None:
    """Change the lines of a file."""
    content = lines(path)
    change(content)
    path.write_text("".join(json.dumps(line) + "\n" for line in content))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A recorded CALL run, as counts."""
    return counted.converted(SAMPLES / NAME, tmp_path / NAME)


@pytest.fixture
def cast(tmp_path: Path) -> Path:
    """A recorded CAST run, as counts."""
    return counted.converted(SAMPLES / CAST, tmp_path / CAST)


def doubts(run: Path) -> Mapping[str, str]:
    """Kind -> text of the doubts about a run."""
    rows = checks.doubts(tables.read(run.parent))
    return dict(zip(rows["kind"], rows["text"], strict=True))


def numbers_of(content: list[dict[str, Any]], stream: str) -> dict[str, Any]:
    return next(line for line in content if line.get("stream") == stream and "sender" in line)


def renumbered(ranges: list[list[int]], again: list[list[int]]) -> Change:
    """Give the server as many other numbers."""

    def change(content: list[dict[str, Any]]) -> None:
        numbers_of(content, "received").update(ranges=ranges, again=again)

    return change


def received(run: Path) -> int:
    return read_counts(run / "load/server-1.counts").streams["received"].count


def test_sound_runs_of_counts_have_no_doubt_about_messages(run: Path) -> None:
    """No message is lost, received twice, foreign, or too early."""
    assert doubts(run) == {}


def test_messages_lost_and_duplicated_do_not_cancel_out(cast: Path) -> None:
    """The number 5 never arrived, and 7 twice: as many were received as were sent."""
    last = received(cast) - 1
    ranges = [[0, 4], [6, last]]
    changed(cast / "load/server-1.counts", renumbered(ranges, [[7, 7, 1]]))
    counted.seal(cast)
    texts = doubts(cast)
    assert f"1 of {last + 1} messages were lost" in texts["lost"]
    assert f"copies of messages: 1 in addition to the {last + 1} sent" in texts["duplicates"]


def test_numbers_that_nobody_sent_are_foreign(cast: Path) -> None:
    """The last three numbers are beyond what the client sent."""
    last = received(cast) - 1
    changed(cast / "load/server-1.counts", renumbered([[0, last - 3], [last + 1, last + 3]], []))
    counted.seal(cast)
    assert (
        "3 messages were received or answered that no client" in doubts(cast)["received-not-sent"]
    )


def test_latencies_below_zero_are_doubted(tmp_path: Path) -> None:
    """A server whose clock is behind: its messages were received before they were sent."""
    sent = [(t,) for t in (1.0, 1.5, 2.0, 2.5)]
    early = [(1.0, 0.5), (1.5, 1.0), (2.0, 2.1), (2.5, 2.6)]
    known = Known("rpc-cast", [{"sent": sent}], [early])
    counted.convert(known.write(tmp_path).path)
    assert (
        "2 messages were finished before they were started"
        in doubts(next(tmp_path.iterdir()))["causality"]
    )


def test_the_count_at_the_drain_must_agree(run: Path) -> None:
    """The totals that the runner got are compared with the counts, too."""
    events = run / "events.jsonl"
    changed(
        events,
        lambda content: next(e for e in content if e["what"] == "drained").update(sent=1),
    )
    counted.seal(run)
    assert "drained: 1 sent when the load had ended" in doubts(run)["record-disagrees"]


def test_a_copy_of_counts_is_a_copied_run(run: Path) -> None:
    """Two runs never have identical bytes, even without instants."""
    copy = run.with_name(f"{NAME.rpartition('-')[0]}-00000001")
    shutil.copytree(run, copy)
    assert "copied-run" in doubts(run)
