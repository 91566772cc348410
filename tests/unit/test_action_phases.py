"""The cost of an action, second by second: before, during and after it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mqperf.plan import Case
from mqperf.record import Facts, Run, Whole
from mqperf.record.counts import read_counts
from mqperf.record.streams.stream import Instants
from mqperf.study.tables.action_phases import action_phases
from mqperf.study.tables.streams import Streams
from mqperf_numbered.onhost.tally import Tally

START = 1_700_000_000.0
"""Start of the window, which is 20 s long, with a second of load on both sides."""

RATE = 100
KNOWN = {"duplicates": 0, "foreign": 0}
OUTCOMES = ("released", "modified", "rejected")
Fate = Callable[[float], str]
"""The fate of a message by its due time: received, an outcome, both, or nothing."""


def case(test_case: str, generator: str) -> Case:
    return Case.model_validate(
        {"system": "x", "topology": "line", "queues": "routed", "test_case": test_case}
        | {"generator": generator, "green_threads": 1, "duration_s": 20}
        | {"warmup_s": 1, "cooldown_s": 1}
    )


def whole(test_case: str = "transfer", generator: str = "amqp-1.0") -> Whole:
    planned = case(test_case, generator)
    return Whole(Run(Path("runs/x"), "x", "done"), Facts(), planned, (START, START + 20))


def action(began: float, ended: float, recovery: float | None, node: str = "R2") -> dict[str, Any]:
    return {"action": "stop", "node": node, "commanded_s": began, "began_s": began} | {
        "ended_s": ended,
        "recovery_s": recovery,
    }


def counted(folder: Path, fate: Fate, late_s: float = 0.004) -> Streams:
    """The streams of one sender with a message due every 10 ms, each with its fate."""
    due = np.arange(-RATE, 21 * RATE) / RATE
    fates = np.array([fate(at) for at in due])
    client = Tally(
        "client-1", "client", "transfer", START - 1, ["sent", "handover", "error", *OUTCOMES]
    )
    server = Tally("server-1", "server", "transfer", START - 1, ["received"])
    instants, numbers = START + due, np.arange(len(due))

    def add(tally: Tally, stream: str, chosen: np.ndarray, took_s: float) -> None:
        ends = None if stream == "sent" else instants[chosen] + took_s
        tally.add(stream, "client-1.1", numbers[chosen], instants[chosen], ends)

    every = np.ones(len(due), dtype=bool)
    add(client, "sent", every, 0.0)
    add(client, "handover", every, 0.0)
    for outcome in OUTCOMES:
        refused = np.array([outcome in words for words in fates])
        add(client, outcome, refused, 0.1)
        add(client, "error", refused, 0.1)
    add(server, "received", np.array(["received" in words for words in fates]), late_s)
    read = {}
    for tally, label in ((client, "client-1"), (server, "server-1")):
        tally.save(folder / f"{label}.counts")
        read[label] = read_counts(folder / f"{label}.counts")
    streams = {label: file.streams for label, file in read.items()}
    return Streams(streams, streams, [file.numbers for file in read.values()])


def by_phase(rows: list[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    return {row["phase"]: row for row in rows}


def test_the_cost_of_an_action_is_counted_by_due_time(tmp_path: Path) -> None:
    """The phase starts a second before the action and ends with the second of the recovery.

    The phases add up to the window.  A message that is modified and then received is not lost.
    """

    def fate(at: float) -> str:
        if 4.95 <= at < 5:
            return "modified received" if at < 4.97 else "modified"
        return "released" if 5 <= at < 9.05 else "received"

    phases = by_phase(
        action_phases(whole(), counted(tmp_path, fate), KNOWN, [action(5.02, 7.0, 2.0)])
    )
    spans = {name: (row["from_s"], row["until_s"]) for name, row in phases.items()}
    assert spans == {"before": (0, 4), "during": (4, 10), "after": (10, 20)}
    during = phases["during"]
    assert (during["sent"], during["finished"], during["lost"]) == (600, 192, 408)
    assert (during["released"], during["modified"], during["rejected"]) == (405, 5, 0)
    assert during["errors"] == 410
    for name in ("before", "after"):
        assert phases[name]["lost"] == phases[name]["errors"] == phases[name]["released"] == 0
        assert phases[name]["sent"] == phases[name]["finished"]
    assert sum(row["sent"] for row in phases.values()) == 20 * RATE
    assert phases["before"]["latency_p50_s"] == pytest.approx(0.004, rel=0.01)
    assert phases["before"]["latency_max_s"] == pytest.approx(0.004, rel=0.01)


def test_a_second_wave_of_losses_belongs_to_the_action(tmp_path: Path) -> None:
    """Losses less than 3 s apart belong to it; later ones, or losses of every second, do not."""

    def fate(due: float) -> str:
        waves = 5 <= due < 6 or 8.5 <= due < 9 or 11.2 <= due < 11.4 or 15 <= due < 15.1
        return "released" if waves else "received"

    def always(due: float) -> str:
        return "" if round(due * RATE) % 100 == 45 else fate(due)

    rows = [action(5.2, 5.5, 1.0)]
    phases = by_phase(action_phases(whole(), counted(tmp_path, fate), KNOWN, rows))
    assert (phases["during"]["from_s"], phases["during"]["until_s"]) == (4, 12)
    assert phases["during"]["lost"] == 100 + 50 + 20
    assert phases["after"]["lost"] == 10
    phases = by_phase(action_phases(whole(), counted(tmp_path, always), KNOWN, rows))
    assert phases["during"]["until_s"] == 8
    assert phases["after"]["lost"] == 12 + 50 + 20 + 10


def test_the_next_action_ends_the_phase_before_it(tmp_path: Path) -> None:
    """Phases follow the order in which actions began; rows follow the order of the plan."""
    rows = [action(14.5, 15.0, None, "R3"), action(5.0, 7.0, 20.0)]
    phases = action_phases(whole(), counted(tmp_path, lambda _at: "received"), KNOWN, rows)
    spans = [(row["node"], row["phase"], row["from_s"], row["until_s"]) for row in phases]
    assert spans == [
        ("R3", "during", 13, 20),
        ("R2", "before", 0, 4),
        ("R2", "during", 4, 13),
    ]


def test_a_run_without_actions_has_no_phases(tmp_path: Path) -> None:
    """Without an action there is nothing to divide the window by."""
    assert action_phases(whole(), counted(tmp_path, lambda _at: "received"), KNOWN, []) == []


def test_losses_beside_duplicates_are_not_guessed(tmp_path: Path) -> None:
    """Counts per second do not identify messages: ``lost`` is empty, other columns are given."""
    streams = counted(tmp_path, lambda at: "" if 5 <= at < 6 else "received")
    rows = [action(5.0, 5.5, 0.5)]
    for accounts in (KNOWN | {"duplicates": 1}, KNOWN | {"foreign": 1}):
        [_, during, _] = action_phases(whole(), streams, accounts, rows)
        assert (during["lost"], during["finished"]) == (None, 200)
    [_, during, _] = action_phases(whole(), streams, KNOWN, rows)
    assert during["lost"] == 100


def test_a_phase_without_finished_messages_has_no_latency(tmp_path: Path) -> None:
    """A phase in which nothing arrived has no latency columns."""
    streams = counted(tmp_path, lambda at: "received" if at < 3 else "")
    [_, during] = action_phases(whole(), streams, KNOWN, [action(5.0, 7.0, None)])
    assert (during["finished"], during["lost"]) == (0, 1600)
    assert "latency_p50_s" not in during


def test_a_call_without_reply_or_error_is_lost() -> None:
    """This holds for records of instants, too; without a router there are no outcomes."""
    sent = START + np.arange(0, 20, 0.01)
    at = sent - START
    failed, answered = (at >= 5) & (at < 6), (at < 5) | (at >= 6.995)
    client = {
        "sent": Instants(sent[:, None]),
        "round_trip": Instants(np.column_stack([sent, sent + 0.01])[answered]),
        "error": Instants(np.column_stack([sent, sent + 1.0])[failed]),
    }
    streams = Streams({"client-1": client}, {"client-1": client})
    phases = by_phase(
        action_phases(
            whole("rpc-call", "simulator"), streams, KNOWN, [action(5.0, 6.0, 1.0, "Master")]
        )
    )
    during = phases["during"]
    assert (during["sent"], during["errors"], during["lost"]) == (400, 100, 100)
    assert during["released"] is None
    assert during["latency_p50_s"] == pytest.approx(0.01, rel=0.01)
