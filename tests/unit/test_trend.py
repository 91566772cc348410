"""Trends over many folders: planted steps are located, and equal folders give none."""

import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from factory import Shape, tables
from matplotlib.text import Annotation
from staircases import CLIMB, climbed
from typer.testing import CliRunner

import mqperf_trend
from mqperf.base.errors import MqperfError, TableError
from mqperf.front.cli import app
from mqperf.plan.columns import COMPUTED
from mqperf.study import stats
from mqperf.study.tables import Tables
from mqperf_trend.front import api
from mqperf_trend.pages import page as trend_page
from mqperf_trend.pages import words
from mqperf_trend.study import trends as study
from mqperf_trend.study.trends import TREND_FIGURES

pytestmark = pytest.mark.takes_long

SHAPE = Shape(
    layouts=(("cmsm", "classic"),), test_cases=("rpc-call",), threads=(50, 100), repeats=5
)
NOISE = 0.02


def folder(
    day: int,
    *,
    system: float = 1.0,
    machine: float = 1.0,
    control: bool = True,
    **facts: str | int,
) -> tuple[str, Tables]:
    """Invented runs of a day; throughput is a multiple, by ``system`` or ``machine``, of the usual.

    Control runs depend on the machine alone: the change of the system spares their point.  All runs
    have the ``facts``.
    """
    frames = of_day(day, system, machine, control=control, facts=tuple(facts.items()))
    return f"runs/day-{day}", {name: frame.copy(deep=False) for name, frame in frames.items()}


@cache
def of_day(
    day: int,
    system: float,
    machine: float,
    *,
    control: bool,
    facts: tuple[tuple[str, str | int], ...],
) -> Tables:
    """The tables of such a day, computed once for all tests."""
    random = np.random.default_rng(day)
    rows = {name: frame for name, frame in tables(SHAPE).items() if name not in COMPUTED}
    if control:
        rows = with_control_runs(rows)
    started = rows["runs"]["started"] + pd.Timedelta(days=day)
    rows["runs"] = rows["runs"].assign(started=started, **dict(facts))
    watches = rows["runs"].set_index("run")["control_run"].fillna(0).gt(0)
    names = list(watches.index)
    rates = np.exp(NOISE * random.normal(size=len(names))) * machine
    rates = pd.Series(rates, names) * np.where(watches, 1.0, system)
    for name, power in (("messages", 1), ("latency", -1)):
        table = rows[name].set_index("run", drop=False)
        columns = list(table.filter(regex="^(throughput_msg|latency_)"))
        factor = rates.reindex(table.index) ** power
        rows[name] = table.assign(**{key: table[key] * factor for key in columns}).reset_index(
            drop=True
        )
    return stats.complete(rows)


def with_control_runs(rows: Tables) -> dict[str, pd.DataFrame]:
    """Three more runs of the first point, as control runs."""
    frames = dict(rows)
    model = rows["runs"].iloc[0]["run"]
    for name in ("runs", "messages", "latency"):
        [first] = rows[name][rows[name]["run"] == model].to_dict("records")
        more = [first | {"run": f"control-{turn}"} for turn in (1, 2, 3)]
        if name == "runs":
            more = [row | {"control_run": n} for n, row in enumerate(more, 1)]
        added = pd.DataFrame(more).astype(rows[name].dtypes)
        frames[name] = pd.concat([rows[name], added], ignore_index=True)
    return frames


def without_100_threads(day: int) -> tuple[str, Tables]:
    """Such a day with only 50 threads measured."""
    name, frames = folder(day)
    remaining = {
        table: frame[frame["threads"].ne(100).fillna(value=True)] if "threads" in frame else frame
        for table, frame in frames.items()
        if table not in COMPUTED
    }
    return name, stats.complete(remaining)


def changed(frames: Tables) -> set[tuple[str, str, str]]:
    """Step, figure and verdict of every change."""
    rows = words.changes(frames["trend_steps"])
    return set(rows[["folder_b", "figure", "verdict"]].itertuples(index=False, name=None))


@pytest.fixture(scope="module")
def stepped() -> Tables:
    """Five days in shuffled order; from the fourth on the system is a fifth slower."""
    given = [folder(day, system=0.8 if day >= 3 else 1.0) for day in (4, 1, 0, 3, 2)]
    return study.trend(given)


def test_a_planted_step_is_found_in_its_place(stepped: Tables) -> None:
    """It is between the third day and the fourth only, with its ratio in the interval."""
    assert list(stepped["trend_folders"]["folder"]) == [f"runs/day-{day}" for day in range(5)]
    changes = words.changes(stepped["trend_steps"])
    assert set(changes["folder_a"]) == {"runs/day-2"}
    assert set(changes["folder_b"]) == {"runs/day-3"}
    assert set(changes["verdict"]) == {"worse"}
    assert set(changes["figure"]) == set(TREND_FIGURES)
    rates = changes[changes["figure"] == "throughput_msg_s"]
    assert list(rates["threads"]) == [50, 100]
    assert rates["ratio"].between(0.76, 0.84).all()
    assert (rates["ratio_low"].lt(0.8) & rates["ratio_high"].gt(0.8)).all()
    assert set(changes["cause"]) == {"change"}


def test_what_is_sustained_has_the_verdict_of_its_point(stepped: Tables) -> None:
    """It is the throughput verdict of the point that sustains it on both sides, not a new test."""
    rows = stepped["trend_sustained"].set_index("folder")
    assert rows["sustained_throughput_msg_s"].notna().all()
    assert rows.loc["runs/day-3", "step"] == "worse"
    assert rows.loc["runs/day-3", "ratio"] == pytest.approx(0.8, rel=0.1)
    assert rows.loc["runs/day-0", "step"] == "none"
    assert set(rows.loc[["runs/day-1", "runs/day-2", "runs/day-4"], "step"]) == {"cannot tell"}


def test_a_gradual_change_names_its_version() -> None:
    """A step is against the last folder of its reference; so are its control runs."""
    folders = [folder(day) for day in range(5)]
    folders += [
        folder(5, system=0.96, system_version="99"),
        folder(6, system=0.85, system_version="99"),
    ]
    steps = words.changes(study.trend(folders)["trend_steps"])
    assert set(steps["folder_b"]) == {"runs/day-6"}
    assert set(steps["folder_a"]) == {"runs/day-4"}
    assert steps["differs"].str.contains("99").all()
    assert steps["control_ratio"].between(0.93, 1.07).all()


def test_each_step_tells_what_would_have_been_found(stepped: Tables) -> None:
    """The least detectable change is given for every step, sustained throughput and the newest."""
    assert stepped["trend_steps"]["detectable"].between(0.05, 0.3).all()
    [*_, last] = words.sustained_lines(stepped)
    assert last.endswith(" % would show)")
    assert "; last / the one before " in last
    assert "; step from its reference: " in last
    assert "% would mostly have been found." in words.summary(stepped)


def test_drift_that_control_runs_show_is_no_change() -> None:
    """The whole machine became slower, and no version changed."""
    frames = study.trend([folder(0), folder(1), folder(2, machine=0.7)])
    assert changed(frames) == set()
    drifts = words.drifts(frames["trend_steps"])
    assert set(drifts["folder_b"]) == {"runs/day-2"}
    assert "throughput_msg_s" in set(drifts["figure"])
    assert drifts["control_ratio"].notna().all()
    assert drifts["beyond_control"].between(0.9, 1.1).all()
    [last] = frames["trend_sustained"].tail(1)["step"]
    assert last == "worse (machine drift)"


def test_more_than_the_drift_is_a_change() -> None:
    """The machine lost a tenth, the system much more."""
    frames = study.trend([folder(0), folder(1, machine=0.9, system=0.6)])
    rates = {figure for _, figure, verdict in changed(frames) if verdict == "worse"}
    assert "throughput_msg_s" in rates
    steps = words.changes(frames["trend_steps"])
    rows = steps[steps["figure"] == "throughput_msg_s"]
    assert rows["ratio"].to_numpy() == pytest.approx(0.54, rel=0.1)
    assert rows["beyond_control"].to_numpy() == pytest.approx(0.6, rel=0.1)


def test_control_runs_of_another_version_do_not_count() -> None:
    """They use the system too: their drift may be its effect."""
    later = folder(1, machine=0.7, system_version="4.0.5")
    frames = study.trend([folder(0), later])
    steps = words.changes(frames["trend_steps"])
    assert set(steps["cause"]) == {"versions or machine"}
    assert steps["differs"].str.contains(r"3\.10\.8 \| 4\.0\.5").all()


def test_without_control_runs_that_is_said() -> None:
    """The text says that a change may be the machine's, as there were no control runs."""
    given = [folder(0, control=False), folder(1, control=False, system=0.7)]
    frames = study.trend(given)
    assert set(words.changes(frames["trend_steps"])["cause"]) == {"not watched"}
    assert words.NO_CONTROL in list(words.marks(frames))
    assert words.NO_CONTROL not in list(words.marks(study.trend([folder(0), folder(1)])))


def test_another_machine_is_marked_and_not_compared() -> None:
    """A faster processor is no change; the series continues when the first one is back."""
    other = folder(2, system=2.0, cpu_model="Another CPU")
    given = [folder(0), folder(1), other, folder(3), folder(4)]
    frames = study.trend(given)
    assert list(frames["trend_folders"]["machine_number"]) == [1, 1, 2, 1, 1]
    pairs = frames["trend_steps"][["folder_a", "folder_b"]].drop_duplicates()
    assert list(pairs["folder_b"]) == ["runs/day-1", "runs/day-3", "runs/day-4"]
    assert list(pairs["folder_a"]) == ["runs/day-0", "runs/day-1", "runs/day-3"]
    assert changed(frames) == set()
    newest = "In the newest folder a change of"
    assert newest in words.summary(frames)
    assert newest not in words.summary(study.trend(given[:3]))
    marks = [line for line in words.marks(frames) if "another machine" in line]
    assert len(marks) == 2
    assert all("not compared" in line and "Another CPU" in line for line in marks)


def test_a_little_more_memory_is_the_same_machine() -> None:
    """A new kernel may reserve less of it; twice as much is another machine."""
    memory = 24 * 2**30
    given = [
        folder(day, memory_bytes=size)
        for day, size in enumerate((memory, memory - 2**26, 2 * memory))
    ]
    assert list(study.trend(given)["trend_folders"]["machine_number"]) == [1, 1, 2]


def test_a_folder_without_the_point_is_passed_over() -> None:
    """Its neighbours in the point's own series are compared."""
    frames = study.trend([folder(0), without_100_threads(1), folder(2)])
    steps = frames["trend_steps"]
    pairs = steps[steps["threads"] == 100][["folder_a", "folder_b"]].drop_duplicates()
    assert pairs.to_numpy().tolist() == [["runs/day-0", "runs/day-2"]]


@pytest.fixture(scope="module")
def moved() -> Tables:
    """Three days; the last sustains 50 threads, as 100 threads were not measured."""
    return study.trend([folder(0), folder(1), without_100_threads(2)])


def test_a_sustained_point_that_moved_is_told_and_not_compared(moved: Tables) -> None:
    """Rates of two points have no ratio; text, terminal and page name both points."""
    rows = moved["trend_sustained"].set_index("folder")
    assert list(rows["sustained_at"]) == ["100 threads", "100 threads", "50 threads"]
    assert rows.loc["runs/day-2", "step"] == "at another point"
    assert rows["ratio"].notna().tolist() == [False, True, False]
    assert rows["moved_from"].dropna().to_dict() == {"runs/day-2": "100 threads"}
    [sentence] = words.moves(moved)
    assert "the sustained point moved from 100 threads to 50 threads" in sentence
    lines = "\n".join(words.text_lines(moved))
    assert sentence in lines
    assert "(50 threads) msg/sec" in lines


def test_lines_join_the_same_point_only(moved: Tables) -> None:
    """Sustained throughput is drawn per point: no line joins 100 threads and 50."""
    sustained = moved["trend_sustained"].set_index("folder_place")["sustained_throughput_msg_s"]
    panel = trend_page.sustained_sheet(moved).axes[0]
    joined = [
        np.asarray(drawn.get_xydata()).tolist()
        for drawn in panel.lines
        if drawn.get_linestyle() != "None" and len(np.asarray(drawn.get_xdata()))
    ]
    assert joined == [[[3, sustained[3]]], [[1, sustained[1]], [2, sustained[2]]]]


def test_staircases_are_followed_by_where_they_end() -> None:
    """A step in their saturation rate is found; without an end nothing is sustained."""
    steady, slower = (630.0, 625.0, 635.0), (205.0, 204.0, 206.0)
    sides = climbed(steady, steady), climbed(slower, (1e9, 1e9, 1e9))
    folders = [(name, stats.complete(side)) for name, side in zip("ab", sides, strict=True)]
    after = study.trend(folders)["trend_sustained"].query("folder == 'b'").set_index("queues")
    rates = after["sustained_throughput_msg_s"].to_dict()
    assert CLIMB[slower[0] > CLIMB].max() < rates["classic"] < CLIMB[slower[0] < CLIMB].min()
    assert np.isnan(rates["mirrored"])
    assert after["step"].to_dict()["classic"].startswith("worse")


def test_nothing_in_common_is_said() -> None:
    """It is said of fewer than two folders, and of folders of different plans."""
    with pytest.raises(TableError, match="two folders"):
        study.trend([folder(0)])
    name, other = folder(1)
    elsewhere = {
        table: frame.assign(topology="cs1ss2") if "topology" in frame else frame
        for table, frame in other.items()
    }
    with pytest.raises(TableError, match="no point in common"):
        study.trend([folder(0), (name, elsewhere)])


@pytest.fixture(scope="module")
def page(stepped: Tables, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trend_page.write(tmp_path_factory.mktemp("trend") / "out", stepped, html=False)


@pytest.mark.starts_programs
def test_a_page_tells_what_differs_then_changes(page: Path) -> None:
    """Control runs, sustained throughput and figures with alternative texts follow."""
    text = page.read_text()
    heads = ("What differs", "Changes", "Control runs", "Sustained throughput", "RPC CALL", "Data")
    places = [text.index(f"\n{head}") for head in heads]
    assert places == sorted(places)
    alts = [line for line in text.splitlines() if ":alt:" in line]
    assert len(alts) == 2
    assert "worse in throughput of 50 threads in 2026-03-17" in alts[1]
    for file in page.parent.glob("*.svg"):
        drawing = file.read_text()
        assert "<title" in drawing
        assert "2026-03-14" in drawing
    assert len(list(page.parent.glob("*.svg"))) == 2
    assert len(list((page.parent / "tables").glob("*.csv"))) == 6


def test_marks_stand_at_the_steps(stepped: Tables) -> None:
    """The label of a change is at the point after the step, in its own panel."""
    sheet = trend_page.point_sheet(stepped)
    for panel in sheet.axes:
        [note] = panel.texts
        assert isinstance(note, Annotation)
        assert (note.get_text(), note.xy[0]) == ("2 worse", 4.0)


@pytest.mark.starts_programs
def test_the_command_line_from_end_to_end(root: Path, tmp_path: Path) -> None:
    """Copies of recorded runs give no change; unreadable folders are named."""
    samples = root / "data/samples/runs"
    first = shutil.copytree(samples, tmp_path / "first")
    second = shutil.copytree(samples, tmp_path / "second")
    words_of = ["trend", str(second), str(first), str(tmp_path / "nowhere"), "--fail-on", "worse"]
    done = CliRunner().invoke(app, [*words_of, "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert any("left out" in line and "nowhere: no such folder" in line for line in lines)
    assert any("it is a copy" in line for line in lines)
    assert any("0 better, 0 worse" in line for line in lines)
    last = Path(done.stdout.splitlines()[-1])
    assert last == tmp_path / "out/html/index.html"
    assert "Sustained throughput" in last.read_text()


@pytest.mark.parametrize("given", [["one"], ["one", "one"], ["one", "nowhere"]])
def test_fewer_than_two_folders_are_one_clear_line(
    root: Path, tmp_path: Path, given: Sequence[str]
) -> None:
    """It holds for one folder, for the same one twice, and for two if only one is readable."""
    shutil.copytree(root / "data/samples/faults", tmp_path / "one")
    with pytest.raises(MqperfError, match="two folders of runs or more, and has 1") as caught:
        mqperf_trend.trend([tmp_path / name for name in given])
    assert "\n" not in str(caught.value)


def test_a_worse_step_may_be_an_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Either any change for the worse counts or only the newest, but never the machine's drift."""
    early = [folder(0), folder(1, system=0.7), folder(2, system=0.7)]
    late = [folder(0), folder(1), folder(2, system=0.7)]
    drift = [folder(0), folder(1), folder(2, machine=0.7)]
    for given, ever, newest in ((early, 1, 0), (late, 1, 1), (drift, 0, 0)):
        trend = mqperf_trend.Trend(study.trend(given))
        monkeypatch.setattr(api, "trend", lambda _paths, trend=trend, **_options: trend)
        for word, code in (("worse", ever), ("newest-worse", newest)):
            done = CliRunner().invoke(app, ["trend", "a", "b", "--fail-on", word])
            assert done.exit_code == code, done.output
        assert CliRunner().invoke(app, ["trend", "a", "b"]).exit_code == 0


def test_folders_without_a_date_come_first() -> None:
    """Imported reports may have no date; they are drawn, compared and named."""
    name, published = folder(5)
    runs = published["runs"].copy()
    runs["started"] = runs["started"].mask(runs["started"].notna())
    frames = study.trend([folder(0), (name, {**published, "runs": runs}), folder(1)])
    assert list(frames["trend_folders"]["folder_label"]) == ["day-5", "2026-03-14", "2026-03-15"]
    assert any("is unknown: runs/day-5" in line for line in words.marks(frames))
    assert len(words.changes(frames["trend_steps"])) == 0


def test_folders_of_one_day_have_their_names() -> None:
    """Labels are the broker's version, the commit, or if these are equal, the position."""
    (first, rows), (second, _), (third, later) = folder(0), folder(1), folder(2)
    for names, labels in (
        ((first, second, third), ["day-0", "day-1", "day-2"]),
        (("a/runs", "b/runs", third), ["2026-03-14, 1", "2026-03-14, 2", "2026-03-16"]),
    ):
        frames = study.trend(list(zip(names, (rows, rows, later), strict=True)))
        assert list(frames["trend_folders"]["folder_label"]) == labels


def test_a_notebook_has_tables_and_figures(stepped: Tables) -> None:
    """It has changes, a sweep's figure, and HTML of all; a wrong selection is a one-line error."""
    trend = mqperf_trend.Trend(stepped)
    assert len(trend.plot().axes) == 3
    assert len(trend.plot(points=True, queues="classic").axes) == 3
    assert "2026-03-14" in trend._repr_html_()
    assert "worse" in repr(trend)
    with pytest.raises(MqperfError, match="select one sweep"):
        trend.plot(queues="quorum")
    with pytest.raises(MqperfError, match="no column 'queue'"):
        trend.plot(queue="classic")
