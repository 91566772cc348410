"""The gate: verdicts from decisions, machines and doubts; its output; what it refuses."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import samples
from typer.testing import CliRunner

from mqperf import Results
from mqperf.base.errors import MqperfError
from mqperf.front import api
from mqperf.study.stats.differences import differences
from mqperf_gate.front.command import COMMAND
from mqperf_gate.front.measuring import opened
from mqperf_gate.front.summary import junit, lines, markdown
from mqperf_gate.front.verdicts import Aside, Gated, Verdict, aside, judged, outcome_of

SAMPLES = Path(__file__).parents[2] / "data/samples"
STRESS, CAPACITY = SAMPLES / "stress", SAMPLES / "capacity"
PLAN = """\
systems: {rabbitmq: {topologies: [cmsm], queues: [classic]}}
test_cases: [publish]
load: {generator: amqp-0-9-1, green_threads: 1, duration_s: 2}
"""
RULE = ("5%", 600.0)
UNLIKE = Aside(unlike=["CPU: a in the baseline, b now"])


def gated(*outcomes: str, failed: tuple[str, ...] = ()) -> Gated:
    verdicts = [Verdict(f"p{number}", each, "-9 %", 3) for number, each in enumerate(outcomes)]
    return Gated(0.05, verdicts, failed, (), ("candidate: noisy-host: a|b <c>",))


@pytest.mark.parametrize(
    ("outcomes", "failed", "passing"),
    [
        (("alike", "better"), (), (True, True)),
        (("alike", "open"), (), (True, False)),
        (("not alike",), (), (True, False)),
        (("better", "worse"), (), (False, False)),
        (("doubted",), (), (False, False)),
        (("alike",), ("it fell",), (False, False)),
    ],
)
def test_which_verdicts_pass(
    outcomes: tuple[str, ...], failed: tuple[str, ...], passing: tuple[bool, bool]
) -> None:
    """Worse, doubted or failed points fail the gate; undecided ones only if it is strict."""
    result = gated(*outcomes, failed=failed)
    assert (result.passes(strict=False), result.passes(strict=True)) == passing


@pytest.mark.parametrize(
    ("outcome", "beside", "expected"),
    [
        ("worse", Aside(), "worse"),
        ("worse", UNLIKE, "not alike"),
        ("alike", UNLIKE, "not alike"),
        ("open", UNLIKE, "open"),
    ],
)
def test_another_machine_gives_no_verdict(outcome: str, beside: Aside, expected: str) -> None:
    """On another machine a point is neither worse nor alike; doubted data decide nothing."""
    assert outcome_of(outcome, beside, doubted=False) == expected
    assert outcome_of(outcome, beside, doubted=True) == "doubted"


def test_what_is_written() -> None:
    """Each point has a line, a row and a JUnit test case; Markdown and HTML are escaped."""
    result = gated("worse", "open", "alike", failed=("it fell",))
    assert [line[:8] for line in lines(result)] == [
        *("FAIL  p0", "pass  p1", "pass  p2", "FAIL  a "),
        "doubt: c",
    ]
    assert [line[:8] for line in lines(gated("open", "alike"))] == ["pass  p0", "pass  p1"]
    page = markdown(result, passes=False)
    assert page.startswith("## mqperf gate: failed\n")
    assert "| p0 | -9 % | 3 | worse |" in page
    assert r"noisy-host: a\|b \<c\>" in page
    suite = ET.fromstring(junit(result, 2.5))  # noqa: S314 (our own)
    counts = [suite.get(name) for name in ("tests", "failures", "errors", "skipped", "time")]
    assert counts == ["4", "1", "1", "1", "2.500"]


@pytest.mark.takes_long
def test_runs_without_messages_do_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs without a finished message make their point doubted, and a line says why."""
    results = api.read(CAPACITY)
    monkeypatch.setattr(api, "read", lambda _: results)
    sound = aside((CAPACITY, CAPACITY), recorded=True)
    first = results.complete["messages"].iloc[0]
    messages = results.complete["messages"]
    throughput = messages["throughput_msg_s"].mask(messages["run"].eq(first["run"]), 0.0)
    stopped = {**results.complete, "messages": messages.assign(throughput_msg_s=throughput)}
    monkeypatch.setattr(api, "read", lambda _: Results(CAPACITY, stopped))
    findings = aside((CAPACITY, CAPACITY), recorded=True)
    assert findings.wrong - sound.wrong == {first["point"]}
    assert f"candidate: nothing finished in {first['run']}" in findings.doubts
    result = Gated(0.05, [Verdict("p", "doubted", "open", 0)], (), (), findings.doubts)
    assert any(line.startswith("doubt: candidate: nothing finished") for line in lines(result))


@pytest.mark.takes_long
def test_runs_of_another_machine_are_reported() -> None:
    """Differences of version and processor are listed; a baseline has none to itself."""
    assert aside((STRESS, STRESS), recorded=True).unlike == []
    differences_found = aside((STRESS, CAPACITY), recorded=True).unlike
    named = {text.partition(":")[0] for text in differences_found}
    assert {"Version of mqperf", "Processor"} <= named


@pytest.mark.parametrize(("share", "named"), [(1.001, 0), (1.1, 1)])
def test_a_small_difference_of_memory_is_no_other_machine(share: float, named: int) -> None:
    """A difference of 0.1 % in memory, as after a restart, is ignored."""
    frames = samples.complete(CAPACITY)
    runs = frames["runs"]
    memory = (runs["memory_bytes"] * share).astype("Int64")
    what = differences(frames, {**frames, "runs": runs.assign(memory_bytes=memory)})["what"]
    assert what.str.startswith("Memory").sum() == named


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    """Inputs are checked before anything runs; the error names the file or the option."""
    first, other = tmp_path / "a.yaml", tmp_path / "b.yaml"
    first.write_text(PLAN)
    other.write_text(PLAN.replace("green_threads: 1", "green_threads: 2"))
    places = tmp_path / "x", tmp_path / "y"
    with pytest.raises(MqperfError, match="have no point in common"):
        opened(first, other, RULE, places)
    with pytest.raises(MqperfError, match=r"has no plan\.yaml: give a folder of runs, or a plan"):
        opened(tmp_path, first, RULE, places)
    kinds = PLAN.replace("[classic]", "[classic, quorum]")
    other.write_text(f"{kinds}decide: {{difference: 0.1}}\n")
    with pytest.raises(MqperfError, match="has decide already"):
        opened(first, other, RULE, places)
    for option, words in (
        ("--budget=soon", "expected a duration"),
        ("--decide=0.6", "per cent"),
        ("--decide=x%", "per cent"),
    ):
        result = CliRunner().invoke(COMMAND.app, [str(first), str(first), option])
        assert words in str(result.exception)


def test_points_that_only_the_plan_has_are_listed(tmp_path: Path) -> None:
    """Points that the baseline lacks are listed as not compared, and have no verdict."""
    first, other = tmp_path / "a.yaml", tmp_path / "b.yaml"
    first.write_text(PLAN)
    other.write_text(PLAN.replace("green_threads: 1", "green_threads: [1, 2, 3]"))
    places = tmp_path / "x", tmp_path / "y"
    for place in places:
        place.mkdir()
    gate = opened(first, other, RULE, places)
    result = judged(gate, ())
    words = "2 of 3 points of the plan, which the baseline does not have"
    assert f"not compared: {words}" in [*lines(result)]
    assert f"\nNot compared: {words}.\n" in markdown(result, passes=True)
    assert [verdict.outcome for verdict in result.verdicts] == ["open"]
    alike = opened(first, first, RULE, places)
    assert not any("not compared" in line for line in lines(judged(alike, ())))
