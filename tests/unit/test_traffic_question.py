"""The answer to the question of every replay of traffic."""

import pytest
from factory import Shape, tables

from mqperf.pages.questions import ANSWERS
from mqperf.pages.sections.forms import plain
from mqperf.study.stats import complete
from mqperf.study.tables import conform

KEYS = ["run", "point", "system", "topology", "queues", "test_case", "threads", "repeat"]


def sentence_for(p99_s: float | None, **off: float) -> str:
    """The sentence for one run of ten seconds and three routes with these deviations."""
    shape = Shape((("cmsm", "classic"),), ("rpc-cast",), threads=(1,), repeats=1)
    frames = tables(shape)
    exact = {"routes": 3, "routes_off": 0, "seconds": 10, "seconds_off": 0, "length_distance": 0.0}
    replay = conform("traffic", frames["messages"][KEYS].assign(**{**exact, **off}))
    latency = frames["latency"].assign(latency_p50_s=0.002, latency_p99_s=p99_s)
    changed = {"latency": latency, "traffic": replay, "doubts": frames["doubts"][:0]}
    answer = ANSWERS["traffic"].answer({**complete({**frames, **changed}), **changed})
    assert answer is not None
    [sentence] = answer.sentences
    return plain(sentence)


@pytest.mark.takes_long
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
def test_deviations_are_named(off: dict[str, float], words: str) -> None:
    """Lengths count too: with others the same messages are another load."""
    assert sentence_for(0.008, **off).endswith(f"p50 2 ms, p99 8 ms; {words}")


def test_a_percentile_of_too_few_messages_is_no_number() -> None:
    """It was ``nan ms`` once."""
    assert "p50 2 ms, p99 not known for so few messages; every" in sentence_for(None)
