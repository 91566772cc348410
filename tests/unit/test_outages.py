"""Effects of an action on the messages of a run."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from mqperf.base.errors import RecordError
from mqperf.plan import ActionPlan, Case
from mqperf.record import Event, Facts, Run, Whole, utc
from mqperf.record.counts import read_counts
from mqperf.record.streams.stream import Instants
from mqperf.study.tables.outages import outages
from mqperf_numbered.onhost.tally import Tally

START = 1_700_000_000.0
"""Start of the window of 20 s, after which the load continues for 3 s."""

FREEZE = ActionPlan(do="freeze", node="Master", at_s=5.0, for_s=2.0)


def whole(*actions: ActionPlan) -> Whole:
    case = Case(
        system="rabbitmq",
        topology="cmsm",
        queues="classic",
        test_case="rpc-call",
        green_threads=1,
        duration_s=20,
        warmup_s=1,
        cooldown_s=3,
        actions=actions,
    )
    return Whole(Run(Path("runs/x"), "x", "done"), Facts(), case, (START, START + 20))


def observed(*actions: ActionPlan, late_s: float = 0.0) -> list[Event]:
    """Events of a runner that took every action ``late_s`` after its planned time."""
    return [
        Event.model_validate(
            {"time": utc(at), "epoch": at, "host": "local", "what": what}
            | {"number": number, "action": action.do, "node": action.node, "observed": at}
        )
        for number, action in enumerate(actions, 1)
        for what, at in (
            ("action-began", START + action.at_s + late_s),
            ("action-ended", START + action.end_s + late_s),
        )
    ]


def messages(rate: Callable[[float], float]) -> np.ndarray:
    """Start and end of messages at this rate, a function of the time in the window."""
    instants, at = [], -1.0
    while at < 23.0:
        now = rate(at)
        at += 1 / now if now else 0.01
        if now:
            instants.append(START + at)
    return np.column_stack([instants, instants])


def measured(
    rate: Callable[[float], float], actions: Sequence[ActionPlan] = (FREEZE,)
) -> list[dict[str, object]]:
    return outages(whole(*actions), Instants(messages(rate)), observed(*actions))


def test_a_pause_is_as_long_as_it_was() -> None:
    """No message finishes for 2 s; the throughput recovers at once."""
    [row] = measured(lambda at: 0 if 5 <= at < 7 else 100)
    assert (row["action"], row["node"], row["downtime_s"]) == ("freeze", "Master", 2.0)
    assert row["outage_s"] == pytest.approx(2.0, abs=0.03)
    assert row["level_msg_s"] == pytest.approx(100, abs=1)
    assert row["recovery_s"] == pytest.approx(0.0, abs=0.1)


def test_an_outage_may_last_longer_than_its_cause() -> None:
    """Slow reconnection lengthens both outage and recovery."""
    [row] = measured(lambda at: 0 if 5 <= at < 10 else 100)
    assert row["outage_s"] == pytest.approx(5.0, abs=0.03)
    assert row["recovery_s"] == pytest.approx(3.0, abs=0.2)


def test_half_the_throughput_is_no_recovery() -> None:
    """Full throughput returns 4 s later; a short burst before does not count."""
    [row] = measured(
        lambda at: 0 if 5 <= at < 7 else 300 if 8 <= at < 8.4 else 50 if 7 <= at < 11 else 100
    )
    assert row["recovery_s"] == pytest.approx(4.0, abs=0.5)


def test_what_never_comes_back_has_no_recovery() -> None:
    """If half of the throughput stays lost, the recovery is None."""
    [row] = measured(lambda at: 100 if at < 5 else 0 if at < 7 else 50)
    assert row["recovery_s"] is None
    assert row["level_msg_s"] is not None


def test_an_action_that_hurts_nobody_is_no_outage() -> None:
    """The longest gap is that between two messages."""
    [row] = measured(lambda _at: 100)
    assert row["outage_s"] == pytest.approx(0.01, abs=0.001)
    assert row["recovery_s"] == 0.0


def test_an_outage_to_the_end_of_the_load_is_that_long() -> None:
    """If no message finishes any more, it lasts until the end of the load."""
    [row] = measured(lambda at: 100 if at < 5 else 0)
    assert row["outage_s"] == pytest.approx(18.0, abs=0.03)


def test_a_level_needs_a_second() -> None:
    """Right at the start there is no level to recover to."""
    [row] = measured(lambda _at: 100, [replaced(at_s=0.5)])
    assert row["level_msg_s"] is None
    assert row["recovery_s"] is None


def test_a_second_action_has_its_own_level() -> None:
    """Its level is the throughput between the actions."""
    second = replaced(at_s=14.0)
    first, then = measured(
        lambda at: 100 if at < 5 else 0 if at < 7 else 0 if 14 <= at < 16 else 50,
        [FREEZE, second],
    )
    assert first["recovery_s"] is None
    assert then["level_msg_s"] == pytest.approx(50, abs=1)
    assert then["recovery_s"] == pytest.approx(0.0, abs=0.1)


def test_an_action_that_was_not_taken_is_no_run() -> None:
    """The record lacks an action of its case, so it is incomplete."""
    with pytest.raises(RecordError, match=r"events.jsonl: no action-ended of freeze 1, which"):
        outages(whole(FREEZE), Instants(messages(lambda _at: 100)), observed(FREEZE)[:1])


def replaced(**changes: float) -> ActionPlan:
    return FREEZE.model_copy(update=changes)


# counts of seconds


def counted(
    folder: Path,
    rate: Callable[[float], float],
    *actions: ActionPlan,
    late_s: float = 0.0,
    ends: bool = True,
) -> dict[str, object]:
    """The same from a record of counts; without ``ends`` in the format of earlier versions."""
    instants = messages(rate)
    tally = Tally("client-1", "client", "rpc-call", START - 1, ["round_trip"])
    sequence = np.arange(len(instants))
    tally.add("round_trip", "client-1", sequence, instants[:, 0], instants[:, 1])
    file = folder / "client-1.counts"
    tally.save(file)
    if not ends:
        file.write_text(re.sub(r', "first_s": [^,]*, "last_s": [^}]*', "", file.read_text()))
    stream = read_counts(file).streams["round_trip"]
    taken = actions or (FREEZE,)
    [row] = outages(whole(*taken), stream, observed(*taken, late_s=late_s))
    return row


def test_counts_know_an_outage(tmp_path: Path) -> None:
    """From the last message of a second to the first of another; the rest is as before."""
    row = counted(tmp_path, lambda at: 0 if 5.3 <= at < 7.3 else 100, late_s=0.3)
    assert row["downtime_s"] == pytest.approx(2.0)
    assert row["outage_s"] == pytest.approx(2.0, abs=0.03)
    assert row["recovery_s"] == pytest.approx(0.7)
    assert row["level_msg_s"] == pytest.approx(100, abs=1)


def test_an_outage_that_begins_after_its_cause_is_one(tmp_path: Path) -> None:
    """Messages in flight arrive first, so the outage may start when the node is back."""
    short = replaced(at_s=5.0, for_s=0.2)
    row = counted(tmp_path, lambda at: 0 if 5.4 <= at < 8.6 else 100, short)
    assert row["outage_s"] == pytest.approx(3.2, abs=0.03)
    [exact] = measured(lambda at: 0 if 5.4 <= at < 8.6 else 100, [short])
    assert exact["outage_s"] == pytest.approx(3.2, abs=0.03)


def test_an_outage_may_be_interrupted(tmp_path: Path) -> None:
    """After a burst the longer pause is the outage, recovered or not."""
    for late in (100, 50):

        def rate(at: float, late: int = late) -> float:
            return 100 if at < 5 or 8.4 <= at < 8.6 else 0 if at < 14.3 else late

        assert counted(tmp_path, rate)["outage_s"] == pytest.approx(5.7, abs=0.03)
        [exact] = measured(rate)
        assert exact["outage_s"] == pytest.approx(5.7, abs=0.03)
        assert (exact["recovery_s"] is None) == (late == 50)


def test_the_next_action_has_its_own_outage() -> None:
    """A pause that begins with it is not attributed to the action before."""
    first, then = measured(
        lambda at: 100 if at < 5 else 0 if at < 7 else 0 if 14 <= at < 18 else 50,
        [FREEZE, replaced(at_s=14.0)],
    )
    assert first["outage_s"] == pytest.approx(2.0, abs=0.03)
    assert then["outage_s"] == pytest.approx(4.0, abs=0.03)


def test_counts_guess_nothing_within_a_second(tmp_path: Path) -> None:
    """A pause from 5.2 s to 5.7 s is not visible in counts."""
    row = counted(tmp_path, lambda at: 0 if 5.2 <= at < 5.7 else 100, replaced(for_s=0.5))
    assert row["outage_s"] == pytest.approx(0.01, abs=0.001)


def test_counts_without_the_ends_of_seconds_know_whole_ones(tmp_path: Path) -> None:
    """A pause from 5.3 s to 7.3 s is one empty second, with recovery from 8 s on."""
    row = counted(tmp_path, lambda at: 0 if 5.3 <= at < 7.3 else 100, late_s=0.3, ends=False)
    assert (row["downtime_s"], row["outage_s"]) == (pytest.approx(2.0), 1.0)
    assert row["recovery_s"] == pytest.approx(0.7)


def test_counts_show_an_outage_to_the_end(tmp_path: Path) -> None:
    """If no message finishes any more, it lasts until the end of the load."""
    row = counted(tmp_path, lambda at: 100 if at < 4.95 else 0)
    assert row["outage_s"] == pytest.approx(18.05, abs=0.03)
    assert row["recovery_s"] is None
    assert counted(tmp_path, lambda _at: 100, replaced(at_s=0.5))["level_msg_s"] is None
