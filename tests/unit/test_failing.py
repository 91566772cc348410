"""Fail conditions: when they end a run, what is left of it, and where that is shown."""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import pytest
import samples
from counted import seal
from refused import refused

from mqperf.base.errors import PlanError
from mqperf.front.status import status
from mqperf.lab.runner.control import Arrived
from mqperf.lab.runner.failing import FailCondition, shortened
from mqperf.lab.runner.gauge import Reading
from mqperf.lab.runner.schedule import Schedule
from mqperf.lab.systems.in_plans import problems_of
from mqperf.pages import run_line
from mqperf.pages.report.build import build
from mqperf.plan import FailWhen, Hold
from mqperf.plan.file import parse_plan
from mqperf.record import FACTS, Run, runs
from mqperf.record.facts import ConditionFailed
from mqperf.study import stats, tables
from mqperf.study.stats.searches import verdict
from mqperf.study.stats.sustained import NO, keeping_up

pytestmark = pytest.mark.takes_long

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "data" / "samples" / "stress"
SLOW = FailWhen(throughput_share=0.8, for_s=3)
LATE = FailWhen(latency_mean_s=0.1, for_s=2)
LOW = FailWhen(throughput_msg_s=500)
TAIL = FailWhen(latency_p50_s=0.01, latency_p99_s=0.1, for_s=2)
LOSS = FailWhen(lost_share=0.02, for_s=2)


def readings(rates: Sequence[int], mean_s: float = 0.001) -> list[Reading]:
    """A reading each second of two servers that together handled these numbers of messages."""
    sequence, count, took_s = [Reading(0.0, 60.0, _arrived(0, 0.0, 0))], 0, 0.0
    for second, rate in enumerate(rates, 1):
        count, took_s = count + rate, took_s + rate * mean_s
        sequence.append(Reading(float(second), 60.0, _arrived(count, took_s, second)))
    return sequence


def _arrived(count: int, took_s: float, second: int) -> dict[str, Arrived]:
    half = count // 2
    return {
        "server-1": Arrived(half, took_s / 2, 100.0 + second),
        "server-2": Arrived(count - half, took_s / 2, 200.0 + second),
    }


def failed(when: FailWhen, sequence: Sequence[Reading], offered: float | None = 1000.0) -> object:
    """The figures of the first reading at which the condition has failed; None for none."""
    condition = FailCondition(when, offered)
    return next(filter(None, map(condition.see, sequence)), None)


def seconds(*messages: tuple[int, int, int, int]) -> list[Reading]:
    """A reading each second: messages received, missing, and later than each of two limits."""
    sequence, sums = [Reading(0.0, 60.0, {"server-1": Arrived(0, 0.0, 100.0, 0, (0, 0))})], [0] * 4
    for second, added in enumerate(messages, 1):
        sums = [total + more for total, more in zip(sums, added, strict=True)]
        count, missing, *late = sums
        arrived = Arrived(count, 0.001 * count, 100.0 + second, missing, tuple(late))
        sequence.append(Reading(float(second), 60.0, {"server-1": arrived}))
    return sequence


@pytest.mark.parametrize(
    ("when", "sequence", "expected"),
    [
        (TAIL, seconds(*[(1000, 0, 300, 11)] * 9), ("latency_p99_s", 0.011, 0.1, 2.0)),
        (TAIL, seconds(*[(1000, 0, 510, 10)] * 9), ("latency_p50_s", 0.51, 0.01, 2.0)),
        (LOSS, seconds(*[(950, 50, 0, 0)] * 9), ("lost_share", 0.05, 0.02, 2.0)),
        (SLOW, readings([700] * 9), ("throughput_share", 700.0, 800.0, 3.0)),
        (SLOW, readings([990, 700, 600, 500, 400]), ("throughput_share", 500.0, 800.0, 4.0)),
        (LOW, readings([0] * 9), ("throughput_msg_s", 0.0, 500.0, 3.0)),
        (LATE, readings([1000] * 9, mean_s=0.25), ("latency_mean_s", 0.25, 0.1, 2.0)),
        (SLOW, readings([700] * 2 + [900] + [700] * 3), ("throughput_share", 700.0, 800.0, 6.0)),
    ],
    ids=["p99", "p50", "loss", "slow", "from the second", "nothing", "late", "after a pause"],
)
def test_a_planted_condition_is_seen(
    when: FailWhen, sequence: list[Reading], expected: tuple[object, ...]
) -> None:
    """It takes as many consecutive seconds as the plan says; the figures are the last one's."""
    facts = failed(when, sequence)
    assert isinstance(facts, dict)
    seen = facts["figure"], pytest.approx(facts["value"]), facts["limit"], facts["at_s"]
    assert seen == expected
    assert facts["for_s"] == when.for_s


@pytest.mark.parametrize(
    ("when", "sequence"),
    [
        (SLOW, readings([990] * 20)),
        (SLOW, readings([700, 700, 900] * 6)),
        (LATE, readings([1000] * 20, mean_s=0.09)),
        (LATE, readings([0] * 20)),
        (SLOW, [Reading(float(second), 60.0) for second in range(20)]),
        (TAIL, seconds(*[(1000, 0, 500, 10)] * 20)),
        (TAIL, readings([1000] * 20)),
        (LOSS, seconds(*[(981, 19, 0, 0)] * 20)),
        (LOSS, seconds(*[(0, 0, 0, 0)] * 20)),
        (LOSS, seconds(*[(900, 100, 0, 0), (1100, -100, 0, 0)] * 9)),
    ],
    ids=[
        *(
            "sound",
            "never long enough",
            "fast",
            "nothing has no latency",
            "no server has reported",
        ),
        *("few are late", "lateness is not known", "little is lost", "nothing has no loss"),
        "late, and not lost",
    ],
)
def test_no_condition_fails_in_sound_runs(when: FailWhen, sequence: list[Reading]) -> None:
    """Single bad seconds do not count, nor does anything before the first figures."""
    assert failed(when, sequence) is None


@pytest.mark.parametrize(
    ("figure", "value", "limit", "words"),
    [
        ("latency_p99_s", 0.0213, 0.5, "p99 above 500 ms, which 2.13% of messages exceeded"),
        ("lost_share", 0.05, 0.02, "loss 5.00%, above 2.00%"),
    ],
)
def test_a_failed_condition_has_words(figure: str, value: float, limit: float, words: str) -> None:
    """They have the figures of the last second, the duration, and when that was."""
    facts = {"figure": figure, "value": value, "limit": limit, "for_s": 2, "at_s": 7.04}
    text = ConditionFailed.model_validate(facts).words
    assert text == f"{words} for 2 s, 7.0 s after the start of the window"


def test_later_keys_do_not_change_ids_of_cases() -> None:
    """A condition without them keeps its id."""
    assert [*SLOW.model_dump()] == [
        *("latency_mean_s", "throughput_msg_s", "throughput_share", "for_s")
    ]
    assert FailWhen.model_validate(TAIL.model_dump()) == TAIL


def test_a_share_of_no_rate_is_never_missed() -> None:
    """Clients that send as fast as they can have no rate."""
    assert failed(SLOW, readings([1] * 9), offered=None) is None


@pytest.mark.parametrize(
    ("at_s", "cooldown_s", "length"),
    [(3.01, 1, 4), (3.01, 0, 5), (3.01, 60, 3), (1.0, 30, 1), (58.5, 1, 59), (59.9, 1, 60)],
)
def test_the_window_has_every_whole_second(at_s: float, cooldown_s: int, length: int) -> None:
    """All processes can still reach its end, and it never gets longer."""
    text = "systems: {rabbitmq: {topologies: [cmsm]}}\ntest_cases: [publish]\nload: {generator: "
    text += f"amqp-0-9-1, green_threads: 1, duration_s: 60, cooldown_s: {cooldown_s}}}\n"
    [case] = parse_plan(text, Path("plan.yaml")).cases()
    agreed = Schedule.from_start(1_000, case)
    now = shortened(agreed, at_s, case)
    assert now.window_end - now.window_start == length
    assert now.end == now.window_end + cooldown_s
    assert now.end >= min(now.window_start + at_s + 1, agreed.end)
    assert (now.start, now.window_start) == (agreed.start, agreed.window_start)


BAD: Mapping[str, tuple[str, str]] = {
    "unknown": ("{latency_p98_s: 1}", "unknown key; did you mean 'latency_p9"),
    "empty": ("{for_s: 3}", "names at least one of latency_mean_s"),
    "negative": ("{throughput_msg_s: -1}", "got -1"),
    "share": ("{throughput_share: 0.5}", "a share of an offered rate that stays: say load.rate"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_mistake_is_one_line(name: str) -> None:
    """The error says what to do."""
    condition, words = BAD[name]
    text = "systems: {rabbitmq: {topologies: [cmsm]}}\ntest_cases: [publish]\nload: {generator: "
    text += f"amqp-0-9-1, green_threads: 1, duration_s: 6}}\nfail_when: {condition}\n"
    with pytest.raises(PlanError) as caught:
        parse_plan(text, Path("plan.yaml"), problems_of)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_loads_that_cannot_end_early_are_refused() -> None:
    """The generator cannot end early, or an action would be cut off."""
    text = "systems: {rabbitmq: {topologies: [cmsm]}}\ntest_cases: [rpc-call]\nload: {"
    text += "green_threads: 1, duration_s: 6}\nfail_when: {latency_mean_s: 1}\n"
    refused(text, r"cannot be ended early; these can: amqp-0-9-1, amqp-1\.0")
    text = text.replace("rpc-call", "publish").replace("{green", "{generator: amqp-0-9-1, green")
    text += "actions: [{do: freeze, node: Master, at_s: 1, for_s: 1}]\n"
    refused(text, "cannot end early: leave out fail_when")


@pytest.fixture(scope="module")
def early(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Recorded runs, the first edited so that it ended a second before its end."""
    folder = tmp_path_factory.mktemp("early") / "runs"
    shutil.copytree(SAMPLE, folder)
    run = next(iter(runs(folder)))
    facts = json.loads((run.path / FACTS).read_text())
    facts["window"]["end"] -= 1
    facts["condition_failed"] = {
        "figure": "latency_mean_s",
        "value": 0.2504,
        "limit": 0.25,
        "for_s": 3,
        "at_s": 3.004,
    }
    (run.path / FACTS).write_text(json.dumps(facts))
    seal(run.path)
    return folder


WORDS = "mean latency 250.4 ms, above 250 ms for 3 s, 3.0 s after the start of the window"


def first(folder: Path) -> Run:
    return next(iter(runs(folder)))


def test_data_of_an_early_end_are_those_of_the_shorter_window(early: Path) -> None:
    """The run is complete and has all figures; throughput is over the shorter window."""
    frames = tables.read(early)
    run = first(early).id
    [row] = frames["runs"][frames["runs"]["run"].eq(run)].to_dict("records")
    assert (row["status"], row["condition_failed"]) == ("done", WORDS)
    assert row["window_s"] == row["asked_s"] - 1
    counts = frames["intervals"].query("run == @run and stream == 'received' and phase == 'window'")
    [messages] = frames["messages"][frames["messages"]["run"].eq(run)].to_dict("records")
    assert messages["throughput_msg_s"] == counts["count"].sum() / row["window_s"]
    others = frames["runs"][frames["runs"]["run"].ne(run)]
    assert others["condition_failed"].isna().all()


def test_an_early_end_is_no_doubt_and_keeps_no_rate(early: Path) -> None:
    """Ending early is as planned; the rate counts as too high."""
    frames = stats.complete(tables.read(early))
    [point] = frames["runs"].loc[frames["runs"]["run"].eq(first(early).id), "point"].tolist()
    doubts = frames["doubts"]
    assert "short-window" not in set(doubts.loc[doubts["point"].eq(point), "kind"])
    assert not doubts["text"].str.contains("the measured window is").any()
    rated = keeping_up(frames["points"], frames)
    assert rated[frames["points"]["point"].eq(point)].tolist() == [NO]


@pytest.mark.starts_programs
def test_an_early_end_is_shown_everywhere(early: Path, tmp_path: Path) -> None:
    """It is in the line of a run, the status, a search, and the page."""
    assert f"; condition failed, window of {_window(early):g} s: {WORDS}" in run_line.of_run(
        first(early)
    )
    assert sum(f"condition failed: {WORDS}" in line for line in status(early).split("\n")) == 1
    judgement = verdict(tables.of_runs([first(early)]), Hold(throughput_share=0.01))
    assert (judgement.holds, judgement.text) == (False, f"it ended early: {WORDS}")
    build(stats.complete(tables.read(early)), tmp_path / "report", title="Early", html=False)
    [page] = (tmp_path / "report").glob("rabbitmq/*/index.rst")
    text = page.read_text(encoding="utf-8")
    assert text.count("Runs that ended early") == 1
    assert "mean latency 250.4 ms" in text


def _window(folder: Path) -> float:
    window = first(folder).facts().window
    assert window is not None
    return window.end - window.start


def test_sound_records_have_no_such_words() -> None:
    """None of the recorded runs ended early."""
    assert samples.read(SAMPLE)["runs"]["condition_failed"].isna().all()
    assert isinstance(samples.read(SAMPLE)["runs"]["condition_failed"].dtype, pd.StringDtype)
