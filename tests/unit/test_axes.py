"""Axes: sweeps that vary parameters beside the number of threads, or instead of it."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from factory import Shape, tables
from matplotlib.figure import Figure
from viewed import contents

from mqperf.pages import figures, notebook
from mqperf.pages.figures import panels
from mqperf.pages.questions import answers
from mqperf.pages.questions.first_screen import of_folder
from mqperf.pages.report import comparison as wording
from mqperf.pages.report.build import build
from mqperf.pages.report.methods import recorded
from mqperf.plan.columns import COMPUTED
from mqperf.study.stats import compared, complete
from mqperf.study.stats.checks import as_text_lines
from mqperf.study.stats.scaling import saturation_point
from mqperf.study.tables import (
    Tables,
    arranged,
    at,
    curves,
    empty,
    tidy,
    varied,
    with_parameters,
    write,
)
from mqperf.study.tables.axis_words import worded
from mqperf.study.tables.batches import read_names
from mqperf.study.tables.published_folder import PUBLISHED
from mqperf_maps.pages.sheet import map_sheet

pytestmark = pytest.mark.takes_long

ONE = Shape(layouts=(("cmsm", "classic"),), test_cases=("rpc-call",), threads=(10, 50), repeats=2)
PAYLOADS = ("payload_bytes", (100, 1_000, 10_000))
PAUSES = ("pause_s", (0.0, 0.1))
BOTH = replace(ONE, parameters=(PAYLOADS, PAUSES))


@pytest.fixture(scope="module")
def both() -> Tables:
    """Payload x pause x threads."""
    return tables(BOTH)


@pytest.fixture(scope="module")
def pages(both: Tables, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("report") / "out"
    return build(both, out, title="Axes", html=False).parent


def _text(file: Path) -> str:
    return " ".join(file.read_text().split()).replace("\xa0", " ")


@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        (ONE, ("threads",)),
        (replace(ONE, threads=(10,)), ("threads",)),
        (BOTH, ("payload_bytes", "threads", "pause_s")),
        (replace(ONE, parameters=(PAUSES,)), ("threads", "pause_s")),
        (replace(ONE, parameters=(("targets", ("own", "shared", "x")),)), ("threads", "targets")),
        (replace(ONE, threads=(10,), parameters=(("targets", ("own", "shared")),)), ("targets",)),
        (
            replace(ONE, parameters=(("payload_bytes", (None, 100, 1_000)),)),
            ("threads", "payload_bytes"),
        ),
        (replace(ONE, parameters=(("processes", (1, 2)),)), ("threads", "processes")),
        (replace(ONE, threads=(10, 20, 50, 100)), ("threads",)),
    ],
)
def test_the_parameter_with_most_values_is_on_x(shape: Shape, axes: tuple[str, ...]) -> None:
    """Then colour, then the rest; threads win ties, and numbers come before texts."""
    assert arranged(tables(shape)["points"]).names == axes


def test_a_constant_parameter_is_no_axis() -> None:
    """A parameter with one value for all points distinguishes none of them."""
    frames = tables(replace(ONE, parameters=(("payload_bytes", (1_000,)),)))
    assert varied(frames["runs"]) == ()
    assert "payload_bytes" not in frames["points"].columns


def test_an_unreadable_run_makes_no_axis(both: Tables) -> None:
    """Its missing parameters do not split its point, which still has one row."""
    read = {name: frame for name, frame in both.items() if name not in COMPUTED}
    runs = read["runs"].copy()
    columns = ["green_threads", "processes", "hosts", "asked_s", "payload_bytes", "pause_s"]
    runs.loc[0, columns] = pd.NA
    runs.loc[0, "status"] = "unreadable"
    points = complete({**read, "runs": runs})["points"]
    assert points["point"].is_unique
    assert arranged(points) == arranged(both["points"])


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("delay_s", 0.05, "delay 50 ms"),
        ("threads", 1, "1 thread"),
        ("processes", 2, "2 client processes"),
        ("payload_bytes", 1_048_576, "payload 1048576 bytes"),
        ("pause_s", 0.05, "pause 0.05 s"),
        ("targets", "own", "targets own"),
        ("payload_bytes", pd.NA, "payload not set"),
    ],
)
def test_values_are_worded(name: str, value: str | float, words: str) -> None:
    """Values are worded with their units, as people say them."""
    assert worded(name, value) == words


def test_points_are_told_apart_in_every_table(both: Tables) -> None:
    """Each combination is a point, with its parameters in columns."""
    assert len(both["points"]) == 2 * 3 * 2
    rows = with_parameters(both["messages"], both["runs"])
    assert rows["payload_bytes"].notna().all()
    assert "payload_bytes" in tidy(rows).columns
    assert "processes" not in tidy(rows).columns
    first = both["points"].iloc[0]
    where = at(first.to_dict(), ("threads", *varied(both["points"])))
    assert where == "10 threads, payload 100 bytes, pause 0 s"


def test_a_curve_has_each_number_of_threads_once(both: Tables) -> None:
    """Saturation is over threads alone, for each combination of the other parameters."""
    assert all(curve["threads"].is_unique for _, curve in curves(both["points"]))
    saturation = both["saturation_points"]
    assert len(saturation) == 3 * 2
    assert not saturation.duplicated(["payload_bytes", "pause_s"]).any()
    assert saturation["text"].str.startswith("With payload 100 bytes, pause 0 s: ").sum() == 1


@pytest.mark.starts_programs
def test_a_page_names_what_varies(pages: Path) -> None:
    """Sentences, headings of tables and descriptions of figures name it."""
    text = _text(pages / "rabbitmq/cmsm/index.rst")
    assert "Points differ in payload (100, 1000, 10000 bytes) and pause (0, 0.1 s), too." in text
    assert "with 50 threads, payload 100 bytes, pause 0 s" in text
    assert "* - threads - payload, bytes - pause, s - throughput, msg/sec" in text
    assert "* - threads - payload, bytes - pause, s - sent, msg" in text
    assert "* - threads - payload, bytes - pause, s - Master total, %" in text
    assert "depending on payload, thread count and pause" in text
    assert "10 threads, payload 100 bytes, pause 0.1 s from" in text
    system = _text(pages / "rabbitmq/index.rst")
    assert "- CALL at" in system
    assert "50 threads, payload 100 bytes, pause 0 s" in system


def test_an_audit_names_what_varies(both: Tables) -> None:
    """Points with equal threads differ in their parameters; a point never measured has none."""
    doubt = both["doubts"].tail(1)
    nobody = doubt.assign(point="nobody", run="missing")
    lines = list(as_text_lines({**both, "doubts": pd.concat([doubt, nobody])}))
    assert [line.partition(": ")[0] for line in lines] == [
        "rabbitmq cmsm classic rpc-call, 50 threads, payload 10000 bytes, pause 0.1 s",
        "rabbitmq cmsm classic rpc-call 50 threads",
    ]


def test_an_answer_has_a_column_for_what_varies(both: Tables, tmp_path: Path) -> None:
    """The best points have a column for every parameter after their threads."""
    write({name: both[name] for name in read_names()}, tmp_path)
    (tmp_path / PUBLISHED).write_text('{"title": "Both"}')
    shown = list(of_folder(tmp_path))
    place = next(number for number, line in enumerate(shown) if line.startswith("topology"))
    headings, best = shown[place : place + 2]
    assert headings.split()[-12:-5] == [
        *("msg/sec", "threads", "payload,", "bytes", "pause,", "s", "p50,")
    ]
    assert best.split()[-7:-4] == ["50", "100", "0"]


def test_a_sheet_has_a_row_for_each_value_of_the_rest(both: Tables) -> None:
    """Throughput, latency and CPU against payload, coloured by threads, for both pauses."""
    sheet = figures.sweep_sheet(both["points"])
    axes = sheet.axes
    assert len(axes) == 2 * 3
    assert {panel.get_xlabel() for panel in axes} == {"payload, bytes"}
    assert {panel.get_xscale() for panel in axes} == {"log"}
    assert axes[0].get_ylim() == axes[3].get_ylim()
    labels = axes[0].get_legend_handles_labels()[1]
    assert labels == ["10 threads", "50 threads"]


def test_a_map_has_every_combination(both: Tables) -> None:
    """Throughput by payload and threads, for each pause; a sweep of one axis has no map."""
    [content] = contents(both, "combinations", "rpc-call")
    assert content.drawing is not None
    sheet = content.drawing.figure()
    panels = [panel for part in sheet.subfigs for panel in part.axes]
    assert len(panels) == 2
    assert [text.get_text() for text in panels[0].get_yticklabels()] == ["10 threads", "50 threads"]
    assert len(panels[0].texts) == 3 * 2
    assert all(text.get_text() for text in panels[0].texts)
    assert contents(tables(ONE), "combinations", "rpc-call") == []


def test_a_map_says_what_is_doubted(both: Tables) -> None:
    """A doubtful number is in parentheses, which a sentence explains; otherwise there are none."""
    point = both["points"]["point"].iloc[0]
    doubts = both["doubts"][:0]
    for planted, marked in ((doubts, 0), (pd.DataFrame([{"point": point, "kind": "lost"}]), 1)):
        frames = {**both, "doubts": planted}
        [content] = contents(frames, "combinations", "rpc-call")
        assert content.drawing is not None
        sheet = content.drawing.figure()
        texts = [text.get_text() for part in sheet.subfigs for text in part.axes[0].texts]
        assert sum(text.startswith("(") for text in texts) == marked
        assert ("Points in doubt are in parentheses." in content.words) is bool(marked)


def test_a_map_may_lack_all_but_one_value_of_an_axis(both: Tables) -> None:
    """Where only one number of threads was measured at a pause, the map there has one row."""
    points = both["points"]
    sheet = map_sheet(points[points["threads"].eq(10) | points["pause_s"].eq(0)], "threads")
    rows = [[text.get_text() for text in part.axes[0].get_yticklabels()] for part in sheet.subfigs]
    assert rows == [["10 threads", "50 threads"], ["10 threads"]]
    assert [len(part.axes[0].texts) for part in sheet.subfigs] == [3 * 2, 3]


def test_a_map_shows_any_value_of_a_text() -> None:
    """A value that looks like a formula has its cells, too."""
    frames = tables(replace(ONE, parameters=(("targets", ("$own$", "shared")),)))
    sheet = map_sheet(frames["points"], "targets")
    assert [bool(text.get_text()) for text in sheet.axes[0].texts] == [True] * 4


def test_another_payload_is_a_difference_of_sets() -> None:
    """It is named among the differences, and among the methods if it is constant."""
    small, large = (
        tables(replace(ONE, parameters=(("payload_bytes", (size,)),))) for size in (100, 1_000)
    )
    differences = compared(small, large)["differences"].set_index("what")
    sides = ["value_in_a", "value_in_b"]
    assert tuple(differences.loc["Payload, bytes", sides]) == ("100", "1000")
    rows = recorded(small, {"rabbitmq": "RabbitMQ"})[0]["The sweep"].rows
    assert ("payload", "100 bytes") in rows


def test_texts_stand_on_x_alone() -> None:
    """Own and shared targets are two positions, labelled by their names."""
    frames = tables(replace(ONE, threads=(10,), parameters=(("targets", ("own", "shared")),)))
    panel = panels.throughput(frames["points"], Figure().subplots())
    assert [label.get_text() for label in panel.get_xticklabels()] == ["own", "shared"]
    assert panel.get_xlabel() == "targets"


def test_a_pause_of_nothing_is_on_a_linear_axis() -> None:
    """There is no logarithm of 0 s."""
    pauses = ("pause_s", (0.0, 0.001, 1.0))
    frames = tables(replace(ONE, threads=(10,), parameters=(pauses,)))
    panel = panels.throughput(frames["points"], Figure().subplots())
    assert panel.get_xscale() == "linear"


def test_notebooks_tell_points_apart(both: Tables) -> None:
    """Every row of a table has its payload and its pause."""
    where = ["threads", "payload, bytes", "pause, s"]
    for section in ("points", "nodes"):
        shown = notebook.table(both, section, "rpc-call")
        assert not shown[where].duplicated().any()
    [table] = [answered.table for answered in answers(both, ["scaling"])]
    assert table is not None
    assert {"payload, bytes", "pause, s"} <= {*table.columns.values()}
    assert {"payload_bytes", "pause_s"} <= {*notebook.doubts(both).columns}


def test_points_are_compared_with_their_like(both: Tables) -> None:
    """Payloads and pauses are keys; so are processes, of which 10 x 1 and 5 x 2 are two points."""
    comparison = compared(both, both)["comparison"]
    assert comparison["ratio"].eq(1.0).all()
    assert len(comparison) == 4 * 2 * 3 * 2
    lines = wording.text_lines(empty("differences"), comparison)
    assert "payload 100 bytes, pause 0.1 s" in " ".join(lines)
    assert all("at 12 points" in answer for answer in wording.answers(comparison))
    split = tables(replace(ONE, threads=(10,), parameters=(("processes", (1, 2)),)))
    comparison = compared(split, split)["comparison"]
    assert sorted(comparison["processes"].unique()) == [1, 2]


def test_an_axis_that_only_one_side_has_is_a_key(both: Tables) -> None:
    """Only the payload and pause that the other set has are compared."""
    single = tables(replace(ONE, parameters=(("payload_bytes", (1_000,)), ("pause_s", (0.1,)))))
    comparison = compared(both, single)["comparison"]
    assert set(comparison["payload_bytes"]) == {1_000}
    assert set(comparison["pause_s"]) == {0.1}
    assert comparison["ratio"].eq(1.0).all()


def test_a_known_pause_raises_no_doubt(both: Tables) -> None:
    """Pausing threads are accounted for, also beside points without a pause."""
    assert "littles-law" not in set(both["doubts"]["kind"])
    pauses = ("pause_s", (0.01, 0.1, 1.0))
    frames = tables(replace(ONE, threads=(10, 50, 100, 250), parameters=(pauses,)))
    assert "littles-law" not in set(frames["doubts"]["kind"])


def _paused() -> dict[str, pd.DataFrame]:
    paused = replace(ONE, threads=(10, 50, 100, 250), parameters=(("pause_s", (0.1,)),))
    return {name: frame for name, frame in tables(paused).items() if name not in COMPUTED}


def test_silent_load_generators_are_found_beside_a_pause() -> None:
    """A third of the threads did nothing: neither the pause nor the round trip explains them."""
    read = _paused()
    messages = read["messages"]
    of_one = messages["run"].str.endswith("t0250-0.1-r1")
    messages.loc[of_one, "throughput_msg_s"] *= 2 / 3
    messages.loc[of_one, "round_trip"] -= 1_000
    reported = read["runs"]["reported"]
    read["runs"]["reported"] = reported.mask(reported.notna())
    doubts = complete(read)["doubts"].query("kind == 'littles-law'")
    assert doubts["run"].str.endswith("t0250-0.1-r1").all()
    assert "throughput x (round trip + 100 ms pause + " in doubts["text"].item()
    assert "accounts for 167 of 250 threads" in doubts["text"].item()


def test_threads_that_cannot_have_paused_are_found() -> None:
    """More messages than threads that pause can send: the pause was not made, or counts are off."""
    read = _paused()
    of_one = read["messages"]["run"].str.endswith("t0010-0.1-r1")
    read["messages"].loc[of_one, "throughput_msg_s"] *= 1.5
    doubts = complete(read)["doubts"].query("kind == 'littles-law'")
    assert doubts["run"].str.endswith("t0010-0.1-r1").all()
    assert "throughput x (round trip + 100 ms pause) is 15 messages" in doubts["text"].item()


def test_the_saturation_point_counts_the_pause() -> None:
    """With think time Z it is where N / (R0 + Z) meets the highest throughput."""
    service, pause = 0.001, 0.1
    threads = pd.Series([1.0, 5, 10, 20, 40, 80, 160, 320])
    rates = threads / (service + pause + 0.002 * (threads - 1))
    point = saturation_point(pd.DataFrame({"threads": threads, "throughput_msg_s": rates}))
    assert point["saturation_threads"] == pytest.approx((service + pause) * rates.max())
