"""The CPU guard names commands that take more CPU than recorded, and only those."""

from importlib import import_module
from pathlib import Path

import pytest

RECORDED = {"help": 1.3, "report": 20.0}


@pytest.mark.parametrize(
    ("ratios", "named"),
    [
        ({"help": 1.3, "report": 20.0}, []),
        ({"help": 1.42, "report": 12.0}, []),
        ({"help": 1.56, "report": 20.4}, ["help takes 20 % more CPU"]),
        ({"help": 1.3, "audit": 1.0}, ["audit is not in guard.yaml"]),
    ],
)
def test_what_has_grown_by_more_than_a_tenth_is_named(
    root: Path, monkeypatch: pytest.MonkeyPatch, ratios: dict[str, float], named: list[str]
) -> None:
    """Less CPU or up to 10 % more passes; commands without a recorded value are named."""
    monkeypatch.syspath_prepend(root / "benchmarks")
    sentences = list(import_module("guard").grown(ratios, RECORDED))
    assert len(sentences) == len(named)
    assert all(map(str.startswith, sentences, named))
