"""Points with equal numbers of threads, and points outside the plan, on a page."""

import re

import pandas as pd
import pytest
from factory import Shape, tables

from mqperf.pages.report.build import build
from mqperf.study.stats import complete
from mqperf.study.tables import Tables, conform, varied

pytestmark = pytest.mark.starts_programs


def split(*pairs: tuple[int, int]) -> pd.DataFrame:
    """Points with these green threads and processes."""
    rows = [
        {"point": f"{g}x{p}", "threads": g * p, "green_threads": g, "processes": p}
        for g, p in pairs
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("pairs", "apart"),
    [
        (((10, 1), (5, 2)), True),
        (((1, 1), (5, 1), (1, 2), (5, 2)), True),
        (((1, 1), (5, 1), (10, 1)), False),
        (((10, 5), (10, 10), (10, 50)), False),
    ],
)
def test_processes_are_told_apart_where_they_are_no_other_word_for_threads(
    *, pairs: tuple[tuple[int, int], ...], apart: bool
) -> None:
    """If only one factor varies, as in 2016, the sweep is one curve."""
    assert varied(split(*pairs)) == (("processes",) if apart else ())


COMPUTED = (
    *("points", "saturation_points", "saturation_rates", "sustained", "bottlenecks"),
    *("searches", "factors", "doubts"),
)


@pytest.fixture(scope="module")
def three() -> Tables:
    """10 x 1 and 5 x 2 threads of the plan, and 10 x 1 in a window outside the plan."""
    shape = Shape(layouts=(("cmsm", "classic"),), test_cases=("rpc-call",), threads=(10,))
    base = {name: frame for name, frame in tables(shape).items() if name not in COMPUTED}
    frames = {name: [frame] for name, frame in base.items()}
    for hour, (point, processes) in enumerate((("split", 2), ("another", 1)), 1):
        for name, frame in base.items():
            part = frame.assign(point=point, run=frame["run"] + point)
            if name == "runs":
                part = part[part["status"] == "done"].assign(
                    processes=processes,
                    green_threads=10 // processes,
                    asked_s=4.0 if point == "another" else 8.0,
                    started=frame["started"] + pd.Timedelta(hours=hour),
                )
            frames[name].append(part)
    joined = {name: conform(name, pd.concat(pieces)) for name, pieces in frames.items()}
    done = joined["runs"].query("status == 'done' and point != 'another'")
    keys = [name for name in joined["messages"].columns if name in done.columns]
    planned = conform("planned", done[keys].assign(control_run=0))
    return complete({**joined, "planned": planned})


@pytest.fixture(scope="module")
def page(three: Tables, tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("report") / "out"
    build(three, out, title="Points", html=False)
    text = (out / "rabbitmq/cmsm/index.rst").read_text()
    return " ".join(text.split())


def test_points_with_as_many_threads_stand_apart(page: str) -> None:
    """Each has its row with the number of processes, and the page says so."""
    assert "* - threads - processes - throughput, msg/sec" in page
    assert re.search(r"- `10 <[^>]+>`__ - 1 -", page)
    assert re.search(r"- `10 <[^>]+>`__ - 2 -", page)
    assert "Points with the same number of threads in another number of client processes" in page


def test_counts_and_nodes_name_the_processes(page: str) -> None:
    """Every table and figure of the page distinguishes 10 x 1 from 5 x 2 threads."""
    assert "* - threads - processes - sent" in page
    assert "* - threads - processes - Master total, %" in page
    assert "10 threads, 1 client process from" in page
    assert "10 threads, 2 client processes from" in page


def test_what_is_not_of_the_plan_is_named_and_not_shown(three: Tables, page: str) -> None:
    """A warning above the figures names it; it is in no figure, but stays in the tables."""
    assert "does not ask for point another (window 4 s, 3 runs)" in page
    assert "was measured for 8 s, 3 times" in page
    assert "another" in set(three["points"]["point"])
    assert three["doubts"].query("point == 'another'")["kind"].tolist() == ["not-of-plan"]
