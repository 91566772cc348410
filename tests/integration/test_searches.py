"""Searches and fail conditions against a real RabbitMQ, from the plan to the page."""

from pathlib import Path

import pytest

import mqperf
from mqperf.front.judging import judged
from mqperf.lab.runner import Job, Judges, Silent, sweep_all
from mqperf.pages.report.build import build
from mqperf.plan.file import parse_plan
from mqperf.plan.search import AGAIN
from mqperf.record import read_events, runs

pytestmark = pytest.mark.needs_rabbitmq

PLAN = """\
systems: {rabbitmq: {topologies: [cmsm]}}
test_cases: [publish]
load: {generator: amqp-0-9-1, green_threads: 1, payload_bytes: 64, duration_s: 3, warmup_s: 0,
  cooldown_s: 0}
search: {from_msg_s: 40, to_msg_s: 80, within_share: 0.5,
  hold: {latency_p50_s: HELD, throughput_share: 0.5}}
"""


@pytest.mark.usefixtures("shared")
def test_a_search_ends_at_what_holds(tmp_path: Path) -> None:
    """A limit that always holds ends beyond the bounds; one that never holds ends below them.

    On a busy machine a failing rate is measured again, up to twice.
    """
    cast = PLAN.replace("publish", "rpc-cast").replace("amqp-0-9-1", "simulator")
    for plan, limit, ends, rates in (
        (cast, "60.0", "beyond", {56.57, 80}),
        (PLAN, "1.0e-9", "below", {56.57, 40}),
    ):
        text = plan.replace("HELD", limit)
        folder = tmp_path / ends
        job = Job(parse_plan(text, Path("search.yaml")), text, folder)
        [outcome] = sweep_all([job], Silent(), judges=Judges(judged))
        assert outcome.failed == ()
        assert 2 <= outcome.done <= 2 * (1 + AGAIN)
        results = mqperf.read(folder)
        [row] = results["searches"].to_dict("records")
        assert row["search_ends"] == ends, row["text"]
        assert set(results["runs"]["rate_msg_s"]) == rates
        assert "not-of-plan" not in set(results.doubts["kind"])
        assert "missing-run" not in set(results.doubts["kind"])
    report = build(results.complete, tmp_path / "report", title="Searches", html=False)
    pages = [file.read_text() for file in report.parent.rglob("*.rst")]
    [shown] = [page for page in pages if "Highest rate that holds" in page]
    assert "does not hold p50" in shown


LOSING = """\
systems: {rabbitmq: {topologies: [cmsm]}}
test_cases: [publish]
load: {generator: amqp-0-9-1, green_threads: 1, rate_msg_s: 20000, duration_s: 12, warmup_s: 1,
  ttl_ms: 50, acks: each, prefetch: 1}
fail_when: {lost_share: 0.1, latency_p99_s: 5, for_s: 2}
"""


@pytest.mark.usefixtures("shared")
def test_a_run_that_loses_messages_ends_early(tmp_path: Path) -> None:
    """Messages expire, as the consumer takes one at a time; the tables have the same loss."""
    [outcome] = sweep_all([Job(parse_plan(LOSING, Path("lost.yaml")), LOSING, tmp_path)], Silent())
    assert (outcome.done, outcome.failed) == (1, ())
    results = mqperf.read(tmp_path)
    [run], [row] = (results[name].to_dict("records") for name in ("runs", "messages"))
    assert run["window_s"] < run["asked_s"]
    assert str(run["condition_failed"]).startswith("loss ")
    loss = float(str(run["condition_failed"]).split()[1].rstrip("%,")) / 100
    assert row["lost"] / row["sent"] == pytest.approx(loss, abs=0.2)


EARLY = """\
systems: {rabbitmq: {topologies: [cmsm]}}
test_cases: [publish]
load: {generator: amqp-0-9-1, green_threads: 2, payload_bytes: 64, rate_msg_s: [50, 60],
  duration_s: 12, warmup_s: 0}
probes: [inside]
fail_when: {throughput_msg_s: 1000, for_s: 2}
"""


@pytest.mark.usefixtures("shared")
def test_a_failed_condition_ends_its_run_in_order(tmp_path: Path) -> None:
    """The run is complete and exact over its shorter window; the next run follows."""
    job = Job(parse_plan(EARLY, Path("early.yaml")), EARLY, tmp_path)
    [outcome] = sweep_all([job], Silent())
    assert (outcome.done, outcome.failed) == (2, ())
    results = mqperf.read(tmp_path)
    assert results["runs"]["window_s"].between(2, 11).all()
    assert results["runs"]["condition_failed"].str.contains("below 1000 for 2 s").all()
    counts = results["messages"].merge(results["runs"][["run", "rate_msg_s", "window_s"]], on="run")
    assert counts["lost"].eq(0).all()
    assert counts["sent"].eq(counts["rate_msg_s"] * (counts["window_s"] + 1)).all()
    assert counts["received"].eq(counts["sent"]).all()
    assert not {"short-window", "record-disagrees", "incomplete"} & {*results.doubts["kind"]}
    for run in runs(tmp_path):
        names = [event.what for event in read_events(run.path)]
        assert names.index("start") < names.index("condition-failed") < names.index("measured")
