"""Reports: the published layout, every doubt and failure in its place, and atomic replacement."""

import gzip
import json
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import samples
from factory import DOUBT, Shape, tables

import mqperf.pages.report
from mqperf.base.errors import ReportError
from mqperf.pages.report.build import build
from mqperf.pages.report.methods import recorded
from mqperf.pages.report.page import page as page_of
from mqperf.pages.report.pictures.topology import picture
from mqperf.pages.report.source import Contents, write_source
from mqperf.pages.report.words import Layout, layouts
from mqperf.plan.columns import TABLES
from mqperf.study import tables as rooms
from mqperf.study.stats.doubt_kinds import CHECKS
from mqperf.study.tables import Tables, conform

pytestmark = pytest.mark.starts_programs

ONE = Shape(layouts=(("cmsm", "classic"),), test_cases=("rpc-call",), threads=(10, 20), repeats=1)
TITLE = re.compile(r"^(.+)\n[-=^~]{3,}$", re.MULTILINE)
CAPTION = re.compile(r"^\.\. list-table:: (.+)$", re.MULTILINE)
IMAGE = re.compile(r"^\.\. image:: (\S+)\.\*$", re.MULTILINE)


@pytest.fixture(scope="module")
def read() -> Tables:
    return tables()


@pytest.fixture(scope="module")
def tree(read: Tables, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("report") / "sweep"
    assert build(read, out, title="A sweep", html=False) == out / "index.rst"
    return out


@pytest.fixture(scope="module")
def published(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report on the tables of 2016."""
    out = tmp_path_factory.mktemp("published") / "2016"
    build(samples.complete(root / "data/published/2016"), out, title="2016", html=False)
    return out


def written(read: Tables, folder: Path) -> str:
    """The single page of a report without HTML."""
    build(read, folder / "out", title="A sweep", html=False)
    return next((folder / "out").glob("*/*/index.rst")).read_text()


def rows(page: str, caption: str) -> list[list[str]]:
    """The cells of a list-table."""
    body = page.split(f".. list-table:: {caption}\n")[1].split("\n\n")[1]
    return [
        [cell.removeprefix("- ").strip() for cell in re.split(r"\n {5}(?=-)", row)[1:]]
        for row in ("\n" + body).split("\n   *")[1:]
    ]


def test_tree_is_that_of_the_published_reports(tree: Path) -> None:
    """There is a folder per system, in it one per topology and kind of queue, in it the runs."""
    pages = {str(path.parent.relative_to(tree)) for path in tree.rglob("index.rst")}
    topologies = {"rabbitmq/cmsm", "rabbitmq/cs1ss2-ha"}
    assert pages == {
        ".",
        "methods",
        "rabbitmq",
        *topologies,
        *(f"{topology}/runs" for topology in topologies),
    }
    assert (tree / "rabbitmq/cs1ss2-ha/topology_cs1ss2_ha.svg").exists()


def test_page_has_the_published_sections_captions_and_images(root: Path, published: Path) -> None:
    """Built from the tables of 2016, a page has all titles, captions and images of the original."""
    for source, page in (
        ("rabbitmq-cmsm", "rabbitmq/cmsm"),
        ("rabbitmq-cs1ss2-ha", "rabbitmq/cs1ss2-ha"),
    ):
        was = (root / f"data/sources/{source}.rst").read_text()
        now = (published / page / "index.rst").read_text()
        for pattern in (TITLE, CAPTION, IMAGE):
            assert set(pattern.findall(was)) <= set(pattern.findall(now))


def test_every_picture_and_download_is_there(tree: Path) -> None:
    """A page refers only to files in its own folder or below."""
    for page in tree.rglob("index.rst"):
        text = page.read_text()
        files = [f"{name}.svg" for name in IMAGE.findall(text)]
        files += re.findall(r":download:`[^<]+<([^>]+)>`", text)
        assert files or page.parent.name in {"methods", "runs"}
        assert [name for name in files if not (page.parent / name).is_file()] == []
        assert [name for name in files if name.startswith(("..", "/"))] == []


def test_every_picture_is_told_in_words(tree: Path) -> None:
    """Alternative texts are computed and contain the numbers."""
    page = (tree / "rabbitmq/cmsm/index.rst").read_text()
    alts = re.findall(r"^   :alt: (.+)$", page, re.MULTILINE)
    assert len(alts) == len(IMAGE.findall(page))
    assert all(alt.endswith(".") for alt in alts)
    # an option is not markup: a screen reader would read a backslash aloud
    overview = (tree / "rabbitmq/index.rst").read_text()
    assert "Client -> Master, Server -> Master: CALL" in overview
    assert "\\" not in "".join(alts) + overview.split(":alt:")[1].splitlines()[0]
    assert any(re.search(r"throughput from \d+\.\d to \d+\.\d msg/sec", alt) for alt in alts)


def test_leading_columns_are_the_published_ones(tree: Path) -> None:
    """New columns stand to the right of the published ones."""
    page = (tree / "rabbitmq/cmsm/index.rst").read_text()
    counts = rows(page, "RPC CALL Message count")[0]
    assert counts[:5] == ["threads", "sent, msg", "received, msg", "round-trip, msg", "lost, msg"]
    cast = rows(page, "RPC CAST Message count")[0]
    assert cast[:4] == ["threads", "sent, msg", "received, msg", "lost, msg"]
    caption = "throughput, latency and RabbitMQ CPU utilization depending on thread count"
    sweep = rows(page, f"NOTIFY {caption}")[0]
    assert sweep[:4] == ["threads", "throughput, msg/sec", "latency, ms", "RabbitMQ CPU, %"]
    nodes = rows(page, "RabbitMQ nodes CPU consumption during NOTIFY load test")[0]
    expected = [
        f"{node} {part}, %"
        for part in ("total", "sys")
        for node in ("Master", "Slave 1", "Slave 2")
    ]
    assert nodes[1:7] == expected


def test_repeats_share_a_footnote(tmp_path: Path) -> None:
    """A doubt about several repeats is one footnote, with their number."""
    read = tables(replace(ONE, repeats=3))
    first = read["runs"].iloc[0]
    same = read["runs"][
        read["runs"]["point"].eq(first["point"]) & read["runs"]["status"].eq("done")
    ]
    keys = same[[name for name in TABLES["doubts"].columns if name in same.columns]]
    texts = [f"{number} messages wait" for number in range(7, 7 + len(keys))]
    doubts = rooms.conform("doubts", keys.assign(kind="backlog", text=texts))
    page = written({**read, "doubts": doubts}, tmp_path)
    assert "7 messages wait; likewise in 2 other runs" in page
    assert "8 messages wait" not in page


def test_the_end_of_the_warm_up_is_told(tree: Path) -> None:
    """The page counts runs with a known end, and those measured too early; warm-up is excluded."""
    page = " ".join((tree / "rabbitmq/cmsm/index.rst").read_text().split())
    assert "The start of the steady state is known for 9 of 9 runs; 3 of them became" in page
    (alt,) = set(re.findall(r"Throughput in each second .*?: (50 threads from \d+)", page)[:1])
    assert int(alt.split()[-1]) > 1000


def test_a_failed_attempt_is_a_row(tree: Path) -> None:
    """The row has its status, and the reason stands below the table."""
    page = (tree / "rabbitmq/cmsm/index.rst").read_text()
    counts = rows(page, "RPC CALL Message count")
    failed = [row for row in counts if row[-1] == "failed"]
    assert len(failed) == 1
    assert re.match(r"`50 <runs/index.html#run-\d+>`__ \[#", failed[0][0])
    assert "did not report" in page


def test_every_doubt_stands_on_its_page(tree: Path, read: Tables) -> None:
    """Each is a footnote marked at a number, or a warning about the test case.

    Of the same doubt about several repeats of a point, the first one is.
    """
    text = " ".join(
        re.sub(r"\s+", " ", page.read_text()).replace("\\", "").replace("\xa0", " ")
        for page in tree.rglob("index.rst")
    )
    assert DOUBT in text
    first = read["doubts"].drop_duplicates(["point", "kind"])["text"]
    assert [t for t in first if re.sub(r"\s+", " ", t) not in text] == []
    labels = re.findall(r"\.\. \[#([\w-]+)\]", text)
    assert [label for label in labels if f"[#{label}]_" not in text] == []


def test_test_cases_keep_their_numbers(tmp_path: Path) -> None:
    """A test case that was not measured is named, not omitted."""
    page = written(tables(replace(ONE, test_cases=("notify",))), tmp_path)
    assert [t for t in TITLE.findall(page) if t.startswith("Test Case")] == [
        "Test Case 1: RPC CALL Throughput Test",
        "Test Case 2: RPC CAST Throughput Test",
        "Test Case 3: Notification Throughput Test",
    ]
    assert page.count("This test case was not measured.") == 2


def test_a_system_without_broker_has_no_cpu_sections(tmp_path: Path) -> None:
    """Without nodes, the page has neither CPU columns nor text about them."""
    page = written(tables(replace(ONE, nodes=(), system="zeromq", title="ZeroMQ")), tmp_path)
    assert "The throughput and latency" in page
    assert "CPU consumption" not in page
    assert "RabbitMQ" not in page


def test_a_system_with_one_node_is_reported(tmp_path: Path) -> None:
    """Nodes are those that were measured, whatever their names."""
    shape = replace(ONE, nodes=("Broker",), system="artemis", title="Artemis")
    page = written(tables(shape), tmp_path)
    nodes = rows(page, "Artemis nodes CPU consumption during RPC CALL load test")
    assert nodes[0][:3] == ["threads", "Broker total, %", "Broker sys, %"]


def test_two_systems_share_one_report(tmp_path: Path) -> None:
    """Each has its own folder, and the overview distinguishes them."""
    rabbit, artemis = tables(ONE), tables(replace(ONE, system="artemis", title="Artemis"))
    both = {name: pd.concat([rabbit[name], artemis[name]], ignore_index=True) for name in rabbit}
    out = tmp_path / "out"
    build(both, out, title="Both", html=False)
    assert (out / "artemis/cmsm/index.rst").exists()
    assert "Artemis: Client" in (out / "top_throughput.svg").read_text()


def test_no_name_of_a_system_is_built_in() -> None:
    """All names in a report come from its tables: the code works for any broker."""
    folder = Path(mqperf.pages.report.__file__).parent
    texts = [p for p in folder.rglob("*") if p.suffix in {".py", ".j2", ".js", ".css"}]
    assert len(texts) > 10
    assert [
        p.name for p in texts if re.search("rabbit|erlang|zeromq", p.read_text(), re.IGNORECASE)
    ] == []


def plain(text: str) -> str:
    """RST as one line of text, for searching sentences."""
    return re.sub(r"\s+", " ", text).replace("\\", "")


WIDE = replace(ONE, threads=(10, 20, 50, 100, 200, 400))


def test_a_sweep_says_where_it_saturates(tmp_path: Path) -> None:
    """The saturation point is in a table of the system's page, in a sentence, and in the figure."""
    read = tables(WIDE)
    page = plain(written(read, tmp_path))
    assert read["saturation_points"]["text"].iloc[0] in page
    system = (tmp_path / "out/rabbitmq/index.rst").read_text()
    text = system.split("Where the sweeps saturate")[1]
    assert f"- {read['saturation_points']['saturation_threads'].iloc[0]:.0f}" in text
    drawing = next((tmp_path / "out").rglob("rpc_call_throughput_latency*.svg")).read_text()
    assert (
        f"saturation point {read['saturation_points']['saturation_threads'].iloc[0]:.0f}" in drawing
    )


def test_too_few_thread_counts_are_one_short_sentence(tmp_path: Path) -> None:
    """With two thread counts, nothing more is stated."""
    page = written(tables(ONE), tmp_path)
    assert "Cannot tell" not in page
    text = (tmp_path / "out/rabbitmq/index.rst").read_text().split("Where the sweeps saturate")[1]
    assert "takes 4 thread counts" in plain(text)
    assert "list-table" not in text


def test_every_point_says_its_bottleneck(tmp_path: Path) -> None:
    """The verdict over its repeats stands beside the throughput; the overview counts verdicts."""
    read = tables(replace(ONE, repeats=2))
    given = read["bottlenecks"].assign(bottleneck="host")
    given.loc[0, "bottleneck"] = "tester"
    page = written({**read, "bottlenecks": given}, tmp_path)
    caption = "RPC CALL throughput, latency and RabbitMQ CPU utilization depending on thread count"
    heading, *points = rows(page, caption)
    column = heading.index("bottleneck")
    assert [point[column] for point in points] == ["differs", "host"]
    overview = plain((tmp_path / "out/index.rst").read_text())
    assert "Bottleneck of 2 points: a full host at 1, the repeats differ at 1." in overview


def test_limits_that_nobody_can_tell_have_no_column(published: Path) -> None:
    """The tables of 2016 do not contain the CPU of the load generators."""
    pages = [page.read_text() for page in published.glob("*/*/index.rst")]
    assert pages
    assert not any("- bottleneck" in page for page in pages)
    assert "The bottleneck of the points is not known" in plain(
        (published / "index.rst").read_text()
    )


def test_methods_are_told_from_the_runs(tree: Path, read: Tables) -> None:
    """The methods list window, versions, every check with its reason, and what was not recorded."""
    page = (tree / "methods/index.rst").read_text()
    assert "- planned window\n     - 8 s" in page
    assert "- whole runs of each point\n     - 3" in page
    assert "- 17.3.0" in page
    text = plain(page)
    assert [kind for kind, check in CHECKS.items() if check.reason not in text] == []
    assert "Not recorded: order of the sweep, " in text
    with_order = {**read, "runs": read["runs"].assign(order="random", seed=7, clock_source="tsc")}
    grids, missing = recorded(with_order, {"rabbitmq": "RabbitMQ"})
    assert ("order of the sweep", "random, seed 7") in grids["The sweep"].rows
    assert "clock source" not in missing


def test_how_often_is_told_of_whole_runs_alone() -> None:
    """The repeats of points are counted, not attempt numbers, nor failed attempts."""
    read = dict(tables(ONE))
    read["points"] = read["points"].assign(repeats=[2, 7])
    [layout] = layouts(read["runs"])
    assert "was measured for 8 s, 2 to 7 times, and" in page_of(layout, read, {}).threads
    tried = pd.DataFrame({"run": ["c1", "c2"], "system": "rabbitmq", "status": ["done", "failed"]})
    read["control_runs"] = conform("control_runs", tried)
    [sweep, *_] = recorded(read, {"rabbitmq": "RabbitMQ"})[0].values()
    assert ("control runs", "the first point measured 1 time more") in sweep.rows


def test_a_plan_that_cannot_be_read_is_no_reason_to_refuse(tmp_path: Path) -> None:
    """The first page gives the reason; the plan is not published."""
    read, runs, out = tables(ONE), tmp_path / "runs", tmp_path / "out"
    runs.mkdir()
    (runs / "plan.yaml").write_text("systems: {teleport: {}}")
    out.mkdir()
    write_source(read, layouts(read["runs"]), out, Contents("Runs", source=runs))
    assert "the plan of the runs cannot be read" in plain((out / "index.rst").read_text())
    assert not (out / "plan.yaml").exists()


def test_systems_side_by_side_say_what_to_mind(tmp_path: Path) -> None:
    """The comparison names the machine, the versions, and what differed."""
    rabbit = tables(ONE)
    artemis = tables(replace(ONE, system="artemis", title="Artemis", nodes=("Broker",)))
    artemis = {
        **artemis,
        "runs": artemis["runs"].assign(generator_version="14.9.0", load_beside="notify"),
    }
    both = {name: pd.concat([rabbit[name], artemis[name]], ignore_index=True) for name in rabbit}
    build(both, tmp_path / "out", title="Both", html=False)
    page = plain((tmp_path / "out/index.rst").read_text())
    assert "All systems were measured on one kind of machine" in page
    assert "Compared are Artemis 3.10.8 and RabbitMQ 3.10.8." in page
    assert "**version of the load generator**: Artemis 14.9.0; RabbitMQ 17.3.0." in page
    assert "**background load**: Artemis notify; RabbitMQ unknown." in page


def test_a_picture_without_broker_has_an_arrow_from_client_to_server() -> None:
    """A name service beside them is not drawn as a broker between them."""
    layout = Layout("zeromq", "ZeroMQ", "direct", "none")
    drawn = picture(layout, ["Redis"])
    assert "Redis" not in drawn.split("</desc>")[1]
    assert drawn.count('class="path"') == 1


def test_all_tables_can_be_downloaded(tree: Path, read: Tables) -> None:
    """Each table is there as CSV and as Parquet, without loss."""
    for name in read:
        assert (tree / f"tables/{name}.csv").is_file()
        stored = pd.read_parquet(tree / f"tables/{name}.parquet")
        assert len(stored) == len(read[name])
    page = json.loads((tree / "rabbitmq/cmsm/cmsm.json").read_text())
    assert len(page["test_cases"]["rpc-call"]["points"]) == 3


def files(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".parquet")
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def test_rebuilding_replaces_the_whole(tmp_path: Path) -> None:
    """No file of the former report remains, and equal tables give equal bytes."""
    out, read = tmp_path / "out", tables(ONE)
    build(read, out, title="A sweep", html=False)
    before = files(out)
    (out / "left-over.txt").touch()
    (out / "rabbitmq" / "index.rst").write_text("changed")
    build(read, out, title="A sweep", html=False)
    assert files(out) == before
    assert list(tmp_path.iterdir()) == [out]


def test_a_build_that_fails_leaves_the_former_report(tmp_path: Path) -> None:
    """The folders are swapped in the last step."""
    out = tmp_path / "out"
    build(tables(ONE), out, title="Former", html=False)
    before = files(out)
    with pytest.raises(ReportError, match="cannot be read as a notebook"):
        build(tables(ONE), out, title="New", notebooks=[tmp_path / "missing.ipynb"], html=False)
    assert files(out) == before
    assert list(tmp_path.iterdir()) == [out]


def test_a_folder_that_is_no_report_is_not_touched(tmp_path: Path) -> None:
    """A wrong --out destroys nothing."""
    (tmp_path / "precious.txt").touch()
    with pytest.raises(ReportError, match="is not a report"):
        build(tables(ONE), tmp_path, title="x", html=False)
    assert [path.name for path in tmp_path.iterdir()] == ["precious.txt"]


def test_no_runs_make_no_report(tmp_path: Path) -> None:
    """The error is one sentence that says what to do."""
    empty = {name: rooms.empty(name) for name in TABLES}
    with pytest.raises(ReportError, match="measure first"):
        build(empty, tmp_path / "out", title="x")


def write_notebook(path: Path, execution_count: int | None) -> Path:
    output = {"output_type": "stream", "name": "stdout", "text": "42\n"}
    code = {"source": "print(6 * 7)", "outputs": [output], "execution_count": execution_count}
    cells = [
        {
            "id": "a",
            "cell_type": "markdown",
            "metadata": {},
            "source": "# How it *scales*\n\n$x^2$",
        },
        {"id": "b", "cell_type": "code", "metadata": {}, **code},
    ]
    content = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(content))
    return path


def test_a_notebook_becomes_a_page_that_loads_nothing(tmp_path: Path) -> None:
    """It is linked by its title, and readable without a network."""
    out, notebook = tmp_path / "out", write_notebook(tmp_path / "scaling.ipynb", 1)
    build(tables(ONE), out, title="x", notebooks=[notebook], html=False)
    assert (
        r":download:`How it \*scales\* <notebooks/scaling.html>`" in (out / "index.rst").read_text()
    )
    page = (out / "notebooks/scaling.html").read_text()
    assert "42" in page
    assert re.findall(r"""(?:src|href)=["']?https?:|import .* from ["']https?:""", page) == []
    assert "cdnjs" not in page


def test_large_csv_files_are_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are compressed reproducibly, and linked from the first page; small ones stay plain."""
    monkeypatch.setattr("mqperf.pages.report.source.PLAIN_BYTES", 0)
    packed = build(tables(ONE), tmp_path / "packed", title="x", html=False).parent
    again = build(tables(ONE), tmp_path / "again", title="x", html=False).parent
    monkeypatch.undo()
    plain = build(tables(ONE), tmp_path / "plain", title="x", html=False).parent
    files = [*(plain / "tables").glob("*.csv")]
    for file in files:
        there = packed / f"tables/{file.name}.gz"
        assert gzip.decompress(there.read_bytes()) == file.read_bytes()
        assert there.read_bytes() == (again / f"tables/{file.name}.gz").read_bytes()
    assert len(files) > 20
    assert not [*(packed / "tables").glob("*.csv")]
    assert "<tables/cpu.csv.gz>" in (packed / "index.rst").read_text()
    assert "<tables/cpu.csv>" in (plain / "index.rst").read_text()


def test_tables_without_rows_are_not_offered(tree: Path) -> None:
    """The first page links exactly the table files that have rows."""
    text = (tree / "index.rst").read_text()
    offered = set(re.findall(r"<tables/(\w+)\.csv>", text))
    with_rows = {
        file.stem
        for file in (tree / "tables").glob("*.csv")
        if len(file.read_text().splitlines()) > 1
    }
    assert offered == with_rows == set(re.findall(r"<tables/(\w+)\.parquet>", text))
    assert "outages" not in offered
