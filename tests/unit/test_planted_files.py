"""Faults planted in files of recorded runs, with checksums and seal recomputed.

Each must give its doubt in ``planted_files``.
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
    """The folder of damaged copies; unchanged samples are read only once."""
    monkeypatch.setattr(batches, "_read", lambda run: _read(run) if recorded(run) else READ(run))
    return tmp_path


READ = batches._read
_read = cache(READ)


def recorded(run: Run) -> bool:
    """Whether the run is a sample."""
    return run.path.is_relative_to(SAMPLES)


def doubts(folder: Path, run: str, fault: Fault) -> pd.DataFrame:
    """The doubts about a run with this fault, among the sound runs of its set, if any."""
    copy, (sample,) = folder / run, SAMPLES.parent.glob(f"*/{run}")
    shutil.copytree(sample, copy)
    fault(copy)
    sealed(copy)
    names = [name for name in SOUND if name != run and sample.parent == SAMPLES]
    sound = [Run(SAMPLES / name, name, "done") for name in names]
    doubted = checks.doubts(tables.of_runs([Run(copy, run, "done"), *sound]))
    assert doubted["run"].eq(run).all()
    return doubted


def test_the_list_is_long_enough() -> None:
    """At least 60 faults, at most 3 of which are not detected."""
    assert sum(map(len, PLANTED.values())) >= 60
    assert len(UNSEEN) <= 3


@pytest.mark.parametrize("run", SOUND)
def test_a_sound_run_is_silent(folder: Path, run: str) -> None:
    """An unchanged run, sealed again, has no doubt."""
    assert doubts(folder, run, exact(SERVER, nothing)).empty


@pytest.mark.parametrize("run", [CALL, CAST, NOTIFY])
def test_a_rate_that_was_kept_is_no_doubt(folder: Path, run: str) -> None:
    """Only the name of its folder is doubted, as the case is changed."""
    doubted = doubts(folder, run, paced())
    assert doubted["kind"].tolist() == ["changed-record"]
    assert "recorded files were changed" not in doubted["text"].iloc[0]


@pytest.mark.parametrize(
    ("run", "what"),
    [pytest.param(run, what, id=what) for run, faults in PLANTED.items() for what in faults],
)
def test_a_planted_fault_is_named(folder: Path, run: str, what: str) -> None:
    """The doubt has the right kind, run and text; other runs have none."""
    expected, fault = PLANTED[run][what]
    kind, _, pattern = expected.partition(": ")
    doubted = doubts(folder, run, fault)
    assert kind in set(doubted["kind"])
    text = " ".join(doubted.loc[doubted["kind"] == kind, "text"])
    assert re.search(pattern, text), text
    assert "recorded files were changed" not in text


@pytest.mark.parametrize("what", UNSEEN)
def test_what_no_record_shows_is_known_to_pass(folder: Path, what: str) -> None:
    """If a rule detects one, move it to PLANTED."""
    _, run, fault = UNSEEN[what]
    assert doubts(folder, run, fault).empty
