"""What plans ask, and the first screen that answers it."""

import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from factory import Shape, tables
from said import doubted, said, sample
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


def test_what_was_offered_is_no_limit() -> None:
    """Of one rate that all layouts keep up with, nobody is the least, and more may be possible."""
    frames = tables(Shape(layouts=LAYOUTS, test_cases=("rpc-cast",), threads=(10,), repeats=3))
    frames = {name: frame.copy() for name, frame in frames.items()}
    for name in ("runs", "points"):
        frames[name]["rate_msg_s"] = 200.0
    frames["messages"] = frames["messages"].assign(
        throughput_msg_s=200.0, send_rate_msg_s=200.0, offered_rate_msg_s=200.0
    )
    frames = {**complete(frames), "doubts": frames["doubts"][:0]}
    sentence = said(frames, "scaling")["How high is throughput?"][0]
    assert sentence == (
        "CAST (classic queues): at least 200 (200 to 200) msg/sec, all that was offered, with"
        " 10 threads."
    )
    for rate, limiting in ((200.0, False), (np.nan, True)):
        runs = frames["runs"].assign(rate_msg_s=rate)
        full = frames["bottlenecks"].assign(bottleneck="broker: Master")
        told = said({**frames, "runs": runs, "bottlenecks": full}, "scaling").popitem()[1][0]
        assert ("a broker node is the limit there" in told) == limiting


def test_none_is_the_best_of_those_that_finish_all_that_was_offered() -> None:
    """It is told of how many points it is, and of one what it was measured with."""
    for sizes, words in (((10, 20), "at 2 of 2 points."), ((10,), "with 10 threads.")):
        varying = (("rate_msg_s", (200.0,)), ("payload_bytes", sizes))
        frames = tables(Shape((LAYOUTS[0],), ("rpc-cast",), (10,), parameters=varying))
        of_all = {"throughput_msg_s": 200.0, "send_rate_msg_s": 200.0, "offered_rate_msg_s": 200.0}
        offered = {**frames, "messages": frames["messages"].assign(**of_all)}
        told = {**complete(offered), "doubts": frames["doubts"][:0]}
        [_, [sentence, _]] = [*said(told, "scaling").popitem()]
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
                        " duplicated and throughput as before 1.5 s after its end."
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
                        " throughput as before 7.0 s after its end."
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
                        "exchange type fanout against exchange type direct: PUBLISH is not told"
                        " apart (\N{MINUS SIGN}90 to +900 %)."
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
                        "CAST: 1,080 msg/sec, with 1 thread; more was seen, 1,710 msg/sec with 2"
                        " threads, doubted: backlog."
                    ),
                    (
                        "NOTIFY: 1,090 msg/sec, with 1 thread; more was seen, 1,760 msg/sec with 2"
                        " threads, doubted: backlog."
                    ),
                    "Bottleneck of 6 points: none found at 6.",
                ]
            },
        ),
    ],
)
def test_a_sample_answers_what_its_plan_asks(name: str, expected: dict[str, list[str]]) -> None:
    """In words, with intervals where single runs have them."""
    assert said(sample(name)) == expected


def test_queues_are_compared_where_both_are_sound(sound: Tables) -> None:
    """What replication changes has its interval over the repeats, at the best point of each."""
    assert [*said(sound)] == [
        "How far does throughput grow with threads?",
        "How does throughput change with the kind of queue?",
    ]
    [changes] = said(sound, "comparison").values()
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


def test_a_comparison_names_the_layout_that_both_sides_have() -> None:
    """In its sentence, and beside its mark in the figure."""
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


def test_at_one_rate_latency_is_compared() -> None:
    """And CPU for a message, where both keep up with it; throughput where one side does not."""
    varying = (("rate_msg_s", (100.0,)),)
    frames = complete(tables(Shape(LAYOUTS, ("rpc-call",), (10,), parameters=varying)))
    sound = {**frames, "doubts": frames["doubts"][:0]}
    [(question, [cost])] = said(sound, "comparison").items()
    assert question == "How does latency at the same rate change with the kind of queue?"
    begins, ends = "mirrored queues against classic queues, CALL at 100 msg/sec", r" \(.*\)"
    assert re.match(rf"{begins}: latency .*{ends}, p99 .*{ends} and CPU per message .*{ends}", cost)
    behind = doubted(sound, "rate-missed", [sound["points"]["point"].iloc[-1]])
    [(question, [change])] = said(behind, "comparison").items()
    assert question == "How does throughput change with the kind of queue?"
    assert change.startswith("mirrored queues against classic queues: CALL ")


def test_what_is_doubted_is_not_told(sound: Tables) -> None:
    """Neither as a throughput nor as a side of a comparison; the most that was seen is."""
    mirrored = sound["points"]["queues"].eq("mirrored")
    frames = doubted(sound, "lost", [*sound["points"].loc[mirrored, "point"]])
    assert said(frames, "comparison") == {
        "How does throughput change with the kind of queue?": [
            "mirrored queues against classic queues: CALL cannot be told, as a side is doubted."
        ]
    }
    [[call, _]] = said(frames, "scaling").values()
    assert call.endswith("1 other layout cannot be told.")
    nothing = doubted(sound, "lost", [*sound["points"]["point"]])
    [[call, _]] = said(nothing, "scaling").values()
    assert call.startswith("CALL: cannot be told, as no point is beyond doubt; the most that was")


@pytest.mark.parametrize(
    ("factors", "said_of_it"),
    [((0.8, 1.0, 1.2), "\N{MINUS SIGN}.*to \N{MINUS SIGN}"), ((0.3, 1.0, 1.9), "not")],
)
def test_repeats_that_differ_are_compared_by_their_interval(
    factors: tuple[float, ...], said_of_it: str
) -> None:
    """It tells a difference that is larger than theirs, and no other."""
    frames = tables(Shape(LAYOUTS, ("rpc-call",), (10,), repeats=3))
    by_repeat = frames["messages"]["repeat"].map(dict(enumerate(factors, 1))).astype(float)
    rates = frames["messages"]["throughput_msg_s"] * by_repeat
    scattered = complete({**frames, "messages": frames["messages"].assign(throughput_msg_s=rates)})
    spread = scattered["doubts"].query("kind == 'spread'")
    assert {*spread["point"]} == {*scattered["points"]["point"]}
    [[change]] = said({**scattered, "doubts": spread}, "comparison").values()
    assert re.search(f"CALL (is )?{said_of_it}", change)


def test_where_it_grew_from_has_its_doubts(sound: Tables) -> None:
    """Beside its number; where there are none, nothing is said of them."""
    [[call, _]] = said(sound, "scaling").values()
    assert re.match(r"CALL \(classic queues\): from \d+ with 10 threads to [\d,]+ \(", call)
    points = sound["points"]
    first = points.loc[points["threads"].eq(10) & points["queues"].eq("classic"), "point"]
    [[call, _]] = said(doubted(sound, "backlog", [*first]), "scaling").values()
    assert re.match(r"CALL \(classic queues\): from \d+ \(doubted: backlog\) with 10 threads", call)


def test_the_least_is_what_is_known_to_be_sustained() -> None:
    """Where the rate of sending is not known, it may be less."""
    frames = dict(tables(Shape(layouts=LAYOUTS, test_cases=("rpc-cast",), threads=(10,))))
    for unknown, words in (("mirrored", "; the least is at most "), ("", "; the least is 5")):
        rates = frames["messages"]["send_rate_msg_s"].mask(frames["runs"]["queues"].eq(unknown))
        messages = frames["messages"].assign(send_rate_msg_s=rates)
        completed = {**complete({**frames, "messages": messages}), "doubts": frames["doubts"][:0]}
        assert words in said(completed, "scaling")["How high is throughput?"][0]


def test_repeats_that_are_equal_were_not_measured_once() -> None:
    """They have no interval, either, and another reason."""
    frames = dict(tables(Shape(layouts=LAYOUTS, test_cases=("rpc-call",), threads=(10,))))
    messages = frames["messages"]
    rates = messages["queues"].map({"classic": 200.0, "mirrored": 100.0}).astype(float)
    frames["messages"] = messages.assign(throughput_msg_s=rates, send_rate_msg_s=rates)
    completed = {**complete(frames), "doubts": frames["doubts"][:0]}
    [[change]] = said(completed, "comparison").values()
    assert change.endswith("CALL \N{MINUS SIGN}50 %; equal in all repeats, so without an interval.")


def test_doubts_of_latencies_are_told_beside_them() -> None:
    """What is said at one rate is of latency, which such doubts are about."""
    varying = (("rate_msg_s", (100.0,)),)
    frames = complete(tables(Shape(LAYOUTS, ("rpc-call",), (10,), parameters=varying)))
    late = doubted(frames, "sender-late", [frames["points"]["point"].iloc[0]])
    [[cost]] = said(late, "comparison").values()
    assert cost.endswith("; doubted: sender-late.")
    [[cost]] = said({**frames, "doubts": frames["doubts"][:0]}, "comparison").values()
    assert "doubted" not in cost


def test_single_runs_ask_for_repeats() -> None:
    """Without an interval it is said what would give one, once, and how."""
    shape = Shape(layouts=LAYOUTS, test_cases=("rpc-call",), threads=(10, 20), repeats=1)
    frames = complete(tables(shape))
    screen = first_screen({**frames, "doubts": frames["doubts"][:0]})
    assert [plain(text) for text in screen.settle] == [
        "repeats: 3 or more would tell how much these numbers differ by themselves.",
        "Say so in the plan, and run it again: mqperf run PLAN measures what is missing.",
    ]


@pytest.mark.parametrize(
    ("needed", "sentences"),
    [
        ([12, 7], ["repeats: 12 would tell whether what is left open differs."]),
        ([2, 3], ["repeats: 4 would tell whether what is left open differs."]),
        (
            [12, None],
            [
                "repeats: 12 would tell whether some of what is left open differs.",
                (
                    "Longer runs (duration_s) differ less: 100 repeats would not tell whether"
                    " some of what is left open differs."
                ),
            ],
        ),
        (
            [None, None],
            [
                (
                    "Longer runs (duration_s) differ less: 100 repeats would not tell whether"
                    " what is left open differs."
                )
            ],
        ),
    ],
)
def test_repeats_are_asked_for_where_they_would_tell(
    needed: list[int | None], sentences: list[str]
) -> None:
    """More than there are; and nobody is asked for more than a thousand."""
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
    """It says at how many points; a kind that nobody knows is a note."""
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
    """The log of a broker is not for the first screen."""
    runs = sound["runs"].copy()
    failed = runs[runs["status"].ne("failed")].head(1).assign(status="failed", failure=failure)
    frames = doubted(sound, "failed-run", [runs["point"].iloc[0]])
    [line] = uncertain({**frames, "runs": failed})
    told, _, why = line.partition(" (failed-run): ")
    assert told == "Note: an attempt failed, at 1 of 4 points"
    assert why in {"Broker ended with exit code 3.", "Broker ended."}


def test_a_doubt_about_both_sides_is_said_once() -> None:
    """Which side is A is a matter of tables."""
    assert (
        cited("A: missing-run, noisy-host; B: noisy-host") == "; doubted: missing-run, noisy-host"
    )
    assert cited(None) == cited("") == ""


def test_every_check_says_what_it_found_and_how_much_it_matters() -> None:
    """In a few words, each in its own."""
    assert {check.weight for check in CHECKS.values()} == {*WEIGHTS}
    findings = [check.finding for check in CHECKS.values()]
    assert all(not text[:2].istitle() and not text.endswith(".") for text in findings)
    assert len({*findings}) == len(findings)


def test_a_terminal_a_notebook_and_a_page_show_the_same(sound: Tables) -> None:
    """Each sentence of the answers, what was measured, and the table."""
    screen = first_screen(sound)
    shown = [" ".join(" ".join(lines(screen, width)).split()) for width in (40, 100)]
    shown.append(as_html(screen).replace("&gt;", ">"))
    for answer in screen.answers:
        for text in answer.sentences:
            assert all(plain(text) in form for form in shown)
    assert all("sustained, msg/sec" in form for form in shown)
    assert 'src="data:image/svg+xml;base64,' in shown[2]


def test_a_plan_names_its_questions(tmp_path: Path, sound: Tables) -> None:
    """In its order; a name that is none's is an error which says what there is."""
    plan = parse_plan(f"question: [comparison, scaling]\n{PLAN}", tmp_path / "plan.yaml")
    assert (
        next(iter(said(sound, *plan.question)))
        == "How does throughput change with the kind of queue?"
    )
    (tmp_path / "plan.yaml").write_text(f"question: scaling\n{PLAN}")
    [answer] = first_screen(sound, *plan_of(tmp_path)).answers
    assert answer.question == "How far does throughput grow with threads?"
    with pytest.raises(PlanError, match="unknown question 'scalin'; did you mean 'scaling'"):
        parse_plan(f"question: scalin\n{PLAN}", tmp_path / "plan.yaml")


def test_a_question_without_an_answer_hides_none() -> None:
    """Where nothing was changed that was to be compared, the runs answer what they ask."""
    frames = complete(tables(Shape(layouts=LAYOUTS[:1], test_cases=("rpc-call",), repeats=3)))
    assert ANSWERS["comparison"].answer(frames) is None
    asked = [answer.question for answer in answers(frames)]
    assert [answer.question for answer in answers(frames, ["comparison"])] == asked != []


def test_a_plan_that_cannot_be_read_is_told(tmp_path: Path, sound: Tables) -> None:
    """With the reason; what the runs ask themselves is answered nevertheless."""
    assert first_screen(sound, *plan_of(tmp_path)).uncertain == []
    (tmp_path / "plan.yaml").write_text(f"question: scalin\n{PLAN}")
    screen = first_screen(sound, *plan_of(tmp_path))
    assert screen.answers
    [note] = screen.uncertain
    assert note.startswith("Note: the plan of the runs cannot be read, ")
    assert "unknown question 'scalin'" in note
    assert title(tmp_path) == tmp_path.name
    assert planned(tmp_path).empty


def test_an_audit_tells_of_a_plan_that_cannot_be_read(root: Path, tmp_path: Path) -> None:
    """What it holds against the plan is not found: that nobody takes for sound."""
    folder = shutil.copytree(root / "data/samples/faults", tmp_path / "faults")
    assert "cannot be read" not in CliRunner().invoke(app, ["audit", str(folder)]).output
    (folder / "plan.yaml").write_text("systems: [")
    audit = CliRunner().invoke(app, ["audit", str(folder)])
    assert (audit.exit_code, "plan of the runs cannot be read" in audit.output) == (0, True)


def test_a_test_case_that_is_not_installed_is_told() -> None:
    """Of a published report of another laboratory, say: the others are answered."""
    frames = tables(Shape(layouts=LAYOUTS, test_cases=("rpc-call", "notify"), threads=(10, 20)))
    renamed = {
        name: frame.replace({"test_case": {"notify": "other"}}) for name, frame in frames.items()
    }
    screen = first_screen(complete(renamed))
    assert screen.answers
    assert any("at the test case 'other' not shown: known are" in text for text in screen.uncertain)
    assert [*answers(complete(renamed), ["scaling", "comparison"])]


def test_every_question_of_plans_is_answered() -> None:
    """The registries of names and of answers have the same names."""
    assert sorted(QUESTIONS) == sorted(ANSWERS)
