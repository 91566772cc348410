"""Loads that end after a count of messages: who reports it, and their shortened windows."""

import json
import shutil
from pathlib import Path

import pytest
from counted import seal

from mqperf.base.errors import LoadError, PlanError
from mqperf.hosts import LocalHost, Offset
from mqperf.lab.runner.control import ControlFolders, Station
from mqperf.lab.runner.counted import cut
from mqperf.lab.runner.schedule import Schedule
from mqperf.lab.systems.in_plans import problems_of
from mqperf.onhost.load.control import Control
from mqperf.plan import Case
from mqperf.plan.file import parse_plan
from mqperf.record import FACTS, AllSent, Facts, Run, Whole, runs
from mqperf.study import stats, tables

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "data" / "samples" / "stress"
PLAN = """\
systems: {rabbitmq: {topologies: [cmsm]}}
test_cases: [publish]
load: {generator: amqp-0-9-1, green_threads: [1, 4], duration_s: 60, LOAD}
"""
BESIDE = "{generator: amqp-0-9-1, test_case: publish, green_threads: 1, message_count: 5}"


class Far(LocalHost):
    """This machine under another name."""

    name = "far"


def case(**changes: object) -> Case:
    text = PLAN.replace("LOAD", "message_count: 1000").replace("[1, 4]", "4")
    return parse_plan(text, Path("plan.yaml")).cases()[0].model_copy(update=changes)


def test_all_have_sent_when_the_last_client_has(tmp_path: Path) -> None:
    """Times are by the clock of each host; the result has the first and the last thread."""
    stations = []
    for host in (LocalHost(), Far()):
        folder = tmp_path / host.name
        folder.mkdir()
        stations.append(Station(host, folder))
    clocks = {"local": Offset(0.0, 0.0), "far": Offset(-12.5, 0.001)}
    control = ControlFolders(stations)
    assert control.sent(["client-1", "client-2"], clocks) is None
    Control(stations[0].folder, "client-1").say("sent", "1000.250000 1003.000000")
    assert control.sent(["client-1", "client-2"], clocks) is None
    Control(stations[1].folder, "client-2").say("sent", "989.500000 991.750000")
    assert control.sent(["client-1", "client-2"], clocks) == (1000.25, 1004.25)


@pytest.mark.parametrize(
    ("first_s", "length"), [(9.99, 7), (9.0, 7), (3.0, 1), (3.99, 1), (61.9, 59), (62.4, 60)]
)
def test_the_window_has_the_seconds_in_which_all_were_sending(first_s: float, length: int) -> None:
    """Whole seconds count, after a warm-up of two; the window never gets longer."""
    agreed = Schedule.from_start(1_000, case())
    shortened = cut(agreed, AllSent(first_s=first_s, last_s=first_s + 0.5), case())
    assert shortened.window_end - shortened.window_start == length
    assert shortened.window_start == agreed.window_start


@pytest.mark.parametrize(
    ("changes", "steady"),
    [
        ({}, (1000, 1062)),
        ({"actions": ({"do": "freeze", "node": "A", "at_s": 8.6, "for_s": 1},)}, (1000, 1010)),
        ({"parameters": {"rate_msg_s": 5, "ramp_to_msg_s": 9}}, None),
    ],
    ids=["undisturbed", "until the action", "a rate that changes"],
)
def test_throughput_is_to_be_steady_while_nothing_changes(
    changes: dict[str, object], steady: tuple[float, float] | None
) -> None:
    """The steady part begins with the load and has whole seconds."""
    whole = Case.model_validate({**case().model_dump(), **changes})
    assert Whole(Run(Path("run"), "run", "done"), Facts(), whole, (1002.0, 1062.0)).steady == steady


def test_a_count_that_leaves_no_second_is_an_error_of_one_line() -> None:
    """The error says what to change."""
    agreed = Schedule.from_start(1_000, case())
    with pytest.raises(LoadError) as caught:
        cut(agreed, AllSent(first_s=2.9, last_s=2.94), case())
    assert str(caught.value) == (
        "all 1000 messages were sent within 2.9 s, before the window, which begins after 2 s, had"
        " a whole second: raise load.message_count, or lower load.warmup_s"
    )


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (
            "message_count: [3, 100]",
            "message_count: 3 leaves some of 4 threads without a message",
        ),
        (
            "message_count: 100}\nactions: [{do: freeze, node: Master, at_s: 1, for_s: 1}]\n#",
            "cannot end early: leave out load.message_count",
        ),
        (
            f"rate_msg_s: 5}}\nbackground: [{BESIDE}]\n#",
            "a background load lasts as long as the run: leave out its message_count",
        ),
    ],
    ids=["too few", "actions", "background"],
)
def test_a_mistake_is_one_line(option: str, words: str) -> None:
    """The plan is refused before anything starts."""
    with pytest.raises(PlanError) as caught:
        parse_plan(PLAN.replace("LOAD", option), Path("plan.yaml"), problems_of)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.fixture(scope="module")
def by_count(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recorded run, edited so that its count was reached a second before its end."""
    folder = tmp_path_factory.mktemp("by-count") / "runs"
    shutil.copytree(SAMPLE, folder)
    run, *others = runs(folder)
    for other in others:
        shutil.rmtree(other.path)
    [sent] = tables.read(folder)["messages"]["sent"]
    facts = json.loads((run.path / FACTS).read_text())
    facts["window"]["end"] -= 1
    facts["all_sent"] = {"first_s": facts["window"]["end"] - facts["window"]["start"], "last_s": 3}
    facts["parameters"]["message_count"] = int(sent)
    (run.path / FACTS).write_text(json.dumps(facts))
    seal(run.path)
    return folder


def test_a_count_that_was_reached_is_no_doubt(by_count: Path) -> None:
    """Its window is shorter than the longest that the plan allows."""
    frames = stats.complete(tables.read(by_count))
    [row] = frames["runs"].to_dict("records")
    assert (row["status"], row["all_sent_s"]) == ("done", 3)
    assert row["window_s"] == row["asked_s"] - 1
    assert not {"short-window", "count-missed"} & set(frames["doubts"]["kind"])


@pytest.mark.takes_long
@pytest.mark.parametrize(("more", "words"), [(1, "the load ended"), (-1, "more than planned")])
def test_a_count_that_was_missed_is_a_doubt(by_count: Path, more: int, words: str) -> None:
    """A single message is enough, in either direction."""
    frames = tables.read(by_count)
    [sent] = frames["messages"]["sent"]
    frames["runs"]["message_count"] = frames["runs"]["message_count"] + more
    doubts = stats.complete(frames)["doubts"]
    [text] = doubts.loc[doubts["kind"].eq("count-missed"), "text"]
    assert text.startswith(f"{sent} of {sent + more} messages were sent: {words}")
