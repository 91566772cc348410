"""What is asked of every replay of traffic: its answer."""

import pytest
from factory import Shape, tables

from mqperf.pages.questions import ANSWERS
from mqperf.pages.sections.forms import plain
from mqperf.study.stats import complete
from mqperf.study.tables import conform

KEYS = ["run", "point", "system", "topology", "queues", "test_case", "threads", "repeat"]


def said(p99_s: float | None, **off: float) -> str:
    """The sentence of one run of ten seconds and three routes, of which so much is off."""
    shape = Shape((("cmsm", "classic"),), ("rpc-cast",), threads=(1,), repeats=1)
    frames = tables(shape)
    told = {"routes": 3, "routes_off": 0, "seconds": 10, "seconds_off": 0, "length_distance": 0.0}
    replay = conform("traffic", frames["messages"][KEYS].assign(**{**told, **off}))
    latency = frames["latency"].assign(latency_p50_s=0.002, latency_p99_s=p99_s)
    changed = {"latency": latency, "traffic": replay, "doubts": frames["doubts"][:0]}
    answer = ANSWERS["traffic"].answer({**complete({**frames, **changed}), **changed})
    assert answer is not None
    [sentence] = answer.sentences
    return plain(sentence)


@pytest.mark.parametrize(
    ("off", "words"),
    [
        ({}, "every second and route as recorded."),
        ({"seconds_off": 2}, "2 of 10 seconds not as recorded."),
        (
            {"seconds_off": 2, "routes_off": 1, "length_distance": 0.5},
            "2 of 10 seconds, 1 of 3 routes and lengths of messages not as recorded.",
        ),
    ],
)
def test_what_is_off_is_told(off: dict[str, float], words: str) -> None:
    """Lengths as well: with others the same messages are another load."""
    assert said(0.008, **off).endswith(f"p50 2 ms, p99 8 ms; {words}")


def test_a_percentile_of_too_few_messages_is_no_number() -> None:
    """It was ``nan ms``."""
    assert "p50 2 ms, p99 not known of so few messages; every" in said(None)
