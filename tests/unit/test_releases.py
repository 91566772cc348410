"""Later versions keep what a release promised (docs/reference/stability.md)."""

import re
from pathlib import Path

import pytest
import releases

import mqperf

LONG = {"figures"}
KINDS = [
    pytest.param(name, marks=[pytest.mark.takes_long] if name in LONG else [])
    for name in releases.PROMISED
]


@pytest.mark.parametrize("release", sorted(releases.RELEASES.iterdir()), ids=lambda of: of.name)
@pytest.mark.parametrize("name", KINDS)
def test_nothing_that_a_release_promised_is_gone(release: Path, name: str) -> None:
    """Keys, columns, options and names may only be added; recorded runs give the same figures."""
    promised = (release / f"{name}.txt").read_text().splitlines()
    assert promised
    assert {*promised} - {*releases.PROMISED[name]()} == set()


def test_all_packages_have_the_version_of_mqperf(root: Path) -> None:
    """They are released together."""
    stated = re.compile(r'^version(?: = "|: )([\d.]+)', re.MULTILINE)
    files = [*root.glob("packages/*/pyproject.toml"), root / "CITATION.cff"]
    others = [str(f) for f in files if stated.findall(f.read_text()) != [mqperf.__version__]]
    assert others == []
