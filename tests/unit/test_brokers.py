"""Comparisons of brokers: cells of recorded runs, ranks, second measurements, and the page."""

from dataclasses import replace
from math import exp, floor, inf, log, nan, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import samples
from broker_cells import CELL, cell, nats
from bs4 import BeautifulSoup
from factory import Shape, tables

from mqperf.study.tables import Tables
from mqperf_brokers.pages.page import TEMPLATES, page
from mqperf_brokers.study.cells import Cell, cells
from mqperf_brokers.study.ranking import AMONG, BEST, again, ranked, share
from mqperf_brokers.study.rates import (
    FULL_LOAD,
    NONE_OFFERED,
    OFFERED,
    UNBOUND,
    Sustained,
    of_repeats,
)

SAMPLES = Path(__file__).parents[2] / "data/samples"
SHAPE = Shape(
    layouts=(("cmsm", "classic"), ("cmsm", "mirrored")), test_cases=("rpc-call",), threads=(100,)
)


def sound() -> Tables:
    """Invented tables of two layouts, with three repeats and no doubt."""
    frames = tables(SHAPE)
    return {**frames, "doubts": frames["doubts"].iloc[:0]}


def doubted(frames: Tables, kind: str, **place: object) -> Tables:
    """The tables with a doubt of this kind."""
    row = pd.DataFrame([{"kind": kind, "text": "planted", **place}])
    return {**frames, "doubts": pd.concat([frames["doubts"], row], ignore_index=True)}


def bracket(rate: float, step: float) -> tuple[float, float]:
    """The two rates of a staircase, ``step`` apart on the logarithmic scale, around a rate."""
    kept = exp(step * floor(log(rate) / step))
    return kept, kept * exp(step)


def ranks(*compared: Cell) -> list[str]:
    return [each.rank for each in ranked(compared)]


def rows(html: str) -> list[list[str]]:
    """The texts of the table, a list for each row."""
    table = BeautifulSoup(html, "html.parser").select("#box tbody tr")
    return [[part.get_text(" ", strip=True) for part in row.select("th, td")] for row in table]


@pytest.mark.takes_long
def test_rates_that_were_offered_give_a_cell_for_each_workload() -> None:
    """A cell is between the kept rate and the next one; types of exchange are workloads."""
    found = [*cells(samples.complete(SAMPLES / "stress"), "stress")]
    assert [each.given["exchange_type"] for each in found] == ["direct", "fanout"]
    for each in found:
        assert (each.sustained.low, each.sustained.high) == (10_000.0, 100_000.0)
        assert each.sustained.rate == sqrt(each.sustained.low * each.sustained.high)
    words = [dict(each.workload)["exchange_type"] for each in ranked(found)]
    assert words == ["direct", "fanout"]


@pytest.mark.parametrize(
    ("kept", "low", "doubts"),
    [(True, 10_000.0, ()), (False, nan, (NONE_OFFERED,))],
)
def test_a_limit_of_load_generators_is_not_that_of_the_system(
    low: float, doubts: tuple[str, ...], *, kept: bool
) -> None:
    """The system sustains the kept rate at least; without a kept rate nothing is known."""
    frames = samples.complete(SAMPLES / "stress")
    limited = frames["bottlenecks"].assign(bottleneck="tester")
    missed = {} if kept else {"condition_failed": frames["runs"]["run"]}
    runs = frames["runs"].assign(**missed)
    for each in cells({**frames, "runs": runs, "bottlenecks": limited}, "stress"):
        assert each.sustained.rate == pytest.approx(low, nan_ok=True)
        assert each.sustained.low == pytest.approx(low, nan_ok=True)
        assert each.sustained.high == pytest.approx(inf if kept else nan, nan_ok=True)
        assert each.sustained.faults == doubts


@pytest.mark.takes_long
def test_single_runs_at_full_load_have_no_interval_and_no_rank() -> None:
    """They are shown with the reason."""
    found = [*cells(samples.complete(SAMPLES / "runs"), "runs")]
    assert {each.sustained.how for each in found} == {FULL_LOAD}
    assert not any(each.counts for each in found)
    sound = [row for row in rows(page("Sample", found)) if UNBOUND in row[3]]
    assert sound
    assert set(ranks(*found)) == {""}


def test_repeats_at_full_load_are_wider_for_a_second_mean() -> None:
    """Their interval is wider by the square root of two on the logarithmic scale."""
    frames = sound()
    classic, mirrored = cells(frames, "invented")
    points = frames["points"].set_index("point")
    point = points.loc[classic.sustained.points[0]]
    width = classic.sustained.high / classic.sustained.rate
    mean = point["throughput_msg_s"]
    assert width == pytest.approx((point["throughput_msg_s_high"] / mean) ** sqrt(2))
    assert ranks(classic, mirrored) == [BEST, ""]


def test_repeats_of_offered_rates_predict_a_second_mean() -> None:
    """Of second means 95 % are in the interval, or more where steps are wide."""
    random = np.random.default_rng(1)
    for step, most in ((0.02, 0.96), (0.2, 1.0)):
        held = 0
        for _ in range(2000):
            first, second = (
                of_repeats([bracket(rate, step) for rate in random.lognormal(9.0, 0.1, 3)])
                for _ in range(2)
            )
            held += first[1] <= second[0] <= first[2]
        assert 0.94 < held / 2000 <= most
    equal = of_repeats([(1000.0, 1210.0)] * 3)
    assert equal[0] == pytest.approx(1100.0)
    assert equal[1] < 1000
    assert equal[2] > 1210


@pytest.mark.takes_long
@pytest.mark.parametrize("kind", ["lost", "noisy-host", "clock-offset"])
@pytest.mark.parametrize("everywhere", [True, False])
def test_a_doubted_rate_never_ranks(kind: str, *, everywhere: bool) -> None:
    """A doubt about its point or all runs that makes it wrong or limited is shown as the reason.

    Notes are no reason; nor is a spread of repeats, which the interval covers.
    """
    frames = sound()
    best, _ = cells(frames, "invented")
    place = {} if everywhere else {"point": best.sustained.points[0]}
    found = [*cells(doubted(frames, kind, **place), "invented")]
    assert not found[0].counts
    assert found[1].counts is not everywhere
    assert BEST not in ranks(*found)
    first, *_ = [row for row in rows(page("Planted", found)) if "(HA)" not in row[0]]
    assert f"({kind})" in first[3]
    for harmless in ("missing-run", "spread"):
        noted = [*cells(doubted(frames, harmless, **place), "invented")]
        assert ranks(*noted) == [BEST, ""]


def test_best_is_only_what_is_apart_from_all_others() -> None:
    """Intervals that touch are not told apart; doubted cells and other workloads rank nothing.

    A cell with slower cores might have reached as much more as these were slower.
    """
    assert ranks(cell(900, 1100), nats(500, 900), nats(400, 800)) == [BEST, "", ""]
    assert ranks(cell(900, 1100), nats(500, 901)) == [AMONG, AMONG]
    assert ranks(cell(900, 1100), nats(800, inf)) == [AMONG, AMONG]
    assert ranks(cell(900, 1100), nats(2000, 3000, doubts=("planted",))) == ["", ""]
    assert ranks(cell(900, 1100), nats(500, 900, release="Debian GNU/Linux 13 (trixie)")) == [
        "",
        "",
    ]
    assert ranks(cell(900, 1100), nats(500, 900, machine="another")) == ["", ""]
    fast, slow = {"core_speed": 2600.0}, {"core_speed": 2000.0}
    assert ranks(cell(900, 1100, **fast), nats(500, 800, **fast)) == [BEST, ""]
    assert ranks(cell(900, 1100, **fast), nats(500, 800, **slow)) == [AMONG, AMONG]
    assert ranks(cell(900, 1100, **slow), nats(500, 800, **fast)) == [BEST, ""]
    assert ranks(cell(900, 1100, **fast), nats(500, 800)) == [BEST, ""]
    assert ranks(cell(900, 1100), nats(500, 900, confirmed=False)) == ["", ""]
    for unknown in (Sustained(OFFERED, 5000.0), Sustained(OFFERED, 5000.0, 0.0, inf)):
        assert ranks(cell(900, 1100), replace(CELL, sustained=unknown)) == ["", ""]


def test_a_parameter_of_one_protocol_is_no_workload() -> None:
    """It tells cells of one layout apart; parameters of all generators define the workloads."""
    other = cell(700, 800, given={**CELL.given, "exchange_type": "topic"})
    long = nats(500, 600, given={"payload_bytes": 4096, "threads": 1})
    found = ranked([cell(), other, nats(500, 600), long])
    assert [each.workload for each in found] == [
        (("payload_bytes", size),) for size in (256,) * 3 + (4096,)
    ]
    assert [dict(each.apart).get("exchange_type") for each in found] == [None, "topic", None, None]
    assert [bool(each.apart) for each in found] == [True, True, False, False]


def test_a_second_measurement_is_within_or_outside() -> None:
    """It counts if made on another day, not doubted, and on cores that were no faster or slower.

    An open end has no limit.
    """
    later = "2026-11-28"
    first = cell(900, 1100)
    seconds = [
        again(first, cell(rate=1090, day=later)),
        again(first, cell(rate=1101, day=later)),
        again(first, cell(rate=1000)),
        again(first, cell(rate=1000, day=later, doubts=("planted",))),
        again(cell(900, inf), cell(rate=9000, day=later)),
        again(first, cell(1000, inf, rate=1000, day=later)),
        again(first, cell(1200, inf, rate=1200, day=later)),
    ]
    assert [second.within for second in seconds] == [True, False, None, None, True, None, False]
    assert [second.why for second in seconds[2:4]] == [
        "on the same day",
        "the second does not count",
    ]
    fast = cell(rate=1300, day=later, core_speed=2600.0)
    assert again(first, fast).within is False
    slow = replace(first, core_speed=2000.0)
    assert again(slow, fast).why == "cores were 1.30 times as fast"
    assert again(replace(first, core_speed=2400.0), fast).within is False
    assert share([*seconds, None]).startswith(
        "2 of 4 cells that were measured again on another day"
    )
    outside = page("Again", [first], [cell(rate=1101, day=later, bundle="second")])
    assert "outside: 1,100 (900 to 1,100) msg/sec, 2026-11-28" in rows(outside)[0][5]
    assert "0 of 1 cells" in outside


def test_open_ends_and_missing_rates_are_worded() -> None:
    """Open ends and missing numbers have words; the highest rate that counts comes first."""
    found = [
        cell(0, 800, rate=800),
        cell(1000, inf),
        cell(900, 1100),
        replace(CELL, sustained=Sustained(FULL_LOAD, nan), doubts=("no run succeeded",)),
    ]
    assert [row[2] for row in rows(page("Ends", found))] == [
        "at least 1,000 msg/sec",
        "1,000 (900 to 1,100) msg/sec",
        "less than 800 msg/sec",
        "none",
    ]


def test_the_page_says_first_who_sustains_most() -> None:
    """It has the system, the kind of queue, and the topology only if a system has several."""
    long = {"payload_bytes": 4096, "threads": 1}
    quorum = cell(400, 600, queues="quorum")
    found = [cell(900, 1100), quorum, nats(500, 900), cell(given=long), nats(900, 1100, given=long)]
    html = BeautifulSoup(page("Answer", found), "html.parser")
    assert html.select("#answer")[0].get_text() == (
        "Of 2 workloads, the highest rate is sustained by RabbitMQ in 1; no layout is clearly ahead"
        " in 1."
    )
    assert [row[0] for row in rows(str(html))][:3] == ["RabbitMQ", "NATS", "RabbitMQ (quorum)"]
    several = page("Answer", [*found, cell(topology="cmsm")])
    assert "RabbitMQ, Client -> Broker, Server -> Broker (quorum)" in {
        row[0] for row in rows(several)
    }


HOSTILE = "\"><script>x()</script><img src=x onerror=x()>' onclick=x() \u202e{{ 7 * 7 }}"


def test_hostile_texts_do_nothing() -> None:
    """HTML in names, values and reasons is escaped: the page has its own script alone."""
    names = ("bundle", "title", "topology", "queues", "release", "machine", "versions")
    texts: dict[str, Any] = dict.fromkeys(names, HOSTILE)
    planted = replace(CELL, doubts=(HOSTILE,), **texts)
    text = page(HOSTILE, [planted, cell()], [replace(planted, day="later")], [HOSTILE])
    html = BeautifulSoup(text, "html.parser")
    [script] = html.select("script")
    assert script.string == (TEMPLATES / "brokers.js").read_text()
    assert not html.select("img, iframe, object, embed, base, link, [src]")
    attributes = {name for tag in html.select("*") for name in tag.attrs}
    assert not [name for name in attributes if name.startswith("on")]
    places = {
        str(link["href"]).partition("/")[0].partition("=")[0] for link in html.select("[href]")
    }
    assert places == {"#", "#system", "bundles", "again"}
    assert "\u202e" not in text
    assert "49" not in html.get_text()
