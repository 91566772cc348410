"""The answer to the question ``saturation``: the rate that a system keeps up with."""

import numpy as np
import pandas as pd
import pytest
from factory import Shape, tables
from replies import doubted, replies

from mqperf.pages.questions import answers
from mqperf.pages.questions.comparison import KEPT_ENDS
from mqperf.pages.questions.saturation import sentences
from mqperf.pages.sections.forms import plain
from mqperf.study.stats import complete
from mqperf.study.stats.contrasts import contrasts_of_rates
from mqperf.study.tables import conform

LAYOUTS = (("cmsm", "classic"), ("cmsm", "mirrored"))


def bracketed(*ends: tuple[float, float]) -> str:
    """The answer for the brackets of four layouts."""
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
            "50 to 200 msg/sec with b; the lowest is 50 to 100 msg/sec with d.",
        ),
        (
            [(50, 100), (50, 100), (50, np.nan), (50, 100)],
            "at least 50 msg/sec with c; the lowest is 50 to 100 msg/sec with d.",
        ),
        (
            [(np.nan, 400), (np.nan, 100), (np.nan, 400), (50, 100)],
            "50 to 100 msg/sec with d; the lowest is less than 100 msg/sec with b.",
        ),
    ],
)
def test_the_highest_and_the_least_bracket_are_told(
    ends: list[tuple[float, float]], words: str
) -> None:
    """Both ends are given, or a statement that all brackets are equal."""
    assert bracketed(*ends) == words


def climbed(queues: str, run: str, unfinished: list[int]) -> pd.DataFrame:
    """Steps of 100, 200, 400 ... msg/sec of a run, with the backlog at the end of each."""
    rates = [100.0 * 2**step for step in range(len(unfinished))]
    finished = rates - np.diff(unfinished, prepend=0)
    steps = {"step_rate_msg_s": rates, "throughput_msg_s": finished, "unfinished": unfinished}
    times = {"from_s": range(len(rates)), "until_s": range(1, len(rates) + 1)}
    where = {"run": run, "topology": "cmsm", "queues": queues, "test_case": "rpc-cast"}
    rows = pd.DataFrame({**where, **steps, **times, "latency_mean_s": 0.001})
    return conform("rate_steps", rows)


@pytest.mark.takes_long
def test_staircases_are_answered_by_their_steps() -> None:
    """Each layout is bracketed by two steps; a comparison gives the possible range.

    Systems with different kinds of queue are not compared.
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
    assert replies(first, "saturation") == {
        "Which rate does it keep up with?": [
            "CAST: 1,600 to 3,200 msg/sec with classic queues; mean 1 ms at 1,600."
        ]
    }
    lowest = rates[rates["queues"].eq("mirrored")].assign(
        queues="quorum", kept_rate_msg_s=50, missed_rate_msg_s=100
    )
    log = lowest.assign(queues="stream", kept_rate_msg_s=25, missed_rate_msg_s=50)
    four = {**frames, "saturation_rates": pd.concat([log, lowest, rates])}
    [[sentence]] = replies(four, "saturation").values()
    assert sentence == (
        "CAST: 1,600 to 3,200 msg/sec with classic queues; the lowest is 25 to 50 msg/sec with"
        " streams."
    )
    mirrored = frames["points"].loc[frames["points"]["queues"].eq("mirrored"), "point"]
    [answer] = answers(doubted(four, "noisy-host", [*mirrored]), ("saturation",))
    assert answer.table is not None
    assert "doubted" in answer.table.columns
    alike = four["saturation_rates"].assign(kept_rate_msg_s=50, missed_rate_msg_s=100)
    [[sentence]] = replies({**frames, "saturation_rates": alike}, "saturation").values()
    assert sentence == "CAST: 50 to 100 msg/sec in all 4 cases."
    systems = frames["saturation_rates"].assign(system=["rabbitmq", "kafka"])
    assert contrasts_of_rates(frames, systems, "system", KEPT_ENDS).empty
    assert replies({**frames, "saturation_rates": rates}) == {
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
