"""Sustained throughput: the highest that keeps up, with faults planted in the measurements."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from factory import Shape, tables

from mqperf.pages.questions import answers
from mqperf.pages.report import words as report_words
from mqperf.pages.report.build import build
from mqperf.pages.report.overview import overview
from mqperf.pages.report.tops import UNTOLD, tops
from mqperf.pages.sections.forms import plain
from mqperf.plan.columns import COMPUTED
from mqperf.study import tables as rooms
from mqperf.study.stats import compared, complete
from mqperf.study.stats.rules.window import KEEPS_UP
from mqperf.study.stats.sustained import FALLS_BEHIND, LIMITED, sustained
from mqperf.study.tables import Tables, conform

pytestmark = pytest.mark.takes_long

ONE = Shape(layouts=(("cmsm", "classic"),), test_cases=("rpc-cast",), threads=(10, 20))


def with_rates(sent_by_received: float, *threads: int, shape: Shape = ONE) -> Tables:
    """The sweep in which clients send this multiple of what servers receive, at these threads."""
    read = dict(of_runs(shape))
    messages = read["messages"]
    at = messages["threads"].isin(threads)
    sent = messages["throughput_msg_s"] * sent_by_received
    read["messages"] = messages.assign(send_rate_msg_s=messages["send_rate_msg_s"].mask(at, sent))
    return complete(read)


def of_runs(shape: Shape = ONE) -> Tables:
    """Tables as read, without the failed attempt."""
    read = {name: frame for name, frame in tables(shape).items() if name not in COMPUTED}
    return read | {"runs": read["runs"].query("status == 'done'")}


def only(frames: Tables) -> dict[str, Any]:
    """The single row of the table ``sustained``."""
    [row] = frames["sustained"].to_dict("records")
    return {str(key): value for key, value in row.items()}


def rate(frames: Tables, threads: int) -> float:
    points = frames["points"]
    return float(points.loc[points["threads"] == threads, "throughput_msg_s"].iloc[0])


def headline(frames: Tables) -> str:
    """The first sentence of the answers."""
    [answered] = answers(frames, ["scaling"])
    return plain(answered.sentences[0])


def test_where_all_keep_up_the_highest_is_sustained() -> None:
    """It equals the raw maximum, which is not mentioned separately."""
    frames = complete(of_runs())
    row = only(frames)
    assert row["sustained_throughput_msg_s"] == row["highest_throughput_msg_s"] == rate(frames, 20)
    assert (row["keeps_up"], row["sustained_at"]) == ("yes", "20 threads")
    assert headline(frames).startswith("CAST: from ")
    assert "a higher throughput of " not in headline(frames)


@pytest.mark.parametrize(("times", "sustained_at"), [(1.015, 20), (1.05, 10), (0.95, 10)])
def test_deliveries_keep_up_with_sends_within_a_fiftieth(times: float, sustained_at: int) -> None:
    """Neither a growing queue nor a draining backlog is sustained; both are reported."""
    frames = with_rates(times, 20)
    row = only(frames)
    assert row["sustained_throughput_msg_s"] == rate(frames, sustained_at)
    assert row["highest_throughput_msg_s"] == rate(frames, 20)
    assert ("a higher throughput of " in headline(frames)) == (sustained_at == 10)
    assert ("is in doubt: unequal-rates" in headline(frames)) == (sustained_at == 10)


def test_a_backlog_is_not_sustained() -> None:
    """Messages that wait are a backlog, however fast the delivery."""
    read = dict(of_runs())
    latency = read["latency"]
    slow = latency["latency_mean_s"].mask(latency["threads"] == 20, 5.0)
    frames = complete({**read, "latency": latency.assign(latency_mean_s=slow)})
    assert only(frames)["sustained_at"] == "10 threads"


def test_what_the_tester_limits_is_not_sustained() -> None:
    """If the tester limits every point, it is the reason: the system may well keep up."""
    read = dict(of_runs())
    cpu = read["cpu"]
    for threads, expected in (((20,), "yes"), ((10, 20), "tester or host")):
        full = cpu["threads"].isin(threads) & cpu["process"].eq("client-1")
        busy = cpu["total_cores"].mask(full, 0.99)
        frames = complete({**read, "cpu": cpu.assign(total_cores=busy)})
        assert only(frames)["keeps_up"] == expected
    assert pd.isna(only(frames)["sustained_throughput_msg_s"])
    assert "no point keeps up without tester or host being the limit" in headline(frames)


@pytest.mark.starts_programs
def test_where_no_point_keeps_up_exactly_that_is_said(tmp_path: Path) -> None:
    """It is on the first page, and on the pages of system and topology."""
    frames = with_rates(1.2, 10, 20)
    row = only(frames)
    assert row["keeps_up"] == "no"
    assert pd.isna(row["sustained_throughput_msg_s"])
    beginning = "no sound result, because no point keeps up; the highest measured is "
    assert headline(frames).startswith(f"CAST: {beginning}")
    best = tops(frames, report_words.layouts(frames["runs"]))
    [note, *_] = overview(best, report_words.layouts(frames["runs"])).notes
    assert note.text == "raw maximum, not sustained: no point keeps up"
    build(frames, tmp_path / "out", title="Behind", html=False)
    page = " ".join((tmp_path / "out/rabbitmq/cmsm/index.rst").read_text().split())
    assert f"* **CAST**: {beginning}" in page


def test_a_rate_of_sending_that_nobody_knows_is_no_proof() -> None:
    """Without it, one-way throughput is an upper bound; CALL, which awaits replies, keeps up."""
    shape = Shape(layouts=(("cmsm", "classic"),), threads=(10, 20))
    read = dict(of_runs(shape))
    frames = complete({**read, "messages": read["messages"].assign(send_rate_msg_s=None)})
    verdicts = frames["sustained"].set_index("test_case")["keeps_up"].to_dict()
    assert verdicts == {"rpc-call": "yes", "rpc-cast": "cannot tell", "notify": "cannot tell"}
    best = tops(frames, report_words.layouts(frames["runs"]))
    notes = [note.text for note in overview(best, report_words.layouts(frames["runs"])).notes]
    assert f"at most: {UNTOLD}" in notes
    [sentences] = [map(plain, answer.sentences) for answer in answers(frames, ["scaling"])]
    assert ["at most" in sentence for sentence in sentences] == [False, True, True, False]


@pytest.mark.parametrize("test_case", ["rpc-call", "rpc-cast"])
def test_the_mean_of_steps_is_sustained_nowhere(test_case: str) -> None:
    """The steps show what a staircase keeps up with; the maximum is that of a step."""
    frames = with_rates(1.0, shape=replace(ONE, test_cases=(test_case,), threads=(10,)))
    assert only(frames)["keeps_up"] == "yes"
    steps = pd.DataFrame({"step_rate_msg_s": [100.0, 1e6], "throughput_msg_s": [100.0, 1e6]})
    rows = conform("rate_steps", frames["runs"][["run", "point"]].merge(steps, how="cross"))
    [row] = sustained({**frames, "rate_steps": rows}).to_dict("records")
    assert (row["keeps_up"], row["highest_throughput_msg_s"]) == ("cannot tell", 1e6)
    assert pd.isna(row["sustained_throughput_msg_s"])


def test_doubtful_throughput_is_no_headline() -> None:
    """If points keep up but all are doubtful, another sentence says so."""
    read = dict(of_runs())
    messages = read["messages"].assign(lost=5)
    frames = complete({**read, "messages": messages})
    assert only(frames)["keeps_up"] == "yes"
    assert pd.isna(only(frames)["sustained_throughput_msg_s"])
    assert "no point is beyond doubt; the highest measured is" in headline(frames)


@pytest.mark.parametrize("name", ["runs", "stress", "hosts", "wan"])
def test_of_recorded_runs_only_what_keeps_up_is_sustained(root: Path, name: str) -> None:
    """The result is checked against the messages themselves and against the doubts."""
    frames = complete(rooms.read(root / "data/samples" / name))
    rows = frames["sustained"]
    points = rows.dropna(subset=["point"])
    doubts = frames["doubts"]
    doubted = doubts.loc[doubts["kind"].isin([*FALLS_BEHIND, *LIMITED]), "point"]
    assert not points["point"].isin(doubted).any()
    messages = frames["messages"].merge(points[["point"]], on="point")
    deliveries = messages["deliveries"].fillna(messages["sent"]) / messages["sent"]
    sent = messages["send_rate_msg_s"] * deliveries
    in_flight = 4 * messages["threads"] / 3
    assert (messages["throughput_msg_s"] - sent).abs().le(KEEPS_UP * sent + in_flight).all()
    assert rows["highest_throughput_msg_s"].ge(rows["sustained_throughput_msg_s"].fillna(0)).all()
    behind = rows[rows["point"].isna()]
    assert len(behind) == (2 if name == "runs" else 0)
    assert behind["keeps_up"].eq("no").all()


def test_a_comparison_begins_with_what_either_sustains() -> None:
    """It has each side's highest sustained throughput, at any threads, and the raw maximum."""
    a, b = complete(of_runs()), with_rates(1.2, 20)
    frames = compared(a, b)
    [row] = frames["sustained_compared"].to_dict("records")
    assert (row["value_a"], row["value_b"]) == (rate(a, 20), rate(b, 10))
    assert row["ratio"] == pytest.approx(rate(b, 10) / rate(a, 20))
    assert row["highest_b"] == rate(b, 20)
