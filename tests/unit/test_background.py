"""Background loads: planned, run beside the measured one, read, judged and shown."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pandas as pd
import pytest
from factory import tables as invented
from mqperf_toys import replay, system
from mqperf_toys.known import known
from viewed import contents

from mqperf.base.errors import PlanError, TableError
from mqperf.lab.load import Command, Launcher, LoadJob
from mqperf.lab.runner import Silent, sweep
from mqperf.lab.runner.plans import Outcome
from mqperf.lab.systems import SYSTEMS
from mqperf.lab.systems.in_plans import problems_of
from mqperf.pages.sections.forms import grid
from mqperf.plan import AFTER_S, BEFORE_S, Plan
from mqperf.plan.file import parse_plan
from mqperf.record import Run, read_events, runs
from mqperf.record.messages import read_header
from mqperf.study import tables
from mqperf.study.stats import checks

pytestmark = pytest.mark.starts_programs

ALONE = """\
systems: {toy: {topologies: [direct], queues: [none]}}
test_cases: [rpc-call]
load: {generator: replay, green_threads: [1], duration_s: 1, warmup_s: 0, cooldown_s: 0,
  timeout_s: 1}
"""
PLAN = f"{ALONE}background: [{{generator: replay, test_case: rpc-cast, green_threads: 2}}]\n"

WATCHED = PLAN.replace("duration_s: 1", "duration_s: 3")
"""So long that the probe sees every process twice within the window, on a busy machine as well."""

Measure = Callable[[Launcher], Outcome]


def plan(text: str = PLAN) -> Plan:
    return parse_plan(text, Path("toy.yaml"), problems_of)


@pytest.fixture(scope="module", autouse=True)
def _toys() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        known(patch)
        yield


def test_cases_without_background_load_keep_their_ids() -> None:
    """Their ids are those from before background loads existed."""
    [alone], [beside] = plan(ALONE).cases(), plan().cases()
    assert alone.id == "toy-direct-none-rpc-call-t0001-p1-r1-2f7acf4a"
    assert beside.id != alone.id
    assert beside.point != alone.point


def test_it_surrounds_the_measured_load() -> None:
    """It has the same window, but starts before and ends after the measured load."""
    [case] = plan().cases()
    [beside] = case.beside()
    assert (beside.test_case, beside.green_threads, beside.duration_s) == ("rpc-cast", 2, 1)
    assert beside.warmup_s == case.warmup_s + BEFORE_S
    assert beside.cooldown_s == case.cooldown_s + AFTER_S


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("{test_case: rpc-cast, green_threads: 0}", "background entry 1.green_threads: expected"),
        ("{test_case: rpc-cast}", "green_threads"),
        ("{test_case: fax, green_threads: 1}", "fax"),
        ("{generator: none-such, test_case: rpc-cast, green_threads: 1}", "none-such"),
        ("{test_case: rpc-cast, green_threads: 1, paus_s: 1}", "did you mean 'pause_s'"),
        ("{test_case: rpc-cast, green_threads: 1, pause_s: -1}", "pause_s: expected"),
        ("{test_case: rpc-cast, green_threads: 10000, processes: 1000}", "at most 100,000"),
    ],
)
def test_a_wrong_entry_is_refused_with_its_line(entry: str, words: str) -> None:
    """As in every other part of a plan, the error has file, line and key."""
    with pytest.raises(PlanError, match=r"toy.yaml:\d") as error:
        plan(f"{ALONE}background:\n- {entry}\n")
    assert words in str(error.value)


@pytest.fixture
def measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Measure:
    """A function that runs the plan with a launcher."""

    def measured(launcher: Launcher) -> Outcome:
        known(monkeypatch, launcher)
        return sweep(plan(), PLAN, tmp_path, Silent())

    return measured


@pytest.fixture(scope="module")
def recorded(_toys: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a complete run that had a background load."""
    folder = tmp_path_factory.mktemp("recorded")
    assert sweep(plan(WATCHED), WATCHED, folder, Silent()).failed == ()
    return folder


@pytest.fixture
def run(recorded: Path, tmp_path: Path) -> Run:
    """A copy of that run, to be damaged."""
    [run] = runs(shutil.copytree(recorded, tmp_path / "runs"))
    return run


def test_both_are_recorded_and_neither_counts_for_the_other(run: Run) -> None:
    """Each has its own messages, its own start, and processes of its own in the table ``cpu``."""
    frames = tables.read(run.path.parent)
    [row] = frames["background"].to_dict("records")
    [messages] = frames["messages"].to_dict("records")
    facts = run.facts()
    assert facts.case is not None
    [beside] = facts.case.beside()
    assert row["load"] == beside.load_words() == "rpc-cast by replay, 2 threads"
    assert row["sent"] == row["received"] != messages["sent"]
    assert (row["lost"], row["errors"], row["disagreements"]) == (0, 0, None)
    assert row["throughput_msg_s"] > 0
    assert row["latency_p99_s"] >= row["latency_p50_s"] > 0
    assert set(frames["intervals"]["process"]) == {"client-1", "server-1"}
    of_kind = frames["cpu"].groupby("kind")["process"].unique()
    assert set(of_kind["background"]) == {"background-1 client-1", "background-1 server-1"}
    assert set(of_kind["client"]) == {"client-1"}
    [start] = [e.detail["start"] for e in read_events(run.path) if e.what == "start"]
    assert facts.window is not None
    assert start == facts.window.start
    header = read_header(run.path / "background" / "1" / "client-1.messages")
    assert header.start == start - BEFORE_S


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("load", r"background-1 client-1 .*; its last line: a fault under load"),
        ("refusal", r"background-1 client-1: all \d+ messages failed"),
    ],
)
def test_a_failed_background_load_fails_the_run(measure: Measure, fault: str, words: str) -> None:
    """It died, or all its messages failed: it is named, though the measured load is sound."""

    def faulty(job: LoadJob) -> list[Command]:
        faults = {"client-1": fault} if job.case.test_case == "rpc-cast" else {}
        return replay.commands(job, faults)

    [(_, reason)] = measure(replace(replay.LAUNCHER, commands=faulty)).failed
    assert re.match(words, reason)


@pytest.mark.parametrize("name", ["client-1.messages", "server-1.messages"])
def test_a_record_that_is_gone_makes_the_run_unreadable(run: Run, name: str) -> None:
    """Files of a background load are as necessary as those of the measured load."""
    (run.path / "background" / "1" / name).unlink()
    with pytest.raises(TableError, match=f"background/1/{name} is missing"):
        tables.read(run.path.parent)


def test_facts_without_it_are_refused(run: Run) -> None:
    """A case with a background load that ``run.json`` does not have cannot be read."""
    file = run.path / "run.json"
    facts = json.loads(file.read_text())
    file.write_text(json.dumps({**facts, "background": [], "seal": None}))
    with pytest.raises(TableError, match="background: 0 loads recorded, the case has 1"):
        tables.read(run.path.parent)


BESIDE = {
    "run": "rpc-call-100-r1",
    "background": 1,
    "load": "rpc-cast by simulator, 2 threads",
    "sent": 400,
    "received": 400,
    "lost": 0,
    "errors": 0,
    "throughput_msg_s": 40.0,
}
FAULTS = [
    ({"lost": 3}, "3 of 400 lost"),
    ({"errors": 2}, "2 of 400 ended in an error"),
    ({"foreign": 1}, "1 of 400 were never sent"),
    ({"received": 0}, "no server received any"),
    ({"send_rate_msg_s": 39.0, "offered_rate_msg_s": 50.0}, "39 a second were sent in the window"),
    ({"disagreements": "client-1: 5 or 6"}, "differ: client-1: 5 or 6"),
]


def with_background(*rows: dict[str, object]) -> tables.Tables:
    sound = invented()
    names = count(1)
    keys = sound["runs"].iloc[0]
    records = [
        {"threads": keys["threads"], "repeat": 1, **BESIDE, "background": next(names), **row}
        for row in rows
    ]
    return {**sound, "background": tables.conform("background", pd.DataFrame(records))}


def doubted(frames: tables.Tables) -> list[str]:
    rows = checks.doubts(frames)
    return list(rows.loc[rows["kind"] == "background-load", "text"])


def test_a_sound_background_load_is_no_doubt() -> None:
    """Neither one or two sound background loads nor one that kept its rate is a doubt."""
    kept: dict[str, object] = {"send_rate_msg_s": 49.8, "offered_rate_msg_s": 50.0}
    assert doubted(with_background({}, kept)) == []


@pytest.mark.parametrize(("fault", "words"), FAULTS)
def test_an_unsound_background_load_is_a_doubt(fault: dict[str, object], words: str) -> None:
    """The doubt has the number and names the load; the other load raises none."""
    [text] = doubted(with_background({}, fault))
    assert words in text
    assert "background load rpc-cast by simulator, 2 threads" in text


def printed(frames: tables.Tables) -> list[tuple[str, ...]]:
    """The rows of the table of background loads on a page, if there is one."""
    shown = (
        grid(content, map(str, count(1)), {})
        for content in contents(frames, "background", "rpc-call")
    )
    return [row for table in shown if table is not None for row in table.rows]


def test_the_page_has_a_section_only_where_there_is_one() -> None:
    """The section has a row for each background load of each run."""
    assert printed(invented()) == []
    assert len(printed(with_background({}, {"sent": 500}))) == 2


def test_its_latency_has_the_uncertainty_of_clocks(run: Run) -> None:
    """Between two hosts the latency has the uncertainty of both clocks, which the page shows."""
    file = run.path / "run.json"
    facts = json.loads(file.read_text())
    for process, host in zip(facts["background"][0]["processes"], ("h1", "h2"), strict=True):
        process["host"] = host
    clock = {"offset_s": 0.0, "bound_s": 0.001}
    facts["clocks"] |= {host: {"before": clock, "after": clock} for host in ("h1", "h2")}
    file.write_text(json.dumps({**facts, "seal": None}))
    frames = tables.read(run.path.parent)
    assert frames["background"]["latency_uncertainty_s"].item() == pytest.approx(0.002)
    unsure: dict[str, object] = {
        "latency_mean_s": 0.05,
        "latency_p50_s": 0.05,
        "latency_uncertainty_s": 0.002,
    }
    assert "50.0 ± 2" in printed(with_background(unsure))[0]


def test_a_condition_may_bring_a_generator_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The generator is there for the second condition, though the first case needs none."""
    known(
        monkeypatch, replace(replay.LAUNCHER, name="again"), replace(replay.GENERATOR, name="again")
    )
    drivers = {**system.SYSTEM.drivers, "again": "toy"}
    monkeypatch.setitem(SYSTEMS._values, "toy", replace(system.SYSTEM, drivers=drivers))
    beside = "[{generator: again, test_case: rpc-cast, green_threads: 2}]"
    text = f"{ALONE}conditions: {{alone: {{}}, second load: {{background: {beside}}}}}\n"
    outcome = sweep(plan(text), text, tmp_path, Silent())
    assert (outcome.done, outcome.failed) == (2, ())
    assert tables.conditions(tables.read(tmp_path))["condition"].tolist() == [
        "alone",
        "second load",
    ]
