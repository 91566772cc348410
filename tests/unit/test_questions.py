"""The questions of plans, and the first screen that answers them."""

import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from factory import Shape, tables
from replies import doubted, replies, sample
from typer.testing import CliRunner

from mqperf.base.errors import PlanError
from mqperf.front.cli import app
from mqperf.pages.questions import ANSWERS, answers
from mqperf.pages.questions.basis import uncertain
from mqperf.pages.questions.first_screen import as_html, first_screen, lines
from mqperf.pages.questions.question import MORE_REPEATS, enough_repeats
from mqperf.pages.questions.words import cited
from mqperf.pages.sections.forms import plain
from mqperf.plan.file import parse_plan
from mqperf.plan.questions import QUESTIONS
from mqperf.study.stats import complete
from mqperf.study.stats.contrasts import contrasts, named_axes
from mqperf.study.stats.doubt_kinds import CHECKS, WEIGHTS
from mqperf.study.tables import Tables, plan_of, title
from mqperf.study.tables.planned import planned

PLAN = """\
systems: {rabbitmq: {topologies: [cmsm]}}
load: {green_threads: 1, duration_s: 3}
"""


LAYOUTS = (("cmsm", "classic"), ("cmsm", "mirrored"))


@pytest.fixture(scope="module")
def sound() -> Tables:
    """CALL at 10 and 20 threads on two kinds of queue, three times each, without doubts."""
    shape = Shape(layouts=LAYOUTS, test_cases=("rpc-call",), threads=(10, 20), repeats=3)
    frames = complete(tables(shape))
    return {**frames, "doubts": frames["doubts"][:0]}


@pytest.mark.takes_long
def test_an_offered_rate_is_no_limit() -> None:
    """If all layouts keep up with the offered rate, none is the least: more may be possible."""
    frames = tables(Shape(layouts=LAYOUTS, test_cases=("rpc-cast",), threads=(10,), repeats=3))
    frames = {name: frame.copy() for name, frame in frames.items()}
    for name in ("runs", "points"):
        frames[name]["rate_msg_s"] = 200.0
    frames["messages"] = frames["messages"].assign(
        throughput_msg_s=200.0, send_rate_msg_s=200.0, offered_rate_msg_s=200.0
    )
    frames = {**complete(frames), "doubts": frames["doubts"][:0]}
    sentence = replies(frames, "scaling")["How high is throughput?"][0]
    assert sentence == (
        "CAST (classic queues): at least 200 (200 to 200) msg/sec, all that was offered, with"
        " 10 threads."
    )
    for rate, limiting in ((200.0, False), (np.nan, True)):
        runs = frames["runs"].assign(rate_msg_s=rate)
        full = frames["bottlenecks"].assign(bottleneck="broker: Master")
        sentence = replies({**frames, "runs": runs, "bottlenecks": full}, "scaling").popitem()[1][0]
        assert ("a broker node is the limit there" in sentence) == limiting


@pytest.mark.takes_long
def test_points_that_finish_the_offered_rate_have_no_best() -> None:
    """Several points are counted; a single point is described by its parameters."""
    for sizes, words in (((10, 20), "at 2 of 2 points."), ((10,), "with 10 threads.")):
        varying = (("rate_msg_s", (200.0,)), ("payload_bytes", sizes))
        frames = tables(Shape((LAYOUTS[0],), ("rpc-cast",), (10,), parameters=varying))
        rates = {"throughput_msg_s": 200.0, "send_rate_msg_s": 200.0, "offered_rate_msg_s": 200.0}
        offered = {**frames, "messages": frames["messages"].assign(**rates)}
        completed = {**complete(offered), "doubts": frames["doubts"][:0]}
        [_, [sentence, _]] = [*replies(completed, "scaling").popitem()]
        assert sentence.endswith(f"all that was offered, {words}")


@pytest.mark.takes_long
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "wan",
            {
                "By which factor is a creation slower than under 'undisturbed'?": [
                    "delay 100 ms: 4.36 times; published 3.5.",
                    "delay 100 ms, loss 5 %: 8.11 times.",
                    "stress of 1,000 msg/s: 1.12 (1.07 to 1.18) times; published 3.5.",
                ],
                "What do clients see of each failure?": [
                    (
                        "disconnect of the link for 5.0 s: no creation for 7.4 s, 0 lost, 0"
                        " duplicated and throughput recovered 1.5 s after its end."
                    )
                ],
            },
        ),
        (
            "faults",
            {
                "What do clients see of each failure?": [
                    (
                        "stop of R2 for 3.0 s: no message for 9.1 s, 4,558 lost, 0 duplicated and"
                        " throughput recovered 7.0 s after its end."
                    )
                ]
            },
        ),
        (
            "stress",
            {
                "Which rate does it keep up with?": [
                    (
                        "PUBLISH: 10,000 to 100,000 msg/sec with exchange type direct, where a full"
                        " host is the limit; 10,000 to 100,000 msg/sec with exchange type fanout."
                    )
                ],
                "How do throughput and latency at the same rate change with exchange type?": [
                    (
                        "exchange type fanout against exchange type direct: PUBLISH shows no clear"
                        " difference (\N{MINUS SIGN}90 to +900 %)."
                    ),
                    (
                        "exchange type fanout against exchange type direct, PUBLISH at 10,000"
                        " msg/sec: latency +3 %, p99 +7 % and CPU per message +5 %; measured once,"
                        " so without an interval."
                    ),
                ],
            },
        ),
        (
            "hosts",
            {
                "How far does throughput grow with threads?": [
                    "CALL: from 475 with 1 thread to 640 msg/sec, with 2 threads.",
                    (
                        "CAST: 1,080 msg/sec, with 1 thread; a higher throughput of 1,710 msg/sec"
                        " with 2 threads was measured, but is in doubt: backlog."
                    ),
                    (
                        "NOTIFY: 1,090 msg/sec, with 1 thread; a higher throughput of 1,760 msg/sec"
                        " with 2 threads was measured, but is in doubt: backlog."
                    ),
                    "Bottleneck of 6 points: none found at 6.",
                ]
            },
        ),
    ],
)
def test_a_sample_answers_what_its_plan_asks(name: str, expected: dict[str, list[str]]) -> None:
    """The answers are sentences, with intervals if single runs have them."""
    assert replies(sample(name)) == expected


@pytest.mark.takes_long
def test_queues_are_compared_where_both_are_sound(sound: Tables) -> None:
    """The change with replication is given with its interval over repeats, at each best point."""
    assert [*replies(sound)] == [
        "How far does throughput grow with threads?",
        "How does throughput change with the kind of queue?",
    ]
    [changes] = replies(sound, "comparison").values()
    [rows] = [contrasts(sound, axis) for axis in named_axes(sound["points"])]
    row = rows[rows["figure"].eq("throughput_msg_s")].iloc[0]
    assert row["ratio_low"] < row["ratio"] < row["ratio_high"]
    assert changes == [
        (
            f"mirrored queues against classic queues: CALL \N{MINUS SIGN}"
            f"{100 * (1 - row['ratio']):.0f} % (\N{MINUS SIGN}{100 * (1 - row['ratio_low']):.0f} to"
            f" \N{MINUS SIGN}{100 * (1 - row['ratio_high']):.0f} %)."
        )
    ]


@pytest.mark.takes_long
def test_a_comparison_names_the_layout_that_both_sides_have() -> None:
    """The layout is named in the sentence, and beside the mark in the figure."""
    layouts = (*LAYOUTS, ("cs1ss2", "classic"), ("cs1ss2", "mirrored"))
    shape = Shape(layouts=layouts, test_cases=("rpc-call",), threads=(10,), repeats=2)
    frames = complete(tables(shape))
    [answer] = answers(frames, ("comparison",))
    begins = "mirrored queues against classic queues (Client -> Master, Server -> Master): CALL "
    assert plain(answer.sentences[0]).startswith(begins)
    assert answer.drawing is not None
    ticks = answer.drawing.figure().axes[0].get_yticklabels()
    labels = [tick.get_text().replace("\n", " ") for tick in ticks]
    assert labels[0].startswith("CALL, Client -> Master, Server -> Master: mirrored queues against")
    assert len({*labels}) == len(labels)


@pytest.mark.takes_long
def test_at_one_rate_latency_is_compared() -> None:
    """Latency and CPU per message are compared; throughput if one side does not keep up."""
    varying = (("rate_msg_s", (100.0,)),)
    frames = complete(tables(Shape(LAYOUTS, ("rpc-call",), (10,), parameters=varying)))
    sound = {**frames, "doubts": frames["doubts"][:0]}
    [(question, [cost])] = replies(sound, "comparison").items()
    assert question == "How does latency at the same rate change with the kind of queue?"
    begins, ends = "mirrored queues against classic queues, CALL at 100 msg/sec", r" \(.*\)"
    assert re.match(rf"{begins}: latency .*{ends}, p99 .*{ends} and CPU per message .*{ends}", cost)
    behind = doubted(sound, "rate-missed", [sound["points"]["point"].iloc[-1]])
    [(question, [change])] = replies(behind, "comparison").items()
    assert question == "How does throughput change with the kind of queue?"
    assert change.startswith("mirrored queues against classic queues: CALL ")


@pytest.mark.takes_long
def test_what_is_doubted_is_not_told(sound: Tables) -> None:
    """A doubtful point is no throughput and no side of a comparison; only the maximum names it."""
    mirrored = sound["points"]["queues"].eq("mirrored")
    frames = doubted(sound, "lost", [*sound["points"].loc[mirrored, "point"]])
    [(question, [change])] = replies(frames, "comparison").items()
    assert question == "How does throughput change with the kind of queue?"
    compared = "mirrored queues against classic queues: CALL"
    assert change == f"{compared} cannot be compared, because one side is in doubt."
    [[call, _]] = replies(frames, "scaling").values()
    assert call.endswith("no sound result for 1 other layout.")
    nothing = doubted(sound, "lost", [*sound["points"]["point"]])
    [[call, _]] = replies(nothing, "scaling").values()
    assert call.startswith("CALL: no sound result, because no point is beyond doubt; the highest")


@pytest.mark.takes_long
@pytest.mark.parametrize(
    ("factors", "words"),
    [((0.8, 1.0, 1.2), "\N{MINUS SIGN}.*to \N{MINUS SIGN}"), ((0.3, 1.0, 1.9), "no ")],
)
def test_repeats_that_differ_are_compared_by_their_interval(
    factors: tuple[float, ...], words: str
) -> None:
    """Only a difference larger than the spread of the repeats is reported."""
    frames = tables(Shape(LAYOUTS, ("rpc-call",), (10,), repeats=3))
    by_repeat = frames["messages"]["repeat"].map(dict(enumerate(factors, 1))).astype(float)
    rates = frames["messages"]["throughput_msg_s"] * by_repeat
    scattered = complete({**frames, "messages": frames["messages"].assign(throughput_msg_s=rates)})
    spread = scattered["doubts"].query("kind == 'spread'")
    assert {*spread["point"]} == {*scattered["points"]["point"]}
    [[change]] = replies({**scattered, "doubts": spread}, "comparison").values()
    assert re.search(f"CALL (shows )?{words}", change)


def test_the_first_point_has_its_doubts(sound: Tables) -> None:
    """The doubts of the first point follow its number; without doubts nothing is added."""
    [[call, _]] = replies(sound, "scaling").values()
    assert re.match(r"CALL \(classic queues\): from \d+ with 10 threads to [\d,]+ \(", call)
    points = sound["points"]
    first = points.loc[points["threads"].eq(10) & points["queues"].eq("classic"), "point"]
    [[call, _]] = replies(doubted(sound, "backlog", [*first]), "scaling").values()
    assert re.match(r"CALL \(classic queues\): from \d+ \(doubted: backlog\) with 10 threads", call)


@pytest.mark.takes_long
def test_the_least_is_what_is_known_to_be_sustained() -> None:
    """If the send rate is unknown, the least throughput is given as an upper bound."""
    frames = dict(tables(Shape(layouts=LAYOUTS, test_cases=("rpc-cast",), threads=(10,))))
    for unknown, words in (("mirrored", "; the lowest is at most "), ("", "; the lowest is 5")):
        rates = frames["messages"]["send_rate_msg_s"].mask(frames["runs"]["queues"].eq(unknown))
        messages = frames["messages"].assign(send_rate_msg_s=rates)
        completed = {**complete({**frames, "messages": messages}), "doubts": frames["doubts"][:0]}
        assert words in replies(completed, "scaling")["How high is throughput?"][0]


@pytest.mark.takes_long
def test_repeats_that_are_equal_were_not_measured_once() -> None:
    """Equal repeats give no interval, and the stated reason is not that of a single run."""
    frames = dict(tables(Shape(layouts=LAYOUTS, test_cases=("rpc-call",), threads=(10,))))
    messages = frames["messages"]
    rates = messages["queues"].map({"classic": 200.0, "mirrored": 100.0}).astype(float)
    frames["messages"] = messages.assign(throughput_msg_s=rates, send_rate_msg_s=rates)
    completed = {**complete(frames), "doubts": frames["doubts"][:0]}
    [[change]] = replies(completed, "comparison").values()
    assert change.endswith("CALL \N{MINUS SIGN}50 %; equal in all repeats, so without an interval.")


@pytest.mark.takes_long
def test_doubts_of_latencies_are_told_beside_them() -> None:
    """The doubts about latency are named in the comparison at the same rate."""
    varying = (("rate_msg_s", (100.0,)),)
    frames = complete(tables(Shape(LAYOUTS, ("rpc-call",), (10,), parameters=varying)))
    late = doubted(frames, "sender-late", [frames["points"]["point"].iloc[0]])
    [[cost]] = replies(late, "comparison").values()
    assert cost.endswith("; doubted: sender-late.")
    [[cost]] = replies({**frames, "doubts": frames["doubts"][:0]}, "comparison").values()
    assert "doubted" not in cost


@pytest.mark.takes_long
def test_single_runs_ask_for_repeats() -> None:
    """Without intervals the answer says, once, that repeats would give them and how to get them."""
    shape = Shape(layouts=LAYOUTS, test_cases=("rpc-call",), threads=(10, 20), repeats=1)
    frames = complete(tables(shape))
    screen = first_screen({**frames, "doubts": frames["doubts"][:0]})
    assert [plain(text) for text in screen.settle] == [
        "repeats: 3 or more would show how much these numbers vary from run to run.",
        "Change the plan and run it again: mqperf run PLAN measures only what is missing.",
    ]


@pytest.mark.parametrize(
    ("needed", "sentences"),
    [
        ([12, 7], ["repeats: 12 would decide what is still open."]),
        ([2, 3], ["repeats: 4 would decide what is still open."]),
        (
            [12, None],
            [
                "repeats: 12 would decide some of what is still open.",
                (
                    "100 repeats would not decide some of what is still open; longer runs"
                    " (duration_s) vary less."
                ),
            ],
        ),
        (
            [None, None],
            [
                (
                    "100 repeats would not decide what is still open; longer runs"
                    " (duration_s) vary less."
                )
            ],
        ),
    ],
)
def test_repeats_are_asked_for_where_they_would_tell(
    needed: list[int | None], sentences: list[str]
) -> None:
    """The proposed number exceeds the repeats that exist, and is never above a hundred."""
    rows = pd.DataFrame(
        {
            "interval_kind": "repeats",
            "verdict": "cannot tell",
            "clock_share": 0.0,
            "repeats_a": 3,
            "repeats_b": 3,
            "repeats_needed": pd.array(needed, "Int64"),
        }
    )
    assert [plain(text) for text in enough_repeats(rows)] == sentences
    assert [*enough_repeats(rows.assign(clock_share=np.inf))] == []
    assert [*enough_repeats(rows.assign(verdict="better"))] == []
    within = rows.assign(interval_kind="within run", repeats_a=1, repeats_b=1)
    assert [plain(text) for text in enough_repeats(within)] == [plain(MORE_REPEATS)]


def test_a_cause_of_doubt_is_one_line_the_heaviest_first(sound: Tables) -> None:
    """Each line says at how many points; an unknown kind counts as a note."""
    points = [*sound["points"]["point"]]
    parts = [
        doubted(sound, kind, points[:number])["doubts"]
        for kind, number in (("peak-at-edge", 1), ("noisy-host", 2), ("causality", 1))
    ]
    frames = {**sound, "doubts": pd.concat(parts)}
    assert [*uncertain(frames)] == [
        "Wrong: messages were received before they were sent, at 1 of 4 points (causality).",
        "Limited: other processes used the host, at 2 of 4 points (noisy-host).",
        "Note: the best throughput is at the edge of the sweep, at 1 of 4 points (peak-at-edge).",
    ]
    assert [*uncertain(sound)] == []
    [beside] = uncertain(doubted(sound, "not-of-plan", [*"abcde"]))
    assert beside.endswith(", at no single point (not-of-plan).")


@pytest.mark.parametrize(
    "failure",
    ["Broker ended with exit code 3; its log ends:\n  12:01 INFO: no heap", "Broker ended: why"],
)
def test_why_attempts_failed_is_told_in_a_few_words(sound: Tables, failure: str) -> None:
    """The broker's log is left out of the first screen."""
    runs = sound["runs"].copy()
    failed = runs[runs["status"].ne("failed")].head(1).assign(status="failed", failure=failure)
    frames = doubted(sound, "failed-run", [runs["point"].iloc[0]])
    [line] = uncertain({**frames, "runs": failed})
    finding, _, why = line.partition(" (failed-run): ")
    assert finding == "Note: an attempt failed, at 1 of 4 points"
    assert why in {"Broker ended with exit code 3.", "Broker ended."}


def test_a_doubt_about_both_sides_is_said_once() -> None:
    """The doubt does not name side A or B, which only the tables define."""
    assert (
        cited("A: missing-run, noisy-host; B: noisy-host") == "; doubted: missing-run, noisy-host"
    )
    assert cited(None) == cited("") == ""


def test_every_check_says_what_it_found_and_how_much_it_matters() -> None:
    """Each kind of doubt has a short description of its own."""
    assert {check.weight for check in CHECKS.values()} == {*WEIGHTS}
    findings = [check.finding for check in CHECKS.values()]
    assert all(not text[:2].istitle() and not text.endswith(".") for text in findings)
    assert len({*findings}) == len(findings)


def test_a_terminal_a_notebook_and_a_page_show_the_same(sound: Tables) -> None:
    """All show each sentence of the answers, what was measured, and the table."""
    screen = first_screen(sound)
    shown = [" ".join(" ".join(lines(screen, width)).split()) for width in (40, 100)]
    shown.append(as_html(screen).replace("&gt;", ">"))
    for answer in screen.answers:
        for text in answer.sentences:
            assert all(plain(text) in form for form in shown)
    assert all("sustained, msg/sec" in form for form in shown)
    assert 'src="data:image/svg+xml;base64,' in shown[2]


def test_a_plan_names_its_questions(tmp_path: Path, sound: Tables) -> None:
    """Answers come in the plan's order; an unknown question is an error with a suggestion."""
    plan = parse_plan(f"question: [comparison, scaling]\n{PLAN}", tmp_path / "plan.yaml")
    assert (
        next(iter(replies(sound, *plan.question)))
        == "How does throughput change with the kind of queue?"
    )
    (tmp_path / "plan.yaml").write_text(f"question: scaling\n{PLAN}")
    [answer] = first_screen(sound, *plan_of(tmp_path)).answers
    assert answer.question == "How far does throughput grow with threads?"
    with pytest.raises(PlanError, match="unknown question 'scalin'; did you mean 'scaling'"):
        parse_plan(f"question: scalin\n{PLAN}", tmp_path / "plan.yaml")


@pytest.mark.takes_long
def test_a_question_without_an_answer_hides_none() -> None:
    """If the plan's question has no answer, the questions that fit the runs are answered."""
    frames = complete(tables(Shape(layouts=LAYOUTS[:1], test_cases=("rpc-call",), repeats=3)))
    assert ANSWERS["comparison"].answer(frames) is None
    questions = [answer.question for answer in answers(frames)]
    assert [answer.question for answer in answers(frames, ["comparison"])] == questions != []


def test_a_plan_that_cannot_be_read_is_told(tmp_path: Path, sound: Tables) -> None:
    """The reason is shown; the questions that fit the runs are answered nevertheless."""
    assert first_screen(sound, *plan_of(tmp_path)).uncertain == []
    (tmp_path / "plan.yaml").write_text(f"question: scalin\n{PLAN}")
    screen = first_screen(sound, *plan_of(tmp_path))
    assert screen.answers
    [note] = screen.uncertain
    assert note.startswith("Note: the plan of the runs cannot be read, ")
    assert "unknown question 'scalin'" in note
    assert title(tmp_path) == tmp_path.name
    assert planned(tmp_path).empty


@pytest.mark.takes_long
def test_an_audit_tells_of_a_plan_that_cannot_be_read(root: Path, tmp_path: Path) -> None:
    """The audit says so, since it cannot check the runs against the plan."""
    folder = shutil.copytree(root / "data/samples/faults", tmp_path / "faults")
    assert "cannot be read" not in CliRunner().invoke(app, ["audit", str(folder)]).output
    (folder / "plan.yaml").write_text("systems: [")
    audit = CliRunner().invoke(app, ["audit", str(folder)])
    assert (audit.exit_code, "plan of the runs cannot be read" in audit.output) == (0, True)


@pytest.mark.takes_long
def test_a_test_case_that_is_not_installed_is_told() -> None:
    """An unknown test case, as of an imported report, is named; the others are answered."""
    frames = tables(Shape(layouts=LAYOUTS, test_cases=("rpc-call", "notify"), threads=(10, 20)))
    renamed = {
        name: frame.replace({"test_case": {"notify": "other"}}) for name, frame in frames.items()
    }
    screen = first_screen(complete(renamed))
    assert screen.answers
    assert any("at the test case 'other' not shown: known are" in text for text in screen.uncertain)
    assert [*answers(complete(renamed), ["scaling", "comparison"])]


def test_every_question_of_plans_is_answered() -> None:
    """The registry of questions and the registry of answers have the same names."""
    assert sorted(QUESTIONS) == sorted(ANSWERS)
