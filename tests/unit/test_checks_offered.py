"""Doubts about loads with a rate: whether it was kept, in time, and all of it delivered."""

import json

import pandas as pd
import pytest
from sound_sweep import Frames, found, sound, texts

from mqperf.study import tables

pytestmark = pytest.mark.takes_long


def offered(**changes: object) -> Frames:
    """The sound sweep with its CASTs published at an offered rate, and one of them changed."""
    frames = sound()
    for name in ("runs", "messages", "latency", "intervals", "planned", "cpu"):
        cast = frames[name]["test_case"].eq("rpc-cast")
        frames[name]["test_case"] = frames[name]["test_case"].mask(cast, "publish")
    streamed = frames["messages"]["test_case"].eq("publish")
    rates = frames["messages"].set_index("run")["send_rate_msg_s"][streamed.to_numpy()]
    frames["runs"]["rate_msg_s"] = frames["runs"]["run"].map(rates)
    frames["messages"]["offered_rate_msg_s"] = frames["messages"]["run"].map(rates)
    frames["latency"]["latency_p99_s"] = 0.03
    frames["messages"]["handover_p99_s"] = 0.002
    for column in ("handover_p99_s", "offered_rate_msg_s"):
        hit = frames["messages"]["run"].eq("rpc-cast-100-r1") & (column in changes)
        frames["messages"][column] = frames["messages"][column].mask(hit, changes.get(column))
    return frames


def test_an_offered_rate_that_was_kept_is_no_doubt() -> None:
    """Nor are many messages under way, or sends some milliseconds late on a busy machine."""
    frames = offered()
    frames["latency"]["latency_mean_s"] = frames["latency"]["latency_mean_s"].mask(
        frames["latency"]["test_case"].eq("publish"), 0.5
    )
    assert found(frames) == set()
    late = offered(handover_p99_s=0.014)  # less than half of the latency
    assert found(late) == set()


def test_threads_that_keep_to_a_rate_are_no_closed_loop() -> None:
    """With an offered rate, more messages may be under way than there are threads."""
    frames = sound()
    frames["latency"]["latency_mean_s"] = 0.5
    assert {kind for kind, _ in found(frames)} == {"littles-law", "backlog"}
    rates = frames["messages"].set_index("run")["send_rate_msg_s"]
    frames["runs"]["rate_msg_s"] = frames["runs"]["run"].map(rates)
    assert found(frames) == set()


@pytest.mark.parametrize(
    ("rate", "why"),
    [
        (3_900.0, "3900: the broker slowed them down, or they lacked CPU"),
        (3_700.0, "3700: they caught up on delayed messages, or did not keep to the rate"),
    ],
)
def test_a_missed_offered_rate_is_a_doubt(rate: float, why: str) -> None:
    """A difference above 1 % is a doubt with both rates; no broker makes clients send more."""
    frames = offered(offered_rate_msg_s=rate)
    [(doubt, text)] = texts(frames).items()
    assert doubt == ("rate-missed", "rpc-cast-100-r1")
    assert text == f"clients sent 3800 msg/sec in the window instead of the offered {why}"


def test_messages_that_were_sent_late_are_a_doubt() -> None:
    """The lateness is most of the latency."""
    frames = offered(handover_p99_s=0.02)
    [(doubt, text)] = texts(frames).items()
    assert doubt == ("sender-late", "rpc-cast-100-r1")
    assert "more than 20 ms after they were due" in text


def test_service_times_of_imported_runs_are_a_doubt() -> None:
    """At an offered rate, runs of mqperf count latency from when a message was due."""
    frames = offered()
    imported = frames["runs"]["run"].eq("rpc-cast-100-r1")
    frames["runs"]["status"] = frames["runs"]["status"].mask(imported, "published")
    [(doubt, text)] = texts(frames).items()
    assert doubt == ("service-time", "rpc-cast-100-r1")
    assert "rate of 3800 msg/sec" in text


def test_clients_that_the_broker_blocked_are_a_doubt() -> None:
    """The doubt has the number, the first time and the reason; other events raise none."""
    detail = json.dumps({"process": "client-1", "why": "low on memory"})
    blocked = {"run": "rpc-cast-100-r1", "what": "blocked", "time_s": 2.5, "detail": detail}
    other = {"run": "rpc-cast-100-r2", "what": "unblocked", "time_s": 3.0, "detail": detail}
    events = tables.conform("events", pd.DataFrame([blocked, blocked, other]))
    [(doubt, text)] = texts({**offered(), "events": events}).items()
    assert doubt == ("senders-blocked", "rpc-cast-100-r1")
    words = "blocked clients 2 times, first 2.5 s after the start of the window: low on memory"
    assert words in text


@pytest.mark.parametrize(("received", "kinds"), [(114_000, set()), (113_990, {"lost"})])
def test_several_deliveries_of_each_message_are_counted(received: int, kinds: set[str]) -> None:
    """Three deliveries of each message are no surplus; a missing one is a loss."""
    frames = offered()
    hit = frames["messages"]["run"].eq("rpc-cast-100-r1")
    change = {"deliveries": 114_000, "received": received, "lost": 114_000 - received}
    for column, value in {**change, "throughput_msg_s": 11_400.0, "foreign": 0}.items():
        frames["messages"][column] = frames["messages"][column].mask(hit, value)
    for name in ("rpc-cast-100-r2", "rpc-cast-100-r3"):
        frames["messages"] = frames["messages"][frames["messages"]["run"] != name]
    kinds = kinds | {"incomplete"}  # the repeats that were left out
    assert {kind for kind, _ in found(frames)} - {"missing-run", "spread"} == kinds
