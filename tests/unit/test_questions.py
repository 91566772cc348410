"""What plans ask, and the first screen that answers it."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from factory import Shape, tables

from mqperf.base.errors import PlanError
from mqperf.front.api import read
from mqperf.pages.questions import ANSWERS, answers
from mqperf.pages.questions.basis import uncertain
from mqperf.pages.questions.comparison import KEPT_ENDS
from mqperf.pages.questions.first_screen import as_html, first_screen, lines, questions_of
from mqperf.pages.questions.question import MORE_REPEATS, enough_repeats
from mqperf.pages.questions.saturation import sentences
from mqperf.pages.questions.words import cited
from mqperf.pages.sections.forms import plain
from mqperf.plan.file import parse_plan
from mqperf.plan.questions import QUESTIONS
from mqperf.study.stats import complete
from mqperf.study.stats.contrasts import contrasts, contrasts_of_rates, named_axes
from mqperf.study.stats.doubt_kinds import CHECKS, WEIGHTS
from mqperf.study.tables import Tables, conform, of_plan

SAMPLES = Path(__file__).parents[2] / "data/samples"

PLAN = """\
systems: {rabbitmq: {topologies: [cmsm]}}
load: {green_threads: 1, duration_s: 3}
"""

LAYOUTS = (("cmsm", "classic"), ("cmsm", "mirrored"))


def sample(name: str) -> Tables:
    return of_plan(read(SAMPLES / name).complete)


def said(frames: Tables, *named: str) -> dict[str, list[str]]:
    """Question -> the sentences of its answer."""
    return {
        answer.question: [plain(text) for text in answer.sentences]
        for answer in answers(frames, named)
    }


def test_losses_of_one_load_are_not_those_of_another() -> None:
    """Of two ways to settle there is a sentence for each, and no range over both."""
    frames = {**sample("faults")}
    for name in ("runs", "points", "messages", "outages", "action_phases"):
        first = frames[name]
        again = {key: first[key] + "-again" for key in {"run", "point"} & {*first.columns}}
        again |= {"lost": first["lost"] * 2} if "lost" in first.columns else {}
        other = first.assign(**again)
        if name in {"runs", "points"}:
            first, other = (
                frame.assign(settlement=value)
                for frame, value in ((first, "at-least-once"), (other, "pre-settled"))
            )
        frames[name] = pd.concat([first, other], ignore_index=True)
    [sentences] = said(frames, "outage").values()
    assert [text.partition(" lost")[0] for text in sentences] == [
        "stop of R2 for 3.0 s (settlement at-least-once): no message for 9.1 s, 4,558",
        "stop of R2 for 3.0 s (settlement pre-settled): no message for 9.1 s, 9,116",
    ]


def test_losses_of_some_repeats_are_not_those_of_all() -> None:
    """Where those of others are not known, it is said of how many they are."""
    frames = {**sample("faults")}
    for name in ("runs", "messages", "outages", "action_phases"):
        other = frames[name].assign(run=frames[name]["run"] + "-again")
        if name == "action_phases":
            other = other.assign(lost=pd.array([pd.NA] * len(other), dtype="Int64"))
        frames[name] = pd.concat([frames[name], other], ignore_index=True)
    [[sentence]] = said(frames, "outage").values()
    assert "(2 times): no message for 9.1 s, 4,558 lost in 1 of 2, 0 duplicated and" in sentence


def test_a_pause_that_may_be_chance_is_told_with_its_doubt() -> None:
    """Other doubts of the run are told beside the answers."""
    frames = sample("faults")
    run = frames["outages"]["run"].iloc[0]
    for kind, told in (("pause-by-chance", True), ("lost", False)):
        doubts = pd.DataFrame({"run": [run], "kind": kind})
        planted = {**frames, "doubts": doubts.reindex(columns=frames["doubts"].columns)}
        [[sentence]] = said(planted, "outage").values()
        assert sentence.endswith("after its end; doubted: pause-by-chance.") == told


def test_duplicates_of_several_actions_are_those_of_the_run() -> None:
    """They are counted for a run, so the same ones stand beside each of its actions."""
    frames = {**sample("faults")}
    frames["messages"] = frames["messages"].assign(duplicates=5)
    for name in ("outages", "action_phases"):
        other = frames[name].assign(node="R3", commanded_s=12.0)
        frames[name] = pd.concat([frames[name], other], ignore_index=True)
    [sentences] = said(frames, "outage").values()
    assert [", 5 duplicated in the whole run and " in text for text in sentences] == [True] * 2


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


def doubted(frames: Tables, kind: str, points: list[str]) -> Tables:
    doubts = pd.DataFrame([{"kind": kind, "point": point, "text": "so it is"} for point in points])
    return {**frames, "doubts": doubts.reindex(columns=frames["doubts"].columns)}


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


def test_a_failure_without_a_pause_tells_of_the_slowest() -> None:
    """As where some connections of many are cut."""
    frames = sample("wan")
    outages = frames["outages"].assign(outage_s=0.03)
    phases = frames["action_phases"].assign(latency_max_s=1.1)
    [sentence] = said({**frames, "outages": outages, "action_phases": phases}, "outage").popitem()[
        1
    ]
    assert "for 5.0 s: creations at all times, the slowest took 1.1 s, 0 lost" in sentence


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
    labels = [label.get_text() for label in answer.drawing.figure().axes[0].get_yticklabels()]
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
    frames = doubted(sound, "spread", [*sound["points"].loc[mirrored, "point"]])
    assert said(frames, "comparison") == {
        "How does throughput change with the kind of queue?": [
            "mirrored queues against classic queues: CALL cannot be told, as a side is doubted."
        ]
    }
    [[call, _]] = said(frames, "scaling").values()
    assert call.endswith("1 other layout cannot be told.")
    nothing = doubted(sound, "spread", [*sound["points"]["point"]])
    [[call, _]] = said(nothing, "scaling").values()
    assert call.startswith("CALL: cannot be told, as no point is beyond doubt; the most that was")


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


def bracketed(*ends: tuple[float, float]) -> str:
    """What is said of brackets of four layouts."""
    kept, missed = zip(*ends, strict=True)
    rates = {"kept_rate_msg_s": kept, "missed_rate_msg_s": missed, "what": list("abcd")}
    [sentence] = sentences(
        pd.DataFrame({"test_case": "publish", "limit": None, "doubted": None, **rates})
    )
    return plain(sentence).removeprefix("PUBLISH: ")


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ([(50, 100)] * 4, "50 to 100 msg/sec in all 4 cases."),
        (
            [(50, 100), (50, 200), (50, 100), (50, 100)],
            "50 to 200 msg/sec with b; the least is 50 to 100 msg/sec with d.",
        ),
        (
            [(50, 100), (50, 100), (50, np.nan), (50, 100)],
            "at least 50 msg/sec with c; the least is 50 to 100 msg/sec with d.",
        ),
        (
            [(np.nan, 400), (np.nan, 100), (np.nan, 400), (50, 100)],
            "50 to 100 msg/sec with d; the least is less than 100 msg/sec with b.",
        ),
    ],
)
def test_the_highest_and_the_least_bracket_are_told(
    ends: list[tuple[float, float]], words: str
) -> None:
    """By both ends; and that all are alike where they are."""
    assert bracketed(*ends) == words


def climbed(queues: str, run: str, unfinished: list[int]) -> pd.DataFrame:
    """Steps of 100, 200, 400 ... msg/sec of a run, with what is left at the end of each."""
    rates = [100.0 * 2**step for step in range(len(unfinished))]
    finished = rates - np.diff(unfinished, prepend=0)
    steps = {"step_rate_msg_s": rates, "throughput_msg_s": finished, "unfinished": unfinished}
    times = {"from_s": range(len(rates)), "until_s": range(1, len(rates) + 1)}
    where = {"run": run, "topology": "cmsm", "queues": queues, "test_case": "rpc-cast"}
    rows = pd.DataFrame({**where, **steps, **times, "latency_mean_s": 0.001})
    return conform("rate_steps", rows)


def test_staircases_are_answered_by_what_was_kept() -> None:
    """Each layout between two steps; a comparison has all that these leave open.

    Systems of which each has a kind of queue of its own are no pair.
    """
    read = dict(tables(Shape(layouts=LAYOUTS, test_cases=("rpc-cast",), threads=(10,), repeats=1)))
    runs = read["runs"].assign(rate_msg_s=100.0, ramp_steps=6)
    run = runs[runs["status"].eq("done")].groupby("queues")["run"].first()
    steps = [
        climbed("classic", run["classic"], [0, 1, 3, 9, 20, 2000]),
        climbed("mirrored", run["mirrored"], [0, 50, 300, 950, 2400, 5450]),
    ]
    frames = complete({**read, "runs": runs, "rate_steps": pd.concat(steps)})
    assert not {*frames["doubts"]["kind"]} & {"rate-missed", "unequal-rates", "sender-late"}
    frames = {**frames, "doubts": frames["doubts"][:0]}
    rates = frames["saturation_rates"]
    first = {**frames, "saturation_rates": rates[rates["queues"].eq("classic")]}
    assert said(first, "saturation") == {
        "Which rate does it keep up with?": [
            "CAST: 1,600 to 3,200 msg/sec with classic queues; mean 1 ms at 1,600."
        ]
    }
    lowest = rates[rates["queues"].eq("mirrored")].assign(
        queues="quorum", kept_rate_msg_s=50, missed_rate_msg_s=100
    )
    log = lowest.assign(queues="stream", kept_rate_msg_s=25, missed_rate_msg_s=50)
    four = {**frames, "saturation_rates": pd.concat([log, lowest, rates])}
    [[sentence]] = said(four, "saturation").values()
    assert sentence == (
        "CAST: 1,600 to 3,200 msg/sec with classic queues; the least is 25 to 50 msg/sec with"
        " streams."
    )
    mirrored = frames["points"].loc[frames["points"]["queues"].eq("mirrored"), "point"]
    [answer] = answers(doubted(four, "noisy-host", [*mirrored]), ("saturation",))
    assert answer.table is not None
    assert "doubted" in answer.table.columns
    alike = four["saturation_rates"].assign(kept_rate_msg_s=50, missed_rate_msg_s=100)
    [[sentence]] = said({**frames, "saturation_rates": alike}, "saturation").values()
    assert sentence == "CAST: 50 to 100 msg/sec in all 4 cases."
    systems = frames["saturation_rates"].assign(system=["rabbitmq", "kafka"])
    assert contrasts_of_rates(frames, systems, "system", KEPT_ENDS).empty
    assert said({**frames, "saturation_rates": rates}) == {
        "Which rate does it keep up with?": [
            (
                "CAST: 1,600 to 3,200 msg/sec with classic queues; 100 to 200 msg/sec with mirrored"
                " queues."
            )
        ],
        "How does throughput change with the kind of queue?": [
            ("mirrored queues against classic queues: CAST \N{MINUS SIGN}97 to \N{MINUS SIGN}88 %.")
        ],
    }


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
                    "Longer runs (duration_s) differ less: 1,000 repeats would not tell whether"
                    " some of what is left open differs."
                ),
            ],
        ),
        (
            [None, None],
            [
                (
                    "Longer runs (duration_s) differ less: 1,000 repeats would not tell whether"
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
    assert beside.endswith(", beside the points (not-of-plan).")


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
    assert 'src="data:image/png;base64,' in shown[2]


def test_a_plan_names_its_questions(tmp_path: Path, sound: Tables) -> None:
    """In its order; a name that is none's is an error which says what there is."""
    plan = parse_plan(f"question: [comparison, scaling]\n{PLAN}", tmp_path / "plan.yaml")
    assert (
        next(iter(said(sound, *plan.question)))
        == "How does throughput change with the kind of queue?"
    )
    (tmp_path / "plan.yaml").write_text(f"question: scaling\n{PLAN}")
    assert questions_of(tmp_path) == ("scaling",)
    with pytest.raises(PlanError, match="unknown question 'scalin'; did you mean 'scaling'"):
        parse_plan(f"question: scalin\n{PLAN}", tmp_path / "plan.yaml")


def test_every_question_of_plans_is_answered() -> None:
    """The registries of names and of answers have the same names."""
    assert sorted(QUESTIONS) == sorted(ANSWERS)
