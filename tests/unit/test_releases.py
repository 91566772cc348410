"""Later versions keep what a release promised (docs/reference/stability.md)."""

from pathlib import Path

import pytest
import releases

RECORDED = sorted(releases.RELEASES.iterdir())
each_release = pytest.mark.parametrize("release", RECORDED, ids=lambda folder: folder.name)


@each_release
@pytest.mark.parametrize("name", releases.PROMISED)
def test_nothing_that_a_release_promised_is_gone(release: Path, name: str) -> None:
    """Keys of plans, columns, commands and Python names may only be added."""
    promised = (release / f"{name}.txt").read_text().splitlines()
    assert promised
    assert {*promised} - {*releases.PROMISED[name]()} == set()


@pytest.mark.takes_long
@each_release
def test_recorded_runs_give_the_same_figures(release: Path) -> None:
    """Runs recorded before the release, by versions 0.1.0, give its counts, rates and latencies."""
    assert releases.figures() == (release / releases.FIGURES).read_text()
