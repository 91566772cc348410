"""What doctor finds missing is what the first plan needs, and each remedy is named."""

from pathlib import Path

import pytest

from mqperf.front.doctor import examine
from mqperf.lab.systems import FIRST, SYSTEMS
from mqperf.plan.file import load_plan


def test_what_is_needed_are_the_systems_of_the_quickstart(root: Path) -> None:
    """The plan that the tutorial starts with decides whether this machine is ready."""
    assert {FIRST} == set(load_plan(root / "plans/quickstart.yaml").systems)


def test_other_systems_are_optional(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """On a machine without them they are told with their remedy, and count only when named."""
    monkeypatch.setenv("PATH", str(tmp_path))
    marks = {finding.text: finding.mark for finding in examine([], generators=False)}
    optional = [text for text, mark in marks.items() if mark == "optional"]
    assert len(optional) == len(SYSTEMS) - 1
    assert all("not installed, needed for plans with" in text for text in optional)
    assert any("zeromq: ZeroMQ: Redis" in text and "apt-get install" in text for text in optional)
    [zeromq] = [
        finding for finding in examine(["zeromq"], generators=False) if "Redis" in finding.text
    ]
    assert zeromq.mark == "MISSING"
