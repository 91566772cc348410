"""What ``mqperf`` offers to notebooks and programs: plans, results, comparisons."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import samples

import mqperf
from mqperf.base.errors import MqperfError, PlanError
from mqperf.plan.columns import TABLES
from mqperf.plan.file import load_plan
from mqperf.study import tables

pytestmark = pytest.mark.takes_long


@pytest.fixture(scope="module")
def found(root: Path) -> mqperf.Results:
    return mqperf.read(root / "data/samples/runs")


@pytest.mark.starts_programs
def test_measuring_does_not_import_pandas() -> None:
    """pandas is imported only when a name of the analysis API is used."""
    words = subprocess.check_output(
        [sys.executable, "-c", "import mqperf, sys; print('pandas' in sys.modules, *dir(mqperf))"],
        text=True,
    ).split()
    assert words[0] == "False"
    assert set(mqperf.__all__) <= set(words)
    with pytest.raises(AttributeError, match="no_such_name"):
        mqperf.no_such_name  # noqa: B018


def test_results_are_the_tables(found: mqperf.Results, root: Path) -> None:
    """The same numbers as those that are written, audited and published."""
    complete = samples.complete(root / "data/samples/runs")
    assert set(found) == set(complete) <= set(TABLES)
    for name, frame in found.items():
        assert frame.equals(tables.of_plan(complete)[name]), name
    assert len(found.points) == 24
    assert set(found.doubts["kind"]) == set(complete["doubts"]["kind"])


def test_unplanned_points_are_left_out(root: Path, tmp_path: Path) -> None:
    """Points that are not in the folder's plan are no results; the doubt about them is kept."""
    copy = shutil.copytree(root / "data/samples/runs", tmp_path / "runs")
    plan = (copy / "plan.yaml").read_text()
    (copy / "plan.yaml").write_text(plan.replace("rpc-call, ", "").replace("- rpc-call\n", ""))
    less = mqperf.read(copy)
    assert "rpc-call" not in set(less.points["test_case"])
    assert "not-of-plan" in set(less.doubts["kind"])


def test_a_folder_is_read_again_after_a_file_changed(root: Path, tmp_path: Path) -> None:
    """Otherwise the cached tables are returned, without changes that callers made."""
    copy = shutil.copytree(root / "data/samples/runs", tmp_path / "runs")
    before = mqperf.read(copy)
    numbers = before.points["throughput_msg_s"].tolist()
    before.points.loc[:, "throughput_msg_s"] = 0.0
    assert mqperf.read(copy).points["throughput_msg_s"].tolist() == numbers
    [log, *_] = sorted(copy.glob("*/load/client-1.log"))
    log.write_text(log.read_text() + "more\n")
    assert len(mqperf.read(copy)["doubts"]) > len(before["doubts"])


def test_the_answer_stands_in_the_cell(found: mqperf.Results) -> None:
    """The cell shows the plan's questions with answers, then the best point of every sweep."""
    page = found._repr_html_()
    assert page.count("<tr") == 1 + len(found.summary)
    assert all(answer.question in page for answer in found.answer.answers)
    assert "24 points" in repr(found)


def test_a_selection_has_its_points_only(found: mqperf.Results) -> None:
    """Every table has the rows of the points that are left, and no others."""
    few = found.select(test_case="rpc-call", topology="cmsm", queues="classic")
    assert 0 < len(few.points) < len(found.points)
    for name, frame in few.items():
        if "point" in frame.columns:
            assert set(frame["point"].dropna()) <= set(few.points["point"]), name
    assert set(few["saturation_points"]["test_case"]) == {"rpc-call"}
    assert few.plot().axes
    assert len(found.select().points) == len(found.points)


def test_an_invalid_selection_or_plot_is_an_error(found: mqperf.Results) -> None:
    """The error lists the existing columns and values."""
    with pytest.raises(MqperfError, match=r"no column 'testcase'; there are: .*test_case"):
        found.select(testcase="rpc-call")
    with pytest.raises(MqperfError, match=r"no test_case 'call'; measured: .*rpc-call"):
        found.select(test_case="call")
    with pytest.raises(MqperfError, match=r"select one sweep.*test_case: rpc-call"):
        found.plot()


def test_one_metric_is_plotted_alone(found: mqperf.Results) -> None:
    """Each metric can be plotted; an unknown one is an error that lists them."""
    few = found.select(test_case="rpc-call", topology="cmsm", queues="classic")
    metrics = ("throughput", "latency", "cpu", "cpu_per_message")
    labels = {few.plot(metric).axes[0].get_title(loc="left") for metric in metrics}
    assert len(labels) == len(metrics)
    message = "no metric 'p99' to plot; there are: throughput, latency, cpu, cpu_per_message"
    with pytest.raises(MqperfError, match=message):
        few.plot("p99")


def test_an_unknown_table_is_an_error_with_the_nearest_name(found: mqperf.Results) -> None:
    """The error is a ``KeyError`` as well, so that results are a mapping like any other."""
    with pytest.raises(MqperfError, match=r"/runs: no table 'mesages'; did you mean 'messages'\?$"):
        found["mesages"]
    with pytest.raises(KeyError, match="no table 'mesages'"):
        found["mesages"]
    assert "mesages" not in found
    assert found.get("mesages") is None


def test_paths_are_compared_as_results_are(found: mqperf.Results, root: Path) -> None:
    """Either or both sides may be paths; anything else is an error of one sentence."""
    path = root / "data/samples/runs"
    shown = repr(found.compare(found))
    assert repr(mqperf.compare(path, str(path))) == shown
    assert repr(found.compare(path)) == shown
    with pytest.raises(MqperfError, match="takes results or the path of their folder, got int"):
        found.compare(5)  # type: ignore[arg-type]


@pytest.mark.starts_programs
def test_a_comparison_with_itself_finds_nothing(found: mqperf.Results, tmp_path: Path) -> None:
    """No difference, every ratio 1, a figure, text, and a page."""
    same = found.compare(found)
    assert same.differences.empty
    assert same.ratios["ratio"].dropna().eq(1).all()
    assert len(same.sustained) == len(found.summary)
    assert same.sustained["ratio"].dropna().eq(1).all()
    assert same.plot().axes
    page = same.report(tmp_path / "out").read_text()
    for text in (repr(same), page, same._repr_html_()):
        assert "B against A, throughput at 24 points: cannot tell at 24, doubted at 9." in text


def test_plans_are_made_and_loaded(root: Path) -> None:
    """From a file as the command line does, and from Python with the keys of a file."""
    file = root / "plans/quickstart.yaml"
    assert mqperf.load_plan(file) == load_plan(file)
    made = mqperf.new_plan(
        systems={"rabbitmq": {"topologies": ["cmsm"]}},
        test_cases=["rpc-call"],
        load={"green_threads": [1, 10], "duration_s": 5},
        repeats=2,
        order="random",
    )
    assert len(made.cases()) == 4
    assert made.order == "random"
    with pytest.raises(PlanError, match="rpc-cal"):
        mqperf.new_plan(systems={"rabbitmq": {}}, test_cases=["rpc-cal"], load={})


@pytest.mark.starts_programs
def test_with_nothing_pending_a_run_reads(root: Path, tmp_path: Path) -> None:
    """No system is started for measured points, whether the plan is a file or an object."""
    runs = shutil.copytree(root / "data/samples/runs", tmp_path / "runs")
    plan = runs / "plan.yaml"
    for source in (plan, mqperf.load_plan(plan)):
        again = mqperf.run(source, runs)
        assert len(again.points) == 24


@pytest.mark.starts_programs
def test_a_mistake_is_one_line_in_a_cell(tmp_path: Path) -> None:
    """No traceback for a folder that is not there, or a plan that asks for what does not exist."""
    import nbformat
    from nbclient import NotebookClient

    cells = ["import mqperf", "mqperf.read('nowhere')", "mqperf.load_plan('nowhere.yaml')"]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(book, allow_errors=True, resources={"metadata": {"path": tmp_path}}).execute()
    for cell in book.cells[1:]:
        [error] = cell.outputs
        [line] = error.traceback
        assert line.startswith("mqperf: nowhere")
