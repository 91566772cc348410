"""Faults planted in the files of recorded runs, checksums and seal made right again.

Each must give the doubt that stands beside it in ``planted_files``.
"""

import re
import shutil
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
from file_faults import (
    CALL,
    CAST,
    NOTIFY,
    SAMPLES,
    SERVER,
    SOUND,
    Fault,
    exact,
    nothing,
    paced,
    sealed,
)
from planted_files import PLANTED, UNSEEN

from mqperf.record import Run
from mqperf.study import tables
from mqperf.study.stats import checks
from mqperf.study.tables import batches

pytestmark = pytest.mark.takes_long


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where damaged copies go; the recorded runs beside them are read once."""
    monkeypatch.setattr(batches, "_read", lambda run: _read(run) if recorded(run) else READ(run))
    return tmp_path


READ = batches._read
_read = cache(READ)


def recorded(run: Run) -> bool:
    """Whether it is one of the samples."""
    return run.path.is_relative_to(SAMPLES)


def doubts(folder: Path, run: str, fault: Fault) -> pd.DataFrame:
    """The doubts about a run with this fault, among the sound runs of its set, if it has some."""
    copy, (sample,) = folder / run, SAMPLES.parent.glob(f"*/{run}")
    shutil.copytree(sample, copy)
    fault(copy)
    sealed(copy)
    names = [name for name in SOUND if name != run and sample.parent == SAMPLES]
    others = [Run(SAMPLES / name, name, "done") for name in names]
    doubted = checks.doubts(tables.of_runs([Run(copy, run, "done"), *others]))
    assert doubted["run"].eq(run).all()
    return doubted


def test_the_list_is_long_enough() -> None:
    """At least sixty faults, at most three of which pass."""
    assert sum(map(len, PLANTED.values())) >= 60
    assert len(UNSEEN) <= 3


@pytest.mark.parametrize("run", SOUND)
def test_a_sound_run_is_silent(folder: Path, run: str) -> None:
    """Written anew as it was, with a seal, it has no doubt."""
    assert doubts(folder, run, exact(SERVER, nothing)).empty


@pytest.mark.parametrize("run", [CALL, CAST, NOTIFY])
def test_a_rate_that_was_kept_is_no_doubt(folder: Path, run: str) -> None:
    """With both parts of every latency; only its folder has the name of another case."""
    doubted = doubts(folder, run, paced())
    assert doubted["kind"].tolist() == ["changed-record"]
    assert "recorded files were changed" not in doubted["text"].iloc[0]


@pytest.mark.parametrize(
    ("run", "what"),
    [pytest.param(run, what, id=what) for run, faults in PLANTED.items() for what in faults],
)
def test_a_planted_fault_is_named(folder: Path, run: str, what: str) -> None:
    """By its kind, at its run, with what is wrong; nothing is said of the other runs."""
    expected, fault = PLANTED[run][what]
    kind, _, says = expected.partition(": ")
    doubted = doubts(folder, run, fault)
    assert kind in set(doubted["kind"])
    text = " ".join(doubted.loc[doubted["kind"] == kind, "text"])
    assert re.search(says, text), text
    assert "recorded files were changed" not in text


@pytest.mark.parametrize("what", UNSEEN)
def test_what_no_record_shows_is_known_to_pass(folder: Path, what: str) -> None:
    """Whoever finds a way to see it moves it to the others."""
    _, run, fault = UNSEEN[what]
    assert doubts(folder, run, fault).empty
