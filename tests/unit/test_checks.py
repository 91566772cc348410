"""Each doubt is raised by the fault it is about, and by nothing else."""

import json
from collections.abc import Mapping

import pandas as pd
import pytest
import samples
from sound_sweep import (
    CALL,
    CAST,
    PUBLISHED,
    ROOT,
    START,
    Change,
    found,
    planted,
    sound,
    texts_of,
)

from mqperf.plan.columns import TABLES
from mqperf.study import tables
from mqperf.study.stats import checks
from mqperf.study.stats.doubt_kinds import CHECKS

pytestmark = pytest.mark.takes_long

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
    "duplicates": (
        "messages",
        {"duplicates": 7},
        CALL,
        "copies of messages: 7 in addition to the 38000",
    ),
    "incomplete": ("latency", {"latency_mean_s": None}, CALL, "no figure for latency"),
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
    "clock-offset": (
        "latency",
        {"latency_uncertainty_s": 0.02},
        CAST,
        "an error bound of ± 20.00 ms",
    ),
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
        "70.0 % system CPU, but only 50.0 % in total",
    ),
    "cpu-too-low": (
        "cpu",
        {"total_cores": 0.0},
        f"{CALL} and process == 'client-1'",
        "client-1 used 0.00 s of CPU for",
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
    "stolen-cpu": (
        "cpu",
        {"stolen_cores": 0.5},
        f"{CALL} and process == 'host'",
        "the hypervisor withheld 0.50 of the 4 cores of host, 12 % (steal time)",
    ),
    "swapping": (
        "memory",
        {"swapped_in_bytes": 3 * 2**20},
        CALL,
        "local read 3 MiB back from swap",
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
        "in 2 of the 10 seconds of the window no message was finished, and 3800 in the busiest",
    ),
    "copied-run": (
        "runs",
        {"content": "rpc-call-10-r1"},
        CALL,
        "are identical to those of rpc-call-10-r1",
    ),
    "overlapping-runs": (
        "runs",
        {"started": START + pd.Timedelta(minutes=3, seconds=10)},
        CALL,
        "its load began 3.0 s before that of rpc-call-50-r1 had ended",
    ),
    "mixed-hosts": ("runs", {"cores": 8}, CALL, "hardware threads 8, in most runs 4"),
    "mixed-versions": (
        "runs",
        {"system_version": "4.0.1"},
        CALL,
        "version of the system 4.0.1, in most runs 3.10.8",
    ),
    "probe-gap": (
        "cpu",
        {"end_s": 8.0},
        f"{CALL} and process == 'Master' and start_s == 4",
        "Master for 3 s",
    ),
    "presettled-dropped": (
        "node_summary",
        {"presettled_dropped": 12},
        f"{CAST} and node == 'Master'",
        "12 pre-settled messages were silently dropped in the window (Master 12)",
    ),
    "short-window": ("runs", {"window_s": 9.5}, CALL, "is 9.50 s instead of 10.00 s"),
    "spread": ("messages", SLOW, CAST, "is 34 % away from the median of the 3 repeats"),
}
"""Kind -> table, cells to change, rows to change, words of the doubt."""


def test_sound_runs_raise_no_doubt() -> None:
    """A sweep without faults has no doubts."""
    assert found(sound()) == set()


def test_recorded_runs_raise_no_doubt_but_true_ones() -> None:
    """RabbitMQ on two quiet cores: CALL is sound; some one-way runs filled the machine."""
    doubts = checks.doubts(samples.read(ROOT / "data/samples/runs"))
    assert set(doubts["kind"]) == {
        "backlog",
        "tester-saturated",
        "unequal-rates",
        "empty-seconds",
    }
    assert set(doubts["test_case"]) == {"rpc-cast", "notify"}


def test_recorded_runs_of_five_hosts_raise_no_doubt_but_true_ones() -> None:
    """Five hosts shared two quiet cores, and the clock of one machine."""
    doubts = checks.doubts(samples.read(ROOT / "data/samples/hosts"))
    assert set(doubts["kind"]) == {"backlog"}
    assert set(doubts["test_case"]) == {"rpc-cast", "notify"}


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_fault_is_found(kind: str) -> None:
    """The doubt names the run and has the figures; no other run has a doubt."""
    table, change, where, words = PLANTED[kind]
    doubts = checks.doubts(planted(table, change, where))
    of_kind = doubts[doubts["kind"] == kind]
    assert set(doubts["run"]) == {where.split("'")[1]}
    assert [words in text for text in of_kind["text"]] == [True]


def test_messages_dropped_during_an_action_are_no_doubt() -> None:
    """They are the cost of the action, as long as as many were lost during it."""
    table, change, where, _ = PLANTED["presettled-dropped"]
    frames = planted(table, change, where)
    for lost, doubted in ((12, False), (11, True)):
        during = {"run": where.split("'")[1], "phase": "during", "lost": lost}
        frames["action_phases"] = tables.conform("action_phases", pd.DataFrame([during]))
        assert ("presettled-dropped" in set(checks.doubts(frames)["kind"])) == doubted


@pytest.mark.parametrize(("delay_s", "doubted"), [(0.15, set()), (0.05, {"rpc-cast-100-r1"})])
def test_messages_on_a_link_are_no_backlog(delay_s: float, doubted: set[str]) -> None:
    """At 3,800 a second, a link of 0.15 s holds 570, whatever queues hold."""
    table, change, where, _ = PLANTED["backlog"]
    frames = planted(table, change, where)
    frames["runs"] = frames["runs"].assign(delay_s=delay_s)
    doubts = texts_of("backlog", frames)
    assert doubts.keys() == doubted
    assert all("beyond the delay of the link is 570" in text for text in doubts.values())


@pytest.mark.parametrize(("copies", "doubted"), [(2, set()), (1, {"rpc-cast-100-r1"})])
def test_deliveries_of_one_message_are_no_backlog(copies: int, doubted: set[str]) -> None:
    """380 messages in two queues each are 760 deliveries."""
    table, change, where, _ = PLANTED["backlog"]
    frames = planted(table, change, where)
    messages = frames["messages"]
    frames["messages"] = messages.assign(deliveries=messages["sent"] * copies)
    assert texts_of("backlog", frames).keys() == doubted


def test_a_backlog_is_confirmed_by_the_nodes() -> None:
    """The doubt has how much waited in queues and its growth, if nodes were sampled."""
    table, change, where, _ = PLANTED["backlog"]
    frames = planted(table, change, where)
    rows = checks.doubts(frames).query("kind == 'backlog'")
    assert "at most 30 messages in their queues or on their links, 3 fewer" in rows["text"].iloc[0]
    assert json.loads(rows["evidence"].iloc[0])["waiting_growth"] == -3
    frames["node_summary"] = frames["node_summary"].iloc[:0]
    assert "reported" not in checks.doubts(frames).query("kind == 'backlog'")["text"].iloc[0]


def test_every_check_has_its_test() -> None:
    """Each kind is planted here or in a neighbouring file, and has a question and a reason."""
    elsewhere = {
        *("broker-alarm", "node-frozen", "peak-at-edge", "drift"),
        *("missing-run", "not-of-plan", "unread-record", "action-late", "not-recovered"),
        "pause-by-chance",
        *("link-not-as-asked", "background-load", "clock-drift", "network-bytes", "missing-node"),
        *("rate-missed", "count-missed", "sender-late", "service-time", "senders-blocked"),
        "slower-cores",
    }
    assert set(PLANTED) | elsewhere == set(CHECKS)
    assert all(check.question.endswith("?") for check in CHECKS.values())
    assert all(check.reason.endswith(".") for check in CHECKS.values())


def test_no_runs_no_doubts() -> None:
    """Empty tables are not a fault."""
    assert found({name: tables.empty(name) for name in TABLES}) == set()


def test_published_reports_are_doubted_where_they_are_wrong() -> None:
    """Exactly the rows that their own arithmetic shows to be wrong, and no sound one."""
    doubts = checks.doubts(samples.read(PUBLISHED))
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
    frames = dict(samples.read(PUBLISHED))
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
    assert list(shown) == [*checks.JSON_COLUMNS, "evidence"]
    assert (shown["threads"], shown["kind"]) == (100, "received-not-sent")
    assert shown["evidence"] == {"sent": 38_000, "received": 38_005}


def test_json_lines_hold_doubts_about_wording() -> None:
    """A doubt about a whole report has no number of threads."""
    lines = list(checks.as_json_lines(samples.read(PUBLISHED)["doubts"]))
    assert json.loads(lines[0])["threads"] is None
    assert json.loads(lines[0])["evidence"]["quote"].startswith("The chart shows")


def test_text_lines_name_point_kind_and_source() -> None:
    """A line has point, kind and reason; without doubts one line says so."""
    frames = planted("messages", {"received": 38_005}, CALL)
    doubts = checks.doubts(frames)
    (line,) = checks.as_text_lines({**frames, "doubts": doubts})
    assert line == (
        "rabbitmq cmsm classic rpc-call 100 threads: received-not-sent: servers received 38005"
        " messages, 5 more than clients sent [rpc-call-100-r1]"
    )
    assert list(checks.as_text_lines({**frames, "doubts": doubts.iloc[:0]})) == ["no doubts"]
