"""The methodology shows the benchmark's figures on the statistics, and these are good enough."""

import csv
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

Table = list[dict[str, str]]


@pytest.fixture
def simulated(root: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(root / "benchmarks")
    return import_module("simulated")


def kept(root: Path, name: str) -> Table:
    with (root / f"docs/_data/simulated-{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_methodology_shows_every_table(root: Path, simulated: ModuleType) -> None:
    """Each table of the benchmark is stored and shown, and there are no obsolete ones."""
    text = (root / "docs/methodology.md").read_text(encoding="utf-8")
    shown = re.findall(r":file: _data/simulated-(\S+)\.csv", text)
    files = {
        path.stem.removeprefix("simulated-") for path in root.glob("docs/_data/simulated-*.csv")
    }
    assert set(shown) == files == set(simulated.TABLES)


@pytest.mark.parametrize("name", ["best", "over-repeats"])
def test_kept_tables_are_what_the_benchmark_makes(
    root: Path, simulated: ModuleType, name: str
) -> None:
    """The same seed gives the stored figures; only the quick tables are recomputed."""
    made = simulated.TABLES[name](np.random.default_rng(simulated.SEED), 1)
    assert made.to_dict("records") == kept(root, name)


def test_intervals_hold_what_they_claim(root: Path) -> None:
    """For throughput, and latency without pauses, 93 in 100 intervals contain the true value."""
    right = [row["of these right"] for row in kept(root, "throughputs")]
    cells = [row[name] for row in kept(root, "latencies") for name in ("independent", "alike")]
    right += [cell.split(" / ")[1] for cell in cells]
    shares = [float(share.split(" ± ")[0]) for share in right if share != "few"]
    assert len(shares) > 40
    assert min(shares) >= 93


def test_runs_with_pauses_have_few_wrong_intervals(root: Path) -> None:
    """At most one run in twenty, except for pauses rarer than the window, which it cannot see."""
    pauses = ("2 pauses/s of 20 ms", "1 pause in 2 s of 100 ms")
    wrong = [row[name].split(" / ")[2] for row in kept(root, "latencies") for name in pauses]
    assert max(float(share.split(" ± ")[0]) for share in wrong) <= 5


def test_what_is_decided_is_hardly_ever_false(root: Path) -> None:
    """At most one plan in twenty on any machine; of points that vary unequally, one comparison."""
    wrong = [
        row[f"{truth}: any in a plan"]
        for row in kept(root, "decided-wrongly")
        for truth in ("equal", "5 % apart")
    ]
    wrong += [row["false"] for row in kept(root, "decided-unevenly")]
    assert len(wrong) > 20
    assert max(float(share.split(" ± ")[0]) for share in wrong) <= 5


def test_what_differs_is_decided_in_few_runs(root: Path) -> None:
    """Differences of six times the noise or more take at most 60 % of the runs of five repeats."""
    shares = [
        float(row["runs, % of five repeats"])
        for row in kept(root, "decided-runs")
        if float(row["apart by"].strip("%")) >= 6 * float(row["noise"].strip("%"))
        and row["comparisons"] != "1"
    ]
    assert len(shares) > 15
    assert max(shares) <= 60


def test_false_verdicts_are_as_rare_as_claimed(root: Path) -> None:
    """At most one comparison in twenty is wrong, on a constant machine or with runs in turns."""
    for row in kept(root, "false-verdicts"):
        if row["order"] == "in turns" or row["machine"] == "always the same":
            assert float(row["any verdict"].split(" ± ")[0]) <= 5
