"""Doubts about what a run counted: messages, rates, and the threads that made them."""

import pandas as pd
import pytest
from sound_sweep import CALL, CAST, found, planted, sound, texts, texts_of

from mqperf.study import tables

pytestmark = pytest.mark.takes_long


def test_a_missing_tester_is_counted() -> None:
    """If Little's law and the counts agree, the doubt has the number missing and the true rate."""
    frames = planted("messages", {"throughput_msg_s": 3040.0, "received": 38_100}, CALL)
    frames["runs"][["expected", "reported"]] = pd.NA
    text = texts_of("littles-law", frames)["rpc-call-100-r1"]
    assert "about 1 of 5 load generators did not report" in text
    assert "about 3800 msg/sec instead of 3040.0" in text


@pytest.mark.parametrize(("received", "reported"), [(38_001, None), (38_100, 2)])
def test_a_lost_reply_is_no_missing_tester(received: int, reported: int | None) -> None:
    """Neither a lost reply nor a process that has reported means a missing load generator."""
    frames = planted("messages", {"throughput_msg_s": 3040.0, "received": received}, CALL)
    frames["runs"]["reported"] = pd.array([reported] * len(frames["runs"]), dtype="Int64")
    assert not any("did not report" in text for text in texts_of("littles-law", frames).values())


def test_clients_that_wait_for_a_core_are_not_missing() -> None:
    """On a full host threads wait between messages; counts that disagree still raise the doubt."""
    host = "kind == 'host' and scope == 'window' and run.str.startswith('rpc-call-100')"
    for received, doubted in ((38_000, False), (38_100, True)):
        frames = planted("messages", {"throughput_msg_s": 3040.0, "received": received}, CALL)
        frames["runs"][["expected", "reported"]] = pd.NA
        cpu = frames["cpu"]
        cpu.loc[cpu.eval(host), "total_cores"] = cpu["cores"]
        assert bool(texts_of("littles-law", frames)) == doubted


def test_more_calls_than_threads_are_impossible() -> None:
    """Each thread waits for one reply at a time."""
    frames = planted("latency", {"latency_mean_s": 0.03}, CALL)
    assert "rpc-call-100-r1" in texts_of("littles-law", frames)


@pytest.mark.parametrize(("longest_s", "doubted"), [(1.77, False), (0.3, True)])
def test_a_long_round_trip_may_begin_before_the_window(longest_s: float, *, doubted: bool) -> None:
    """Round trips that end in the window may exceed it by the longest one for each thread."""
    frames = planted("latency", {"latency_mean_s": 0.03, "latency_max_s": longest_s}, CALL)
    waits = ["waits for only one" in text for text in texts_of("littles-law", frames).values()]
    assert any(waits) == doubted


def test_client_work_below_saturation_is_no_fault() -> None:
    """At the first point of a sweep, clients may work longer than they wait for a fast broker."""
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


def test_a_single_thread_is_no_evidence_of_turns() -> None:
    """A single thread waits for no other, however often it was measured."""
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
    many = planted("messages", {"received": 138_000, "duplicates": 100_000}, CALL)
    [text] = texts_of("duplicates", many).values()
    assert text == "servers handled copies of messages: 100000 in addition to the 38000 sent"


def test_foreign_messages_are_counted_whatever_the_totals() -> None:
    """Another run's server file holds as many messages, none of which was sent here."""
    frames = planted("messages", {"foreign": 38_000}, CALL)
    text = texts_of("received-not-sent", frames)["rpc-call-100-r1"]
    assert text.startswith("38000 messages were received or answered that no client")


def test_a_renamed_folder_is_a_changed_record() -> None:
    """A folder has the name of the case that it holds; attempts that failed add a number."""
    frames = planted("runs", {"case": "rpc-call-100-r2"}, CALL)
    assert found(frames) == {("changed-record", "rpc-call-100-r1")}
    sound_one = planted("runs", {"case": "rpc-call-100-r1"}, CALL)
    sound_one["runs"]["run"] = sound_one["runs"]["run"].replace("rpc-call-100-r1", "x.failed-1")
    assert "x.failed-1" in texts_of("changed-record", sound_one)


def test_a_longer_window_is_a_doubt() -> None:
    """A window has the length that the plan asks for, neither less nor more."""
    frames = planted("runs", {"window_s": 12.0}, CALL)
    assert "rpc-call-100-r1" in texts_of("short-window", frames)


def test_a_stated_loss_must_follow_from_the_counts() -> None:
    """A loss of zero beside counts that differ is a doubt as well."""
    frames = planted("messages", {"round_trip": 37_990}, CALL)
    text = texts_of("lost", frames)["rpc-call-100-r1"]
    assert text == "the stated loss is 0 messages, but the counts give 10"


def test_a_failed_attempt_may_have_been_made_up_for() -> None:
    """The doubt says whether another attempt has given the point figures."""
    frames = sound()
    again = frames["runs"].iloc[[0]].assign(run="again", status="failed", failure=None)
    frames["runs"] = tables.conform("runs", pd.concat([frames["runs"], again]))
    assert texts(frames) == {
        (
            "failed-run",
            "again",
        ): "the attempt failed (no reason recorded); another attempt succeeded"
    }


def test_few_messages_leave_seconds_empty_by_chance() -> None:
    """A pause in which fewer than 20 messages were expected is no doubt."""
    frames = planted("intervals", {"count": 9}, CAST)
    rows = frames["intervals"].query(f"{CAST} and start_s in (2, 3)").index
    frames["intervals"].loc[rows, "count"] = 0
    assert found(frames) == set()
