"""The psutil probe and cut links: several cuts, and sparse samples."""

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from mqperf.plan import ActionPlan
from mqperf.record import Whole
from mqperf.record.instants import utc
from mqperf.record.logs.psutil_log import Network, Sample
from mqperf.study.probes.psutil_actions import disagreements

START = 1_790_000_000.0
CUTS = ((2.0, 4.0), (9.0, 11.0))
"""Start and end of cuts, in seconds of the window."""

EVERY_SECOND = [second + 0.0035 for second in range(16)]
SPARSE = [0.0, 1.0, 2.0, 3.0, 4.0, 8.9, 10.9, 12.0, 13.0, 14.0, 15.0]


def log(instants: Sequence[float], silent: Sequence[tuple[float, float]]) -> list[Sample]:
    """Samples of a device that receives 1,000 bytes before each, except when silent."""
    samples, received = [], 0
    for before, at in zip([-1.0, *instants], instants, strict=False):
        if not any(start <= before and at <= end for start, end in silent):
            received += 1000
        network = Network(at=at, bytes={"mqlink": (0, received)}, speeds={"mqlink": 0})
        samples.append(
            Sample(epoch=START + at, monotonic=at, processes={}, host=(at, 0, 0), network=network)
        )
    return samples


def run(folder: Path, cuts: Sequence[tuple[float, float]] = CUTS) -> Whole:
    """A run with two cuts, with events like those of the runner."""
    actions = [
        ActionPlan(do=do, link=True, at_s=begin, for_s=end - begin)
        for do, (begin, end) in zip(("disconnect", "black-hole"), cuts, strict=True)
    ]
    events = [
        (START + at + 0.009, {"what": what, "number": number})
        for number, cut in enumerate(cuts, 1)
        for what, at in zip(("action-began", "action-ended"), cut, strict=True)
    ]
    lines = [
        json.dumps({"time": utc(at), "epoch": at, "observed": at, "host": "local", **detail})
        for at, detail in events
    ]
    (folder / "events.jsonl").write_text("\n".join([*lines, ""]))
    whole = SimpleNamespace(
        case=SimpleNamespace(actions=actions),
        run=SimpleNamespace(path=folder),
        window=(START, START + 15),
    )
    return cast("Whole", whole)


@pytest.mark.parametrize(
    ("instants", "silent"),
    [
        pytest.param(EVERY_SECOND, [(2.0, 5.0), (10.0, 12.0)], id="seen for one second"),
        pytest.param(EVERY_SECOND, [(2.0, 5.0), (9.0, 12.0)], id="seen for two"),
        pytest.param(SPARSE, [(2.0, 4.0)], id="no two samples within"),
        pytest.param(EVERY_SECOND, [], id="never silent, as it carries more"),
    ],
)
def test_a_cut_that_samples_may_show_is_no_contradiction(
    tmp_path: Path, instants: Sequence[float], silent: Sequence[tuple[float, float]]
) -> None:
    """Another cut's silence and sparse samples are no contradiction."""
    assert not [*disagreements(run(tmp_path), [log(instants, silent)])]


def test_a_silence_at_another_time_is_reported(tmp_path: Path) -> None:
    """The first cut agrees with the samples, the second does not."""
    cuts, silent = [(2.0, 4.0), (8.0, 11.0)], [(2.0, 5.0), (12.0, 15.0)]
    [disagreement] = disagreements(run(tmp_path, cuts), [log(EVERY_SECOND, silent)])
    assert disagreement == (
        "black-hole of the link from 8 s on: mqlink received nothing from 12 to 14 s instead,"
        " and something meanwhile"
    )
