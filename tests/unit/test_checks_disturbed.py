"""Doubts about events in a run: alarms, frozen nodes, links, and actions of its plan."""

import json

import pandas as pd
import pytest
from sound_sweep import Change, Frames, found, sound, texts, texts_of

from mqperf.study import tables

pytestmark = pytest.mark.takes_long


def test_an_alarm_in_a_log_is_quoted() -> None:
    """The doubt has the log, the number of alarms, and what the broker said."""
    detail = {"log": "node1.log", "times": 3, "line": "memory resource limit alarm set on node"}
    alarm = {"run": "rpc-call-100-r1", "what": "alarm", "detail": json.dumps(detail)}
    events = tables.conform("events", pd.DataFrame([alarm, alarm | {"what": "drained"}]))
    [(doubt, text)] = texts({**sound(), "events": events}).items()
    assert doubt == ("broker-alarm", "rpc-call-100-r1")
    assert "lines in node1.log: 3), first: memory resource limit alarm set on node" in text


def test_a_node_that_was_frozen_is_named() -> None:
    """The doubt has the times at which it was seen; other events raise none."""
    detail = {"node": "Slave 1 (mqperf2)", "first": "10:00:01", "last": "10:00:03"}
    frozen = {"run": "rpc-call-100-r1", "what": "frozen", "detail": json.dumps(detail)}
    granted = {"run": "rpc-call-100-r2", "what": "provisioned"}
    events = tables.conform("events", pd.DataFrame([frozen, granted]))
    [(doubt, text)] = texts({**sound(), "events": events}).items()
    assert doubt == ("node-frozen", "rpc-call-100-r1")
    assert "Slave 1 (mqperf2) from 10:00:01 to 10:00:03" in text


@pytest.mark.parametrize(
    ("what", "kind"),
    [("frozen", "node-frozen"), ("alarm", "broker-alarm"), ("unread", "unread-record")],
)
@pytest.mark.parametrize("detail", [None, "{}", "[1]", "no JSON"])
def test_an_event_without_details_is_a_doubt(what: str, kind: str, detail: str | None) -> None:
    """Details may be missing or invalid in anybody's tables."""
    event = {"run": "rpc-call-100-r1", "what": what, "detail": detail}
    events = tables.conform("events", pd.DataFrame([event]))
    assert {*texts_of(kind, {**sound(), "events": events})} == {"rpc-call-100-r1"}


@pytest.mark.parametrize(("during", "doubted"), [(1500, set()), (None, set()), (300, {"lost"})])
def test_losses_that_an_action_may_have_caused_are_no_doubt(
    during: int | None, doubted: set[str]
) -> None:
    """The cost of an action is unknown if messages were duplicated as well."""
    frames = sound()
    messages = frames["messages"]
    hit = messages["run"].eq("rpc-cast-100-r1")
    received, rates = messages["received"], messages["throughput_msg_s"]
    frames["messages"] = messages.assign(
        received=received.mask(hit, received - 3000),
        lost=messages["lost"].mask(hit, 3000),
        throughput_msg_s=rates.mask(hit, rates - 300),
    )
    phase = {"run": "rpc-cast-100-r1", "phase": "during"}
    phases = [{**phase, "lost": during}, {**phase, "lost": 1500}]
    frames["action_phases"] = tables.conform("action_phases", pd.DataFrame(phases))
    kinds = {kind for kind, run in found(frames) if run == "rpc-cast-100-r1"}
    assert kinds - ({"unequal-rates"} if doubted else set()) == doubted


LINK: Change = {
    "run": "rpc-call-100-r1",
    "between": "client, broker",
    "backend": "toy",
    "delay_s": 0.05,
    "loss_share": 0.05,
    "delay_before_s": 0.0509,
    "delay_after_s": 0.0491,
    "loss_before_share": 0.06,
}


def test_a_link_as_planned_is_no_doubt() -> None:
    """Within 1 ms or 2 %, or 1 % of loss; values not measured or not planned are ignored."""
    links = tables.conform("links", pd.DataFrame([LINK]))
    assert found({**sound(), "links": links}) == set()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"delay_after_s": 0.0512}, "a delay of 51.2 ms after the load instead of 50 ms"),
        ({"delay_after_s": 0.06}, "a delay of 60 ms after the load instead of 50 ms"),
        ({"loss_before_share": 0.0}, "a loss of 0 % before the load instead of 5 %"),
        (
            {"bandwidth_bits_s": 1e8, "bandwidth_before_bits_s": 5e7},
            "a bandwidth of 50 Mbit/s before the load instead of 100 Mbit/s",
        ),
    ],
)
def test_another_link_than_planned_is_a_doubt(changes: Change, words: str) -> None:
    """The doubt has the measured value, the time of measurement, and the planned value."""
    links = tables.conform("links", pd.DataFrame([{**LINK, **changes}]))
    [(doubt, text)] = texts({**sound(), "links": links}).items()
    assert doubt == ("link-not-as-asked", "rpc-call-100-r1")
    assert words in text


ACTION: Change = {
    "run": "rpc-call-100-r1",
    "action": "freeze",
    "node": "Master",
    "commanded_s": 2.0,
    "began_s": 2.01,
    "ended_s": 4.01,
    "downtime_s": 2.0,
    "outage_s": 2.1,
    "level_msg_s": 100.0,
    "recovery_s": 0.0,
}


def disturbed(changes: Change | None = None) -> Frames:
    """The sound sweep with an action in one run, and no messages in the seconds that it took."""
    outages = tables.conform("outages", pd.DataFrame([{**ACTION, **(changes or {})}]))
    frames = {**sound(), "outages": outages}
    intervals = frames["intervals"]
    during = intervals["run"].eq("rpc-call-100-r1") & intervals["start_s"].isin([2.0, 3.0])
    intervals.loc[during, "count"] = 0
    return frames


def test_an_action_of_the_plan_is_no_doubt() -> None:
    """Neither is the outage that it caused; the same silence without an action is a doubt."""
    assert found(disturbed()) == set()
    unplanned = disturbed() | {"outages": sound()["outages"]}
    assert found(unplanned) == {("empty-seconds", "rpc-call-100-r1")}


@pytest.mark.parametrize(("level_msg_s", "doubted"), [(0.3, True), (1.1, False), (None, False)])
def test_a_pause_between_few_messages_may_be_chance(
    level_msg_s: float | None, *, doubted: bool
) -> None:
    """At 0.3 messages a second a pause of 3 s may be chance; at 1.1 a second it is not."""
    expected = {("pause-by-chance", "rpc-call-100-r1")} if doubted else set()
    assert found(disturbed({"level_msg_s": level_msg_s})) == expected


@pytest.mark.parametrize(
    ("by_second", "doubted"),
    [
        ([100, 0, 0, 0, 0, 100, 0, 0, 0, 100], False),  # every thread once in a turn of 5 s
        ([0, 0, 0, 0, 0, 0, 0, 0, 0, 100], False),  # no more than a turn
        ([100, 0, 0, 100, 0, 0, 100, 0, 0, 100], False),
        ([200, 200, 200, 200, 200, 0, 0, 0, 200, 200], True),
        ([10, 10, 10, 10, 0, 10, 10, 10, 10, 10], False),
    ],
)
def test_threads_that_finish_all_at_once_are_no_burst(
    by_second: list[int], *, doubted: bool
) -> None:
    """A hundred threads wait for replies; only silence of more than three turns is a doubt."""
    frames = {**sound()}
    intervals = frames["intervals"].sort_values("start_s")
    of_run = intervals["run"].eq("rpc-call-100-r1") & intervals["stream"].eq("round-trip")
    assert of_run.sum() == len(by_second)
    intervals.loc[of_run, "count"] = by_second
    assert bool(texts_of("empty-seconds", {**frames, "intervals": intervals})) == doubted


@pytest.mark.parametrize(
    ("paused", "words"),
    [
        (1.25, "; garbage collection paused its nodes for 2.5 s"),
        (None, "the rate is a mean over bursts"),
    ],
)
def test_silence_is_reported_with_garbage_collection(paused: float | None, words: str) -> None:
    """The pauses of all nodes are added up, if they are known."""
    frames = disturbed() | {"outages": sound()["outages"]}
    inside = frames["node_summary"].assign(paused_s=paused)
    frames["node_summary"] = pd.concat([inside, inside.assign(node="Slave 1")], ignore_index=True)
    [text] = texts_of("empty-seconds", frames).values()
    assert text.endswith(words)


COST: Change = {
    "run": "rpc-call-100-r1",
    "action": "freeze",
    "node": "Master",
    "commanded_s": 2.0,
    "from_s": 1.0,
    "until_s": 5.0,
    "phase": "during",
}


@pytest.mark.parametrize(("column", "kind"), [("lost", "lost"), ("errors", "client-errors")])
@pytest.mark.parametrize("phase", ["before", "during", "after"])
def test_losses_during_an_action_are_no_doubt(column: str, kind: str, phase: str) -> None:
    """Losses at another time are a doubt, with their own number."""
    phases = pd.DataFrame([{**COST, "phase": phase, column: 30}])
    frames = disturbed() | {"action_phases": tables.conform("action_phases", phases)}
    messages, of_run = frames["messages"], frames["messages"]["run"].eq("rpc-call-100-r1")
    messages.loc[of_run, ["foreign", column]] = [0, 30]
    doubts = {(kind, run) for kind in ("lost", "client-errors") for run in texts_of(kind, frames)}
    assert doubts == (set() if phase == "during" else {(kind, "rpc-call-100-r1")})
    messages.loc[of_run, column] = 37
    text = texts_of(kind, frames)["rpc-call-100-r1"]
    beginning = "7 of " if phase == "during" else "37 of "
    assert text.startswith(beginning)
    assert ("in addition to 30 during actions of the plan" in text) == (phase == "during")


def test_unequal_rates_by_losses_of_an_action_are_no_doubt() -> None:
    """Servers receive less than clients send; without an action of the plan that is a doubt."""
    frames = sound()
    messages, of_run = frames["messages"], frames["messages"]["run"].eq("rpc-cast-100-r1")
    window_s = float(frames["runs"]["window_s"].iloc[0])
    gone = int(0.1 * float(messages.loc[of_run, "send_rate_msg_s"].iloc[0]) * window_s)
    messages.loc[of_run, "throughput_msg_s"] -= gone / window_s
    assert "rpc-cast-100-r1" in texts_of("unequal-rates", frames)
    cost = pd.DataFrame([{**COST, "run": "rpc-cast-100-r1", "lost": gone}])
    phases = tables.conform("action_phases", cost)
    assert "rpc-cast-100-r1" not in texts_of("unequal-rates", frames | {"action_phases": phases})


@pytest.mark.parametrize(("node", "doubted"), [("Master", False), ("Slave 1", True)])
def test_a_node_stopped_by_the_plan_need_not_be_sampled(node: str, *, doubted: bool) -> None:
    """It is missed only if no action had stopped it."""
    frames = disturbed({"node": node})
    cpu = frames["cpu"]
    of_node = cpu["run"].eq("rpc-call-100-r1") & cpu["process"].eq("Master")
    frames["cpu"] = cpu[~(of_node & cpu["start_s"].between(2, 5) & cpu["scope"].eq("interval"))]
    assert found(frames) == ({("probe-gap", "rpc-call-100-r1")} if doubted else set())


@pytest.mark.parametrize(("others_cores", "doubted"), [(0.7, False), (0.9, True)])
def test_cpu_of_a_stopped_node_is_not_that_of_others(others_cores: float, *, doubted: bool) -> None:
    """Up to a second of CPU between a node's last sample and its end is not known.

    Only more than a tenth plus that second of all cores is certainly used by others.
    """
    frames = disturbed()
    cpu = frames["cpu"]
    of_runs = cpu["run"].isin(["rpc-call-100-r1", "rpc-call-50-r1"]) & cpu["process"].eq("host")
    cpu.loc[of_runs, "total_cores"] = 2.3 + others_cores
    accused = texts_of("noisy-host", frames)
    assert {*accused} == {"rpc-call-50-r1", *(["rpc-call-100-r1"] if doubted else [])}


@pytest.mark.parametrize(
    ("changes", "kind", "words"),
    [
        ({"began_s": 2.2}, "action-late", "planned for 2.00 s and began at 2.20 s"),
        ({"recovery_s": None}, "not-recovered", "90 % of the 100 msg/sec before"),
    ],
)
def test_an_action_that_went_wrong_is_a_doubt(changes: Change, kind: str, words: str) -> None:
    """So are an action that began late, and one after which throughput did not recover."""
    [(doubt, text)] = texts(disturbed(changes)).items()
    assert doubt == (kind, "rpc-call-100-r1")
    assert words in text


def test_without_a_known_level_no_recovery_is_expected() -> None:
    """The throughput to recover to is not known."""
    assert found(disturbed({"level_msg_s": None, "recovery_s": None})) == set()
