"""Each doubt is raised by the fault it is about, and by nothing else."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mqperf import tables
from mqperf.columns import TABLES
from mqperf.stats import checks
from mqperf.stats.bottleneck import bottlenecks
from mqperf.stats.rules import sweep
from mqperf.tables import Tables

ROOT = Path(__file__).parent.parent.parent
PUBLISHED = ROOT / "data/published/2016"

Change = Mapping[str, str | float | pd.Timestamp | None]
Frames = dict[str, pd.DataFrame]

WINDOW_S = 10.0
THINK_S = 0.001
THREADS = (10, 20, 50, 100)
RATES = {10: 2000.0, 20: 3500.0, 50: 4000.0, 100: 3800.0}
"""A sound sweep: it rises, has its peak inside, and obeys Little's law."""

START = pd.Timestamp("2026-03-14T15:09:26Z")

NODES = {"Master": "broker", "client-1": "client", "server-1": "server", "host": "host"}


def keys(threads: int, test_case: str, repeat: int) -> dict[str, str | float | pd.Timestamp | None]:
    point = f"{test_case}-{threads}"
    return {
        "run": f"{point}-r{repeat}",
        "point": point,
        "system": "rabbitmq",
        "topology": "cmsm",
        "queues": "classic",
        "test_case": test_case,
        "threads": threads,
        "repeat": repeat,
    }


def one_run(position: int, threads: int, test_case: str, repeat: int) -> dict[str, list[Change]]:
    own, rate, call = keys(threads, test_case, repeat), RATES[threads], test_case == "rpc-call"
    count = int(rate * WINDOW_S)
    latency = threads / rate - THINK_S if call else 0.5 * threads / rate
    seconds = [(float(s), s + 1.0, "interval") for s in range(int(WINDOW_S))]
    used = {"Master": 1.2, "client-1": 0.5, "server-1": 0.6, "host": 2.4}
    return {
        "runs": [
            own
            | {"status": "done", "position": position, "asked_s": WINDOW_S, "window_s": WINDOW_S}
            | {"green_threads": 10, "processes": threads // 10, "hosts": 1, "control_run": 0}
            | {"expected": 2, "reported": 2, "cores": 4, "clock_offset_s": 0.0}
            | {"warmup_s": 2.0, "cooldown_s": 1.0, "content": f"{own['run']}"}
            | {"started": START + pd.Timedelta(minutes=position), "kernel": "Linux 6"}
            | {"system_version": "3.10.8", "network_card": "loopback"}
        ],
        "messages": [
            own
            | {"sent": count, "received": count, "round_trip": count if call else None}
            | {"errors": 0, "lost": 0, "duplicates": 0, "throughput_msg_s": rate}
            | {"send_rate_msg_s": rate}
        ],
        "intervals": [
            own
            | {"process": "server-1", "phase": "window", "start_s": start, "count": int(rate)}
            | {"stream": "round-trip" if call else "received"}
            for start, _, _ in seconds
        ],
        "planned": [own | {"control_run": 0}],
        "latency": [
            own | {"stream": "round-trip" if call else "one-way", "latency_mean_s": latency}
        ],
        "cpu": [
            own
            | {"process": process, "kind": kind, "host": "local", "cores": 4, "scope": scope}
            | {"start_s": start, "end_s": end}
            | {"total_cores": used[process], "sys_cores": used[process] / 4}
            for process, kind in NODES.items()
            for start, end, scope in [*seconds, (0.0, WINDOW_S, "window")]
        ],
    }


def sound() -> Frames:
    """Tables of a sweep of CALL and CAST in three repeats, in which nothing is wrong."""
    return {name: frame.copy() for name, frame in recorded().items()}


@cache
def recorded() -> Frames:
    rows: dict[str, list[Change]] = {name: [] for name in TABLES}
    points = [(r, t, n) for r in (1, 2, 3) for t in ("rpc-call", "rpc-cast") for n in THREADS]
    for position, (repeat, test_case, threads) in enumerate(points, 1):
        for name, some in one_run(position, threads, test_case, repeat).items():
            rows[name] += some
    return {name: tables.conform(name, pd.DataFrame(some)) for name, some in rows.items()}


def planted(table: str, change: Change, where: str) -> Frames:
    """The sound sweep with some cells of one table changed."""
    frames = sound()
    hit = frames[table].index.isin(frames[table].query(where).index)
    for column, value in change.items():
        frames[table][column] = frames[table][column].mask(hit, value)
    return frames


def found(frames: Tables) -> set[tuple[str, str]]:
    doubts = checks.doubts(frames)
    return set(zip(doubts["kind"], doubts["run"], strict=True))


CALL = "run == 'rpc-call-100-r1'"
CAST = "run == 'rpc-cast-100-r1'"

SLOW = {"throughput_msg_s": 2500.0, "send_rate_msg_s": 2500.0}

PLANTED: Mapping[str, tuple[str, Change, str, str]] = {
    "failed-run": ("runs", {"status": "failed", "failure": "Slave 1 died"}, CALL, "Slave 1 died"),
    "changed-record": ("runs", {"damaged": "load/client-1.json"}, CALL, "load/client-1.json"),
    "unreadable-run": (
        "runs",
        {"status": "unreadable", "failure": "it.json: cut short"},
        CALL,
        "the run cannot be read and is in no figure: it.json: cut short; restore",
    ),
    "causality": ("messages", {"causality_violations": 1}, CALL, "1 messages were finished before"),
    "record-disagrees": (
        "messages",
        {"disagreements": "client-1: 5 messages recorded, 4 counted"},
        CALL,
        "client-1: 5 messages recorded, 4 counted",
    ),
    "duplicates": ("messages", {"duplicates": 7}, CALL, "7 of 38000 messages were handled more"),
    "incomplete": ("latency", {"latency_mean_s": None}, CALL, "no figure of latency"),
    "missing-process": ("runs", {"reported": 1}, CALL, "1 of 2 load generator processes"),
    "received-not-sent": ("messages", {"received": 38_005}, CALL, "5 more than clients sent"),
    "roundtrip-not-received": ("messages", {"received": 37_990}, CALL, "10 too many"),
    "lost": ("messages", {"received": 37_987, "lost": 13}, CAST, "13 of 38000 messages were lost"),
    "negative-lost": (
        "messages",
        {"round_trip": 37_990, "errors": 15, "lost": -5},
        CALL,
        "5 more arrived than were sent",
    ),
    "client-errors": ("messages", {"round_trip": 37_999, "errors": 1}, CALL, "1 of 38000 attempts"),
    "littles-law": ("latency", {"latency_mean_s": 0.015}, CALL, "accounts for 61 of 100 threads"),
    "backlog": ("latency", {"latency_mean_s": 0.2}, CAST, "760 messages under way from 100"),
    "clock-offset": ("latency", {"latency_uncertainty_s": 0.02}, CAST, "by 20.00 ms either way"),
    "cpu-sum": (
        "cpu",
        {"total_cores": 1.0},
        f"{CALL} and process == 'host'",
        "used 2.30 cores together, the host itself only 1.00",
    ),
    "sys-exceeds-total": (
        "cpu",
        {"sys_cores": 0.7},
        f"{CALL} and process == 'client-1'",
        "70.0 % CPU in the system, but only 50.0 % in all",
    ),
    "cpu-exceeds-cores": (
        "cpu",
        {"total_cores": 4.5},
        f"{CALL} and process == 'host'",
        "4.50 cores of a host that has 4",
    ),
    "tester-saturated": (
        "cpu",
        {"total_cores": 0.97},
        f"{CALL} and process == 'client-1'",
        "runs on about one core, and client-1 used 0.97",
    ),
    "noisy-host": (
        "cpu",
        {"total_cores": 2.9},
        f"{CALL} and process == 'host'",
        "do not belong to the run used 0.60 of the 4 cores of host, 15 %",
    ),
    "unequal-rates": (
        "messages",
        {"send_rate_msg_s": 3600.0},
        CAST,
        "received 3800 msg/sec in the window, clients sent 3600: a backlog from before",
    ),
    "empty-seconds": (
        "intervals",
        {"count": 0},
        f"{CAST} and start_s in (2, 3)",
        "in 2 of the 10 seconds of the window no message was finished, and 3800 in the fullest",
    ),
    "copied-run": (
        "runs",
        {"content": "rpc-call-10-r1"},
        CALL,
        "are, to the byte, those of rpc-call-10-r1",
    ),
    "overlapping-runs": (
        "runs",
        {"started": START + pd.Timedelta(minutes=3, seconds=10)},
        CALL,
        "its load began 3.0 s before that of rpc-call-50-r1 had ended",
    ),
    "mixed-hosts": ("runs", {"cores": 8}, CALL, "hardware threads 8, of most others 4"),
    "mixed-versions": (
        "runs",
        {"system_version": "4.0.1"},
        CALL,
        "version of the system 4.0.1, of most others 3.10.8",
    ),
    "probe-gap": (
        "cpu",
        {"end_s": 8.0},
        f"{CALL} and process == 'Master' and start_s == 4",
        "Master for 3 s",
    ),
    "short-window": ("runs", {"window_s": 9.5}, CALL, "is 9.50 s, 10.00 s were asked for"),
    "spread": ("messages", SLOW, CAST, "is 34 % away from the median of the 3 repeats"),
}
"""Kind -> table, cells to change, rows to change, words of the doubt."""


def test_sound_runs_raise_no_doubt() -> None:
    """Nothing is wrong, and nothing is said."""
    assert found(sound()) == set()


def test_recorded_runs_raise_no_doubt_but_true_ones() -> None:
    """RabbitMQ on two quiet cores: CALL is sound; some one-way runs filled the machine."""
    doubts = checks.doubts(tables.read(ROOT / "data/samples/runs"))
    assert set(doubts["kind"]) == {
        "backlog",
        "tester-saturated",
        "unequal-rates",
        "empty-seconds",
    }
    assert set(doubts["test_case"]) == {"rpc-cast", "notify"}


def test_recorded_runs_of_five_hosts_raise_no_doubt_but_true_ones() -> None:
    """Five hosts shared two quiet cores: backlogs, and a latency of which clocks hide a tenth."""
    doubts = checks.doubts(tables.read(ROOT / "data/samples/hosts"))
    assert set(doubts["kind"]) == {"backlog", "clock-offset"}
    assert set(doubts["test_case"]) == {"rpc-cast", "notify"}


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_fault_is_found(kind: str) -> None:
    """The run with the fault is named, with the figures, and no other run is accused."""
    table, change, where, words = PLANTED[kind]
    doubts = checks.doubts(planted(table, change, where))
    own = doubts[doubts["kind"] == kind]
    assert set(doubts["run"]) == {where.split("'")[1]}
    assert [words in text for text in own["text"]] == [True]


def test_every_check_has_its_test() -> None:
    """Each kind is planted in this file, says what it asks and why."""
    elsewhere = {
        *("broker-alarm", "node-frozen", "peak-at-edge", "drift"),
        *("missing-run", "not-of-plan", "unread-record", "action-late", "not-recovered"),
        *("link-not-as-asked", "background-load", "clock-drift"),
    }
    assert set(PLANTED) | elsewhere == set(checks.CHECKS)
    assert all(check.question.endswith("?") for check in checks.CHECKS.values())
    assert all(check.reason.endswith(".") for check in checks.CHECKS.values())


def test_an_alarm_in_a_log_is_quoted() -> None:
    """With the log, how often, and what the broker said."""
    detail = {"log": "node1.log", "times": 3, "line": "memory resource limit alarm set on node"}
    alarm = {"run": "rpc-call-100-r1", "what": "alarm", "detail": json.dumps(detail)}
    events = tables.conform("events", pd.DataFrame([alarm, alarm | {"what": "drained"}]))
    doubts = checks.doubts({**sound(), "events": events})
    assert found({**sound(), "events": events}) == {("broker-alarm", "rpc-call-100-r1")}
    (text,) = doubts["text"]
    assert "lines in node1.log: 3), first: memory resource limit alarm set on node" in text


def test_a_node_that_was_frozen_is_named() -> None:
    """With when it was seen; other events of a run accuse nobody."""
    detail = {"node": "Slave 1 (mqperf2)", "first": "10:00:01", "last": "10:00:03"}
    frozen = {"run": "rpc-call-100-r1", "what": "frozen", "detail": json.dumps(detail)}
    granted = {"run": "rpc-call-100-r2", "what": "provisioned"}
    events = tables.conform("events", pd.DataFrame([frozen, granted]))
    doubts = checks.doubts({**sound(), "events": events})
    assert found({**sound(), "events": events}) == {("node-frozen", "rpc-call-100-r1")}
    assert "Slave 1 (mqperf2) from 10:00:01 to 10:00:03" in doubts["text"].iloc[0]


@pytest.mark.parametrize("what", ["frozen", "alarm", "unread"])
@pytest.mark.parametrize("detail", [None, "{}", "[1]", "no JSON"])
def test_an_event_that_tells_nothing_is_a_doubt_all_the_same(what: str, detail: str | None) -> None:
    """Tables may be anybody's."""
    event = {"run": "rpc-call-100-r1", "what": what, "detail": detail}
    events = tables.conform("events", pd.DataFrame([event]))
    assert {run for _, run in found({**sound(), "events": events})} == {"rpc-call-100-r1"}


LINK: Change = {
    "run": "rpc-call-100-r1",
    "between": "client, broker",
    "backend": "toy",
    "delay_s": 0.05,
    "loss_share": 0.05,
    "delay_before_s": 0.0515,
    "delay_after_s": 0.0485,
    "loss_before_share": 0.06,
}


def test_a_link_as_asked_is_no_doubt() -> None:
    """Within 2 % and 1 ms, or 1 % of loss; what was not measured, or not asked for, is nothing."""
    links = tables.conform("links", pd.DataFrame([LINK]))
    assert found({**sound(), "links": links}) == set()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"delay_after_s": 0.06}, "a delay of 60 ms after the load, and 50 ms was asked for"),
        ({"loss_before_share": 0.0}, "a loss of 0 % before the load, and 5 % was asked for"),
        (
            {"bandwidth_bits_s": 1e8, "bandwidth_before_bits_s": 5e7},
            "a bandwidth of 50 Mbit/s before the load, and 100 Mbit/s was asked for",
        ),
    ],
)
def test_another_link_than_asked_is_told(changes: Change, words: str) -> None:
    """With what was found, when, and what was asked for."""
    links = tables.conform("links", pd.DataFrame([{**LINK, **changes}]))
    doubts = checks.doubts({**sound(), "links": links})
    assert found({**sound(), "links": links}) == {("link-not-as-asked", "rpc-call-100-r1")}
    assert words in doubts["text"].iloc[0]


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
    """Neither is the outage that it made; the same silence without an action is one."""
    assert found(disturbed()) == set()
    unplanned = disturbed() | {"outages": sound()["outages"]}
    assert found(unplanned) == {("empty-seconds", "rpc-call-100-r1")}


@pytest.mark.parametrize(
    ("changes", "kind", "words"),
    [
        ({"began_s": 2.2}, "action-late", "to begin at 2.00 s and began at 2.20 s"),
        ({"recovery_s": None}, "not-recovered", "90 % of the 100 msg/sec before"),
    ],
)
def test_an_action_that_went_wrong_is_told(changes: Change, kind: str, words: str) -> None:
    """One at another instant, and one after which throughput stayed away."""
    frames = disturbed(changes)
    assert found(frames) == {(kind, "rpc-call-100-r1")}
    assert words in checks.doubts(frames)["text"].iloc[0]


def test_a_level_that_is_not_known_asks_for_no_recovery() -> None:
    """There is nothing to come back to."""
    assert found(disturbed({"level_msg_s": None, "recovery_s": None})) == set()


def test_a_missing_tester_is_counted() -> None:
    """Where Little's law and the counts agree on it, the doubt says how many, and what would be."""
    frames = planted("messages", {"throughput_msg_s": 3040.0, "received": 38_100}, CALL)
    frames["runs"][["expected", "reported"]] = pd.NA
    text = checks.doubts(frames).query("kind == 'littles-law'")["text"].iloc[0]
    assert "about 1 of 5 load generators did not report" in text
    assert "about 3800 msg/sec instead of 3040.0" in text


@pytest.mark.parametrize(("received", "reported"), [(38_001, None), (38_100, 2)])
def test_a_lost_reply_is_no_missing_tester(received: int, reported: int | None) -> None:
    """A reply that is lost misses no tester; nor is one missing that has reported."""
    frames = planted("messages", {"throughput_msg_s": 3040.0, "received": received}, CALL)
    frames["runs"]["reported"] = pd.array([reported] * len(frames["runs"]), dtype="Int64")
    texts = checks.doubts(frames).query("kind == 'littles-law'")["text"]
    assert not any("did not report" in text for text in texts)


def test_more_calls_than_threads_are_impossible() -> None:
    """Each thread waits for one reply at a time."""
    frames = planted("latency", {"latency_mean_s": 0.03}, CALL)
    assert ("littles-law", "rpc-call-100-r1") in found(frames)


def test_thinking_below_saturation_is_no_fault() -> None:
    """A fast broker leaves clients more to do than to wait, at the first point of a sweep."""
    slow = planted("latency", {"latency_mean_s": 0.002}, "run == 'rpc-call-10-r1'")
    assert found(slow) == set()


def test_green_threads_that_take_turns_are_no_fault() -> None:
    """Time between messages grows with the green threads of a process, not with the load."""
    frames = sound()
    runs, latency = frames["runs"], frames["latency"]
    runs["green_threads"], runs["processes"] = runs["threads"], 1
    think = 0.00005 * runs["threads"].astype(float)
    rate = runs["threads"].astype(float) / frames["messages"]["throughput_msg_s"]
    call = runs["test_case"] == "rpc-call"
    latency["latency_mean_s"] = latency["latency_mean_s"].where(~call, rate - think)
    assert found(frames) == set()


def test_a_thread_that_is_alone_says_nothing_of_turns() -> None:
    """It waits for no other, however often it was measured; the rest of the sweep does."""
    frames = sound()
    runs, latency = frames["runs"], frames["latency"]
    runs["green_threads"], runs["processes"] = runs["threads"].where(runs["threads"] > 20, 1), 1
    think = 0.0001 * runs["green_threads"].astype(float).where(runs["green_threads"] > 1, 0.01)
    rate = runs["threads"].astype(float) / frames["messages"]["throughput_msg_s"]
    call = runs["test_case"] == "rpc-call"
    latency["latency_mean_s"] = latency["latency_mean_s"].where(~call, rate - think)
    assert found(frames) == set()


def test_redelivered_messages_are_not_unsent_ones() -> None:
    """A broker may deliver twice, which is a doubt; only what nobody sent is impossible."""
    frames = planted("messages", {"received": 38_005, "duplicates": 5}, CALL)
    assert found(frames) == {("duplicates", "rpc-call-100-r1")}


def test_foreign_messages_are_counted_whatever_the_totals() -> None:
    """Another run's server file holds as many messages, none of which was sent here."""
    frames = planted("messages", {"foreign": 38_000}, CALL)
    text = checks.doubts(frames).query("kind == 'received-not-sent'")["text"].iloc[0]
    assert text.startswith("38000 messages were received or answered that no client")


def test_a_renamed_folder_is_a_changed_record() -> None:
    """A folder has the name of the case that it holds; attempts that failed add a number."""
    frames = planted("runs", {"case": "rpc-call-100-r2"}, CALL)
    assert found(frames) == {("changed-record", "rpc-call-100-r1")}
    sound_one = planted("runs", {"case": "rpc-call-100-r1"}, CALL)
    sound_one["runs"]["run"] = sound_one["runs"]["run"].replace("rpc-call-100-r1", "x.failed-1")
    assert ("changed-record", "x.failed-1") in found(sound_one)


def test_a_longer_window_is_a_doubt() -> None:
    """A window has the length that the plan asks for, neither less nor more."""
    frames = planted("runs", {"window_s": 12.0}, CALL)
    assert ("short-window", "rpc-call-100-r1") in found(frames)


def test_a_stated_loss_must_follow_from_the_counts() -> None:
    """A loss of zero beside counts that differ is a doubt as well."""
    frames = planted("messages", {"round_trip": 37_990}, CALL)
    text = checks.doubts(frames).query("kind == 'lost'")["text"].iloc[0]
    assert text == "0 messages are said to be lost, but the counts give 10"


@pytest.mark.parametrize(
    ("rates", "accused"),
    [
        ((2000, 3500, 4000, 5000), "rpc-cast-100-r3"),
        ((5000, 3500, 4000, 3000), "rpc-cast-10-r3"),
        ((2000, 3500, 4000, 4050), None),
        ((2000, 3500, 4000, 3900), None),
    ],
    ids=["rises", "falls", "plateau", "peak"],
)
def test_a_peak_at_the_edge_is_a_bound(rates: tuple[int, ...], accused: str | None) -> None:
    """The best of a sweep is only a peak when the sweep goes on beyond it."""
    frames = sound()
    messages = frames["messages"]
    cast = messages["test_case"] == "rpc-cast"
    rate = messages["threads"].map(dict(zip(THREADS, map(float, rates), strict=True)))
    for column in ("throughput_msg_s", "send_rate_msg_s"):
        messages[column] = messages[column].where(~cast, rate)
    frames["latency"].loc[cast, "latency_mean_s"] = 0.001
    assert found(frames) == ({("peak-at-edge", accused)} if accused else set())


def test_a_machine_that_slows_down_is_found() -> None:
    """Repeats that fall with their place in the sweep make the whole sweep doubtful."""
    frames = sound()
    slower = 1 - 0.004 * frames["runs"]["position"].astype(float)
    frames["messages"][["throughput_msg_s", "send_rate_msg_s"]] = frames["messages"][
        ["throughput_msg_s", "send_rate_msg_s"]
    ].mul(slower, axis=0)
    frames["latency"]["latency_mean_s"] /= slower
    doubts = checks.doubts(frames)
    assert doubts["kind"].tolist() == ["drift"]
    assert "moved by -10%" in doubts["text"].iloc[0]


def test_a_control_run_that_moves_is_found() -> None:
    """One point, at start, middle and end, is enough when it moves far and one way."""
    frames = {
        name: frame[frame["point"] == "rpc-cast-50"].reset_index(drop=True)
        for name, frame in sound().items()
        if "run" in frame
    }
    frames["runs"]["control_run"] = [1, 2, 3]
    for column in ("throughput_msg_s", "send_rate_msg_s"):
        frames["messages"][column] = [4000.0, 3400.0, 2500.0]
    frames["planned"] = tables.empty("planned")
    assert {kind for kind, _ in found(frames)} == {"drift"}
    for column in ("throughput_msg_s", "send_rate_msg_s"):
        frames["messages"][column] = [4000.0, 3500.0, 3850.0]
    assert found(frames) == set()


def watched(control: Sequence[float], noise: float, seed: int) -> Frames:
    """The sound sweep, its throughput blurred, with control runs at start, middle and end."""
    frames = sound()
    for turn, rate in enumerate(control, 1):
        for name in ("runs", "messages", "latency"):
            model = frames[name][frames[name]["run"] == "rpc-call-10-r1"]
            own = model.assign(run=f"control-{turn}")
            if name == "runs":
                own = own.assign(control_run=turn, position=(0, 12, 25)[turn - 1])
            if name == "messages":
                own = own.assign(throughput_msg_s=float(rate))
            frames[name] = tables.conform(name, pd.concat([frames[name], own]))
    usual = ~frames["messages"]["run"].str.startswith("control")
    blur = np.exp(noise * np.random.default_rng(seed).normal(size=len(frames["messages"])))
    frames["messages"].loc[usual, "throughput_msg_s"] *= blur[usual]
    return frames


def test_control_runs_that_differ_more_than_repeats_are_found() -> None:
    """They need not move one way: 847, 757 and 821 where repeats differ by 2 %."""
    (doubt,) = sweep.drift(watched((847, 757, 821), 0.02, seed=1))
    assert "the control runs gave 847, 757, 821 msg/sec, which spreads by 5.8 %" in doubt.text
    assert doubt.run == "control-3"


def test_control_runs_as_good_as_repeats_are_no_fault() -> None:
    """The same figures where repeats differ by 6 %, and small movements, raise no doubt."""
    assert list(sweep.drift(watched((847, 757, 821), 0.06, seed=1))) == []
    assert list(sweep.drift(watched((847, 820, 830), 0.002, seed=1))) == []
    random, accused = np.random.default_rng(5), 0
    for seed in range(20):
        control = 800 * np.exp(0.05 * random.normal(size=3))
        accused += len(list(sweep.drift(watched(list(control), 0.05, seed))))
    assert accused <= 2


def test_a_failed_attempt_may_have_been_made_up_for() -> None:
    """The doubt says whether the point has figures all the same."""
    frames = sound()
    again = frames["runs"].iloc[[0]].assign(run="again", status="failed", failure=None)
    frames["runs"] = tables.conform("runs", pd.concat([frames["runs"], again]))
    text = checks.doubts(frames)["text"].tolist()
    assert text == ["the attempt failed (no reason recorded); another attempt succeeded"]


def test_probe_gaps_at_the_ends_and_everywhere_are_found() -> None:
    """A process that died leaves no samples from then on; a dead probe leaves none at all."""
    frames = sound()
    cpu = frames["cpu"]
    died = (cpu["run"] == "rpc-call-100-r1") & (cpu["process"] == "Master") & (cpu["end_s"] > 6)
    unsampled = (cpu["run"] == "rpc-cast-100-r1") & (cpu["scope"] == "interval")
    frames["cpu"] = cpu[~died & ~unsampled]
    texts = checks.doubts(frames).set_index("run")["text"].to_dict()
    assert texts == {
        "rpc-call-100-r1": "CPU was not sampled in the whole window: Master for 4 s",
        "rpc-cast-100-r1": "CPU was not sampled at all",
    }


def test_a_full_host_makes_the_tester_doubtful() -> None:
    """Broker and tester on one full host measure each other, if it is they who fill it."""
    frames = planted("cpu", {"total_cores": 3.9}, f"{CALL} and process == 'host'")
    cpu = frames["cpu"]
    master = cpu.query(f"{CALL} and process == 'Master'").index
    cpu.loc[master, "total_cores"] = 2.6
    assert found(frames) == {("tester-saturated", "rpc-call-100-r1")}
    cpu.loc[master, "total_cores"] = 1.2
    text = checks.doubts(frames).query("kind == 'noisy-host'")["text"].tolist()
    assert found(frames) == {("noisy-host", "rpc-call-100-r1")}
    assert text[0].endswith("used 1.60 of the 4 cores of host, 40 %, and it had no CPU left")


@pytest.mark.parametrize(
    "where", ["process == 'Master'", "process == 'client-1' and scope == 'window'"]
)
def test_who_was_not_watched_is_no_noise(where: str) -> None:
    """What a broker or a client used is not known, and would look like the CPU of others."""
    frames = planted("cpu", {"total_cores": 3.9}, f"{CALL} and process == 'host'")
    frames["cpu"] = frames["cpu"].drop(frames["cpu"].query(f"{CALL} and {where}").index)
    assert "noisy-host" not in {kind for kind, _ in found(frames)}


def test_few_messages_leave_seconds_empty_by_chance() -> None:
    """Below 20 a second a pause is no fault of anybody."""
    frames = planted("intervals", {"count": 12}, CAST)
    rows = frames["intervals"].query(f"{CAST} and start_s in (2, 3)").index
    frames["intervals"].loc[rows, "count"] = 0
    assert found(frames) == set()


@pytest.mark.parametrize(
    ("rates", "doubts"),
    [((100, 100, 84), 1), ((100, 96, 91), 0), ((100, 84), 1), ((100, 92), 0)],
)
def test_every_repeat_agrees_with_the_others(rates: tuple[int, ...], doubts: int) -> None:
    """One that is off by more than a tenth is named, however well the others agree."""
    frames = dict(sound())
    frames["planned"] = tables.empty("planned")
    late = frames["runs"].query(f"point == 'rpc-cast-50' and repeat > {len(rates)}")["run"]
    for name in ("runs", "messages", "latency", "cpu", "intervals"):
        frames[name] = frames[name][~frames[name]["run"].isin(late)]
    own = frames["messages"]["point"] == "rpc-cast-50"
    for column in ("throughput_msg_s", "send_rate_msg_s"):
        frames["messages"].loc[own, column] = [40.0 * rate for rate in rates]
    assert [kind for kind, _ in found(frames)].count("spread") == doubts


def test_what_the_plan_asks_for_and_nobody_has_is_missing() -> None:
    """A run without a folder is named by its turn; one that failed is there."""
    frames = {
        name: frame if name == "planned" else frame[frame["run"] != "rpc-cast-50-r2"]
        for name, frame in sound().items()
        if "run" in frame
    }
    (text,) = checks.doubts(frames)["text"]
    assert found(frames) == {("missing-run", "rpc-cast-50-r2")}
    assert text.startswith(
        "of the runs that the plan asks for at point rpc-cast-50, 1 of 3 is not there (repeat 2)"
    )
    failed = planted("runs", {"status": "failed"}, "run == 'rpc-cast-50-r2'")
    assert {kind for kind, _ in found(failed)} == {"failed-run"}


def test_points_beside_the_plan_are_named_and_not_judged() -> None:
    """One doubt for each; with the other rules they have nothing to do."""
    frames = planted("messages", {"throughput_msg_s": 1.0}, "run == 'rpc-call-20-r1'")
    planned = frames["planned"]
    frames["planned"] = planned[planned["point"] != "rpc-call-20"]
    (text,) = checks.doubts(frames)["text"]
    assert found(frames) == {("not-of-plan", "rpc-call-20-r1")}
    assert "does not ask for point rpc-call-20 (window 10 s, 3 runs)" in text


def test_no_runs_no_doubts() -> None:
    """Empty tables are not a fault."""
    assert found({name: tables.empty(name) for name in TABLES}) == set()


def test_the_published_reports_are_accused_where_they_are_wrong() -> None:
    """Exactly the rows that their own arithmetic shows to be wrong, and no sound one."""
    doubts = checks.doubts(tables.read(PUBLISHED))
    columns = ["kind", "system", "topology", "queues", "test_case", "threads"]
    assert set(doubts[columns].itertuples(index=False, name=None)) == {
        ("received-not-sent", "rabbitmq", "cmsm", "classic", "rpc-call", 500),
        ("littles-law", "rabbitmq", "cmsm", "classic", "rpc-call", 500),
        ("received-not-sent", "rabbitmq", "cs1ss2", "mirrored", "rpc-call", 250),
        ("littles-law", "rabbitmq", "cs1ss2", "mirrored", "rpc-call", 250),
        ("roundtrip-not-received", "rabbitmq", "cs1ss2", "mirrored", "rpc-call", 500),
        ("littles-law", "rabbitmq", "cs1ss2", "mirrored", "rpc-call", 500),
        ("lost", "rabbitmq", "cs1ss2", "mirrored", "rpc-cast", 350),
        ("backlog", "rabbitmq", "cmsm", "classic", "rpc-cast", 50),
        ("backlog", "rabbitmq", "cmsm", "classic", "notify", 50),
        ("backlog", "zeromq", "direct", "none", "rpc-cast", 200),
        ("peak-at-edge", "zeromq", "direct", "none", "rpc-call", 200),
    }


def test_a_reports_total_is_the_sum_of_its_nodes() -> None:
    """Three nodes and a total, each printed with one decimal, may differ by 0.2 % and no more."""
    frames = dict(tables.read(PUBLISHED))
    total = frames["cpu"].query("kind == 'total'").index[0]
    frames["cpu"].loc[total, "total_cores"] += 0.0019
    assert "cpu-sum" not in set(checks.doubts(frames)["kind"])
    frames["cpu"].loc[total, "total_cores"] += 0.001
    text = checks.doubts(frames).query("kind == 'cpu-sum'")["text"].tolist()
    assert text == ["the nodes used 835.8 % CPU together, the report's total is 836.1 %"]


def test_json_lines_hold_the_point_and_the_evidence() -> None:
    """One object a line, in the order promised, with the figures used."""
    frames = planted("messages", {"received": 38_005}, CALL)
    (line,) = checks.as_json_lines(checks.doubts(frames))
    shown = json.loads(line)
    assert list(shown) == [*checks.SHOWN, "evidence"]
    assert (shown["threads"], shown["kind"]) == (100, "received-not-sent")
    assert shown["evidence"] == {"sent": 38_000, "received": 38_005}


def test_json_lines_hold_doubts_about_wording() -> None:
    """A doubt about a whole report has no threads, and says so."""
    lines = list(checks.as_json_lines(tables.read(PUBLISHED)["doubts"]))
    assert json.loads(lines[0])["threads"] is None
    assert json.loads(lines[0])["evidence"]["quote"].startswith("The chart shows")


def test_text_lines_name_point_kind_and_source() -> None:
    """A person reads where, what and why, and is told when there is nothing."""
    found = planted("messages", {"received": 38_005}, CALL)
    doubts = checks.doubts(found)
    (line,) = checks.as_text_lines({**found, "doubts": doubts})
    assert line == (
        "rabbitmq cmsm classic rpc-call 100 threads: received-not-sent: servers received 38005"
        " messages, 5 more than clients sent [rpc-call-100-r1]"
    )
    assert list(checks.as_text_lines({**found, "doubts": doubts.iloc[:0]})) == ["no doubts"]


@pytest.mark.parametrize(
    ("process", "cores", "verdict"),
    [
        ("client-1", 0.95, "tester"),
        ("Master", 3.8, "broker: Master"),
        ("host", 3.95, "host"),
        ("host", 2.4, "none"),
    ],
)
def test_the_bottleneck_is_who_ran_out_of_cpu(process: str, cores: float, verdict: str) -> None:
    """Tester before broker before host; nobody when all have CPU left."""
    frames = planted("cpu", {"total_cores": cores}, f"{CALL} and process == '{process}'")
    told = bottlenecks(frames).set_index("run")
    assert told.loc["rpc-call-100-r1", "bottleneck"] == verdict
    assert f"{process if process != 'host' else 'Master'} " in str(told["because"].iloc[0])


@pytest.mark.parametrize(
    ("change", "verdict", "because"),
    [
        ({"received_bytes_s": 115e6}, "network", "received 115.0 of 125.0 MB/s"),
        ({"received_bytes_s": 100e6}, "none", "sent 3.0 and received 100.0 of 125.0 MB/s"),
        ({"received_bytes_s": 115e6, "speed_bytes_s": None}, "none", "received 115.0 MB/s"),
        ({"retransmitted_share": 0.02}, "network", "2.0 % of the TCP segments of host local"),
        ({"retransmitted_share": None}, "none", "no process out of CPU"),
    ],
)
def test_the_network_is_a_limit_when_full_or_lossy(
    change: Change, verdict: str, because: str
) -> None:
    """A link at nine tenths of its speed, or one segment in a hundred retransmitted."""
    link: dict[str, str | float | None] = {
        "run": "rpc-call-100-r1",
        "host": "local",
        "interface": "eth0",
        "retransmitted_share": 0.001,
        "sent_bytes_s": 3e6,
        "received_bytes_s": 4e6,
        "speed_bytes_s": 125e6,
    }
    network = tables.conform("network", pd.DataFrame([{**link, **change}]))
    told = bottlenecks({**sound(), "network": network}).set_index("run")
    assert told.loc["rpc-call-100-r1", "bottleneck"] == verdict
    assert because in str(told.loc["rpc-call-100-r1", "because"])
    assert told.loc["rpc-cast-100-r1", "bottleneck"] == "none"


def test_without_the_brokers_cpu_nobody_is_blamed() -> None:
    """That nothing was short cannot be said of a broker which was not watched."""
    frames = dict(sound())
    frames["cpu"] = frames["cpu"][frames["cpu"]["kind"] != "broker"]
    told = bottlenecks(frames)
    assert set(told["bottleneck"]) == {"cannot tell"}
    assert told["because"].iloc[0].startswith("CPU of the brokers not recorded; known: client-1")


def test_the_bottleneck_of_published_runs_is_not_guessed() -> None:
    """Without the testers' CPU nobody can tell."""
    told = bottlenecks(tables.read(PUBLISHED))
    assert set(told["bottleneck"]) == {"cannot tell"}
    assert len(told) == 48


def hosts_of(run: str, *hosts: tuple[str, str | None]) -> pd.DataFrame:
    """The rows of a run in the table ``hosts``."""
    rows = [{"run": run, "host": host, "roles": roles} for host, roles in hosts]
    return pd.DataFrame(rows)


def test_runs_of_several_sets_of_hosts_are_mixed() -> None:
    """A run of this machine among those of a laboratory is named, however alike they are."""
    runs = sound()["runs"]["run"].unique()
    five = [*(("h1", "broker"), ("h2", "broker"), ("h3", "broker")), ("h4", "client")]
    of_lab = [hosts_of(run, *five, ("h5", "server")) for run in runs]
    same = tables.conform("hosts", pd.concat(of_lab))
    assert found({**sound(), "hosts": same}) == set()
    here = hosts_of(runs[0], ("local", None))
    mixed = {**sound(), "hosts": tables.conform("hosts", pd.concat([here, *of_lab[1:]]))}
    assert found(mixed) == {("mixed-hosts", runs[0])}
    (text,) = checks.doubts(mixed)["text"]
    assert "host local, of most others h1 (broker), h2 (broker), h3 (broker), h4 (client)" in text


def test_roles_of_a_host_alone_are_no_difference() -> None:
    """It has all of them, whether its record tells so or not."""
    runs = sound()["runs"]["run"].unique()
    told = [hosts_of(run, ("local", "broker, client" if run == runs[0] else None)) for run in runs]
    assert found({**sound(), "hosts": tables.conform("hosts", pd.concat(told))}) == set()


HOST = {"run": "rpc-cast-100-r1", "host": "h2", "clock_between_s": 20.0} | {
    "clock_offset_before_s": 0.5,
    "clock_bound_before_s": 1e-4,
    "clock_bound_after_s": 1e-4,
}


@pytest.mark.parametrize(
    ("after_s", "doubted"), [(0.5, False), (0.51, False), (0.515, True), (0.45, True)]
)
def test_a_clock_that_changes_more_than_clocks_do_is_doubted(
    after_s: float, *, doubted: bool
) -> None:
    """Beyond both bounds and 500 millionths of the time between, ahead or behind."""
    hosts = tables.conform("hosts", pd.DataFrame([{**HOST, "clock_offset_after_s": after_s}]))
    kinds = {kind for kind, _ in found({**sound(), "hosts": hosts})}
    assert ("clock-drift" in kinds) == doubted
