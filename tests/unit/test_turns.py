"""Several plans: one after the other, or with repeats in turns, each into its own folder."""

import io
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from rich.console import Console
from test_trial import bench
from typer.testing import CliRunner
from typing_extensions import override

from mqperf.base.errors import HostError, MqperfError, PlanError
from mqperf.front import plan_words, progress
from mqperf.front.cli import app
from mqperf.front.preview import preview
from mqperf.lab.runner import Job, Silent, sweep_all
from mqperf.lab.runner.bench import Bench
from mqperf.lab.runner.plans import in_turns
from mqperf.lab.runner.sweep import Sweep
from mqperf.plan import Case, Plan
from mqperf.plan.file import load_plan, parse_plan, read_plans
from mqperf.record import Run, runs

pytestmark = pytest.mark.starts_programs

PLAN = """\
systems:
  zeromq: {topologies: [direct], queues: [none]}
test_cases: [rpc-call, notify]
load: {green_threads: [1], duration_s: 1}
repeats: 3
"""
SWEPT = """\
systems:
  rabbitmq:
    topologies: [cmsm]
    queues: [quorum]
    settings: {memory_watermark_mb: [256, 512]}
test_cases: [rpc-call, notify]
load: {green_threads: [1], duration_s: 1}
repeats: 3
"""
SEARCHING = """\
systems: {rabbitmq: {topologies: [cmsm]}}
test_cases: [publish]
load: {generator: amqp-0-9-1, green_threads: 1, duration_s: 5}
search: {from_msg_s: 500, to_msg_s: 1000, hold: {latency_p99_s: 0.1}}
"""
TWO_SYSTEMS = PLAN.replace(
    "test_cases", "  rabbitmq: {topologies: [cmsm], queues: [quorum]}\ntest_cases"
)


def plan(text: str, name: str = "here") -> Plan:
    return parse_plan(text, Path(f"{name}.yaml"))


def job(folder: Path, name: str, text: str = PLAN) -> Job:
    return Job(plan(text, name), text, folder / name)


def turns(cases: Sequence[Case]) -> list[str]:
    """The repeat or control run that each case is."""
    return [f"s{case.control_run}" if case.control_run else f"r{case.repeat}" for case in cases]


class Diary(Silent):
    """Records all notifications."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.ended: list[tuple[str, Case]] = []
        self.expected: tuple[list[Case], int, int] = ([], 0, 0)

    @override
    def planned(self, todo: Sequence[Case], done: int, starts: int) -> None:
        self.expected = list(todo), done, starts

    @override
    def doing(self, what: str, case: Case | None = None) -> None:
        if what.startswith("plan "):
            self.steps.append(what)

    @override
    def finished(self, case: Case, run: Run, failure: str | None) -> None:
        self.ended.append((run.path.parent.name, case))


@pytest.fixture
def brokers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Systems without nodes that start at once, on which every run fails; lists their starts.

    A system whose name is in the list with a ``!`` does not start.
    """
    started: list[str] = []
    ready = bench(tmp_path / "tools")

    @contextmanager
    def begin(sweep: Sweep, case: Case) -> Iterator[Bench]:
        started.append(f"{sweep.runs.name} {case.system}")
        if f"!{sweep.runs.name}" in started:
            raise HostError("the broker did not start")
        yield ready

    monkeypatch.setattr(sys.modules[Sweep.__module__], "_bench", begin)
    monkeypatch.setattr(shutil, "which", lambda name, **_: f"/usr/bin/{name}")
    monkeypatch.setattr(
        "mqperf_software.lab.rabbitmq.VersionSettings.obtainable", lambda *_: "4.0.5"
    )
    return started


def complete(folder: Path) -> None:
    """Turn all failed attempts into completed runs, by their names."""
    for run in list(runs(folder)):
        run.path.rename(folder / run.case_id)


def test_turns_have_every_case_once() -> None:
    """Each turn is a repeat, in the plan's order of systems or in random order."""
    for text in (PLAN, TWO_SYSTEMS, f"{TWO_SYSTEMS}order: random\nseed: 3\ncontrol_runs: true\n"):
        whole = plan(text)
        cut = whole.turns()
        assert [len({case.repeat for case in turn if not case.control_run}) for turn in cut] == [
            1,
            1,
            1,
        ]
        for name in whole.systems:
            of_system = [case for turn in cut for case in turn if case.system == name]
            assert of_system == [case for case in whole.cases() if case.system == name]
        assert sum(map(len, cut)) == whole.number_of_cases


def test_control_runs_stand_at_both_ends_and_in_the_middle() -> None:
    """Each runs once, not in every turn, even with a single repeat of a single point."""
    assert [turns(turn) for turn in plan(f"{PLAN}control_runs: true\n").turns()] == [
        ["s1", "r1", "r1"],
        ["r2", "s2", "r2"],
        ["r3", "r3", "s3"],
    ]
    text = PLAN.replace("repeats: 3", "control_runs: true").replace(", notify", "")
    assert [turns(turn) for turn in plan(text).turns()] == [["s1", "s2", "r1", "s3"]]


def test_every_other_turn_is_the_other_way_round() -> None:
    """A machine that slows down thus favours neither plan."""
    both = [plan(PLAN), plan(PLAN)]
    assert list(in_turns(both)) == [(0, 0), (1, 0), (1, 1), (0, 1), (0, 2), (1, 2)]


def test_repeats_of_several_plans_run_in_turns(brokers: list[str], tmp_path: Path) -> None:
    """Each folder contains the whole plan; positions are those of the common order."""
    text = f"{PLAN}order: random\ncontrol_runs: true\n"
    diary, jobs = Diary(), [job(tmp_path, name, text) for name in ("a", "b")]
    outcomes = sweep_all(jobs, diary, interleave=True)
    assert [f"{folder}-{turn}" for folder, turn in _ended(diary)] == [
        *("a-s1", "a-r1", "a-r1", "b-s1", "b-r1", "b-r1"),
        *("b-r2", "b-s2", "b-r2", "a-r2", "a-s2", "a-r2"),
        *("a-r3", "a-r3", "a-s3", "b-r3", "b-r3", "b-s3"),
    ]
    assert brokers == ["a zeromq", "b zeromq", "b zeromq", "a zeromq", "a zeromq", "b zeromq"]
    assert diary.steps[:2] == ["plan a, repeat 1 of 3", "plan b, repeat 1 of 3"]
    assert [case for _, case in diary.ended] == diary.expected[0]
    assert diary.expected[1:] == (0, 6)
    assert [(outcome.done, len(outcome.failed)) for outcome in outcomes] == [(0, 9), (0, 9)]
    for swept in jobs:
        assert (swept.runs / "plan.yaml").read_text() == text
        places = {run.case_id: run.facts().position for run in runs(swept.runs)}
        assert [places[case.id] for case in swept.plan.cases()] == list(range(1, 10))


def _ended(diary: Diary) -> Iterator[tuple[str, str]]:
    for folder, case in diary.ended:
        yield folder, turns([case])[0]


@pytest.mark.usefixtures("brokers")
def test_plans_run_one_after_the_other(tmp_path: Path) -> None:
    """Without the option a plan is complete before the next one begins."""
    diary = Diary()
    sweep_all([job(tmp_path, "a"), job(tmp_path, "b")], diary)
    assert [folder for folder, _ in diary.ended] == ["a"] * 6 + ["b"] * 6
    assert diary.steps == ["plan a", "plan b"]
    assert diary.expected[1:] == (0, 2)


def test_one_case_runs_alone(brokers: list[str], tmp_path: Path) -> None:
    """It is selected by the end of its folder's name; its position is that in the whole plan."""
    diary, whole = Diary(), job(tmp_path, "a")
    case = whole.plan.cases()[3]
    sweep_all([replace(whole, only=case.id.rpartition("-")[2])], diary)
    assert diary.ended == [("a", case)]
    [run] = runs(tmp_path / "a")
    assert run.facts().position == 4
    brokers.clear()
    for plan_text, words in ((PLAN, "no cases end in 'nothing'"), (SEARCHING, "leave out --only")):
        with pytest.raises(PlanError, match=words):
            sweep_all([replace(job(tmp_path, "b", plan_text), only="nothing")], diary)
    assert brokers == []


def test_what_is_whole_is_not_measured_again(brokers: list[str], tmp_path: Path) -> None:
    """Turns continue in the same order; a completed plan is not touched."""
    jobs = [job(tmp_path, "a"), job(tmp_path, "b")]
    sweep_all(jobs, Silent(), interleave=True)
    for swept in jobs:
        complete(swept.runs)
    (tmp_path / "a" / jobs[0].plan.turns()[2][1].id).rename(tmp_path / "elsewhere")
    for gone in (case for turn in jobs[1].plan.turns()[1:] for case in turn):
        shutil.rmtree(tmp_path / "b" / gone.id)
    brokers.clear()
    diary = Diary()
    sweep_all(jobs, diary, interleave=True)
    assert [f"{folder}-{turn}" for folder, turn in _ended(diary)] == [
        *("b-r2", "b-r2", "a-r3", "b-r3", "b-r3")
    ]
    assert diary.expected[1:] == (7, 3)
    for swept in jobs:
        complete(swept.runs)
    written = [(swept.runs / "plan.yaml").stat().st_mtime_ns for swept in jobs]
    sweep_all(jobs, diary, interleave=True)
    assert diary.expected == ([], 12, 0)
    assert written == [(swept.runs / "plan.yaml").stat().st_mtime_ns for swept in jobs]


def test_a_system_that_does_not_start_leaves_the_other_plan(
    brokers: list[str], tmp_path: Path
) -> None:
    """Its runs are recorded as failed; each later turn tries once more."""
    brokers.append("!a")
    diary = Diary()
    outcomes = sweep_all([job(tmp_path, "a"), job(tmp_path, "b")], diary, interleave=True)
    assert {failure for _, failure in outcomes[0].failed} == {"the broker did not start"}
    assert [len(outcome.failed) for outcome in outcomes] == [6, 6]
    assert {run.facts().failure for run in runs(tmp_path / "b")} != {"the broker did not start"}
    assert brokers.count("a zeromq") == 2 + 1 + 1
    assert brokers.count("b zeromq") == 3


def test_every_start_of_a_system_is_expected(brokers: list[str], tmp_path: Path) -> None:
    """A system starts for each value of a setting in each repeat; the estimate says so."""
    diary, swept = Diary(), job(tmp_path, "a", SWEPT)
    sweep_all([swept], diary)
    assert brokers == ["a rabbitmq"] * 6
    assert diary.expected[1:] == (0, 6)
    cases = swept.plan.cases()
    expected = plan_words.clock(plan_words.expected_s(cases) + 6 * plan_words.START_S)
    assert f"RabbitMQ: about {expected};" in preview(swept.plan)


def test_what_cannot_be_measured_here_leaves_the_other_plan(
    brokers: list[str], tmp_path: Path
) -> None:
    """If the machine lacks what a plan needs, its runs are recorded with the reason."""
    mirrored = TWO_SYSTEMS.replace("quorum", "mirrored").replace("  zeromq", "  #")
    diary, jobs = Diary(), [job(tmp_path, "a", mirrored), job(tmp_path, "b")]
    outcomes = sweep_all(jobs, diary, interleave=True)
    assert all("no mirrored queues" in failure for _, failure in outcomes[0].failed)
    assert brokers == ["b zeromq"] * 3
    assert diary.expected[1:] == (0, 3)


def test_turns_need_equal_repeats_and_company(tmp_path: Path) -> None:
    """The error is one sentence, before anything is written."""
    uneven = [job(tmp_path, "a"), job(tmp_path, "b", PLAN.replace("3", "5"))]
    with pytest.raises(PlanError, match="a has 3, b has 5; set repeats: in the plans, or leave"):
        sweep_all(uneven, Silent(), interleave=True)
    with pytest.raises(PlanError, match="plan a is alone, and cannot take turns"):
        sweep_all([job(tmp_path, "a")], Silent(), interleave=True)
    assert not list(tmp_path.iterdir())


def test_plans_need_names_of_their_own(tmp_path: Path) -> None:
    """Two plans of one name would share a folder: the error names them."""
    files = [tmp_path / name for name in ("a.yaml", "b.yaml", "c.yaml")]
    for file, text in zip(files, (PLAN, PLAN, f"name: a\n{PLAN}"), strict=True):
        file.write_text(text)
    assert [read.plan for read in read_plans(files[:2])] == [load_plan(file) for file in files[:2]]
    with pytest.raises(PlanError, match=r"a.yaml: this plan is given twice: give it once"):
        read_plans([files[0], tmp_path / ".." / tmp_path.name / "a.yaml"])
    with pytest.raises(PlanError, match=r"a.yaml and .*c.yaml: both plans have the name a, and"):
        read_plans(files)


def test_the_command_tells_of_each_plan(
    brokers: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is a folder RUNS/NAME per plan, the failures of each, and exit code 1."""
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        Path(f"{name}.yaml").write_text(PLAN)
    result = CliRunner().invoke(app, ["run", "a.yaml", "b.yaml", "--interleave", "--runs", "kept"])
    assert result.exit_code == 1, result.output
    assert "12 to run, about 2:30" in result.output
    assert result.output.index("plan b, repeat 2 of 3") < result.output.index("plan a, repeat 2")
    for name in ("a", "b"):
        assert f"no runs recorded in kept/{name}\n" in result.output
        assert f"6 runs failed; the evidence is in kept/{name}/*.failed-*" in result.output
        assert len(list(runs(Path("kept", name)))) == 6
    assert len(brokers) == 6


@pytest.mark.usefixtures("brokers")
def test_a_folder_that_cannot_be_read_hides_no_other_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Best points and failures of the other plan are shown all the same."""
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        Path(f"{name}.yaml").write_text(PLAN)
    command = ["run", "a.yaml", "b.yaml", "--runs", "kept"]
    CliRunner().invoke(app, command)
    complete(Path("kept/a"))
    result = CliRunner().invoke(app, command)
    assert "6 done already, 6 to run" in result.output
    assert "6 runs failed; the evidence is in kept/b/*.failed-*" in result.output
    assert isinstance(result.exception, MqperfError)
    assert "none of 6 runs can be read: kept/a/" in str(result.exception)


@pytest.mark.usefixtures("brokers")
@pytest.mark.parametrize(
    ("spoilt", "complaint"),
    [("repeats: many", "b.yaml:5: repeats"), ("repeats: 2", "b has 2"), ("", "b has 1")],
)
def test_what_is_wrong_with_one_plan_is_told_before_any_run(
    spoilt: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No folder is made, not even for the valid plan."""
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text(PLAN)
    Path("b.yaml").write_text(PLAN.replace("repeats: 3", spoilt))
    result = CliRunner().invoke(app, ["run", "a.yaml", "b.yaml", "--interleave"])
    assert isinstance(result.exception, PlanError)
    assert complaint in str(result.exception)
    assert not Path("data").exists()


def test_remaining_time_is_estimated_from_past_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The remaining time counts all plans, even if two of them have the same case."""
    now = [0.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr("mqperf.pages.run_line.of_run_if_sound", lambda _: "sound")
    case = plan(PLAN).cases()[0]
    bar = progress.Bar(Console(file=io.StringIO()))
    bar.planned([case] * 8, 4, 2)
    task = bar._bar.tasks[0]
    assert task.fields["left"] == plan_words.clock(8 * (case.load_s + 2.5) + 2 * 12)
    for _ in range(4):
        now[0] += case.load_s + 25
        bar.finished(case, cast("Run", None), None)
    assert (task.completed, task.total) == (8, 12)
    usual = (2.5 + 12 / 7 + 3 * 25) / 4
    assert task.fields["left"] == plan_words.clock(4 * (case.load_s + usual))
