"""What a plan asks is answered on the first page of its report."""

from pathlib import Path

import pytest
import samples

from mqperf.pages.report.asked import answers

DATA = Path(__file__).parents[2] / "data/samples"

pytestmark = pytest.mark.takes_long


def told(name: str) -> list[str]:
    return [str(text) for text in answers(samples.complete(DATA / name))]


def test_an_action_says_what_it_cost() -> None:
    """How long nothing came, when throughput was back, and what was lost; no factor beside it."""
    [text] = told("faults")
    assert text == (
        "**TRANSFER**: during stop of R2, no message was finished for 9.1 s, throughput was back"
        " 7.0 s after its end and 4558 messages lost."
    )


def test_conditions_say_their_factors() -> None:
    """Against the first of them, with an interval where one is known; actions by themselves."""
    conditions, action = told("wan")
    assert "divided by that under *undisturbed*, is 4.36 with condition delay 100 ms," in conditions
    assert "and 1.12 (1.07 to 1.18) with condition stress of 1,000 msg/s" in conditions
    assert "disconnection" not in conditions
    assert action.startswith("**CHAIN**: during disconnect of the link, no creation was finished")


def test_offered_rates_say_which_are_kept() -> None:
    """Of each type of exchange; a sweep of threads alone asks none of this."""
    direct, fanout = told("stress")
    assert "With exchange type direct: It keeps up with 10000 msg/sec, and not" in direct
    assert "fanout" in fanout
    assert told("runs") == []
