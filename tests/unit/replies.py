"""The sentences that answer questions."""

from pathlib import Path

import pandas as pd
import samples

from mqperf.pages.questions import answers
from mqperf.pages.sections.forms import plain
from mqperf.study.tables import Tables, of_plan

SAMPLES = Path(__file__).parents[2] / "data/samples"


def sample(name: str) -> Tables:
    """The tables of a recorded sample, limited to the points of its plan."""
    return of_plan(samples.complete(SAMPLES / name))


def replies(frames: Tables, *named: str) -> dict[str, list[str]]:
    """Question -> the sentences of its answer."""
    return {
        answer.question: [plain(text) for text in answer.sentences]
        for answer in answers(frames, named)
    }


def doubted(frames: Tables, kind: str, points: list[str]) -> Tables:
    """The tables with no doubts but this one, about these points."""
    doubts = pd.DataFrame([{"kind": kind, "point": point, "text": "so it is"} for point in points])
    return {**frames, "doubts": doubts.reindex(columns=frames["doubts"].columns)}
