"""Published reports become tables, or an error says why not."""

import csv
from pathlib import Path

import pandas as pd
import pytest

from mqperf.base.errors import TableError
from mqperf.study import tables
from mqperf_imported.study import importing

ROOT = Path(__file__).parent.parent.parent
SOURCES = ROOT / "data/sources"
REPORTS = sorted(SOURCES.glob("*.rst"))
POINT = ["system", "topology", "queues", "test_case", "threads"]

TITLE = "RabbitMQ performance (Client and Server connected to Master)"
WORDS = """\
This :ref:`nowhere` was run. Both simulator client and simulator server are connected to Master
node. `RabbitMQ HA queues`_ are disabled.

.. image:: topology_cmsm.*

.. unknown-directive:: x
"""
COUNTS = """\
.. list-table:: RPC CALL Message count
   :header-rows: 1

   *
     - threads
     - sent, msg
     - received, msg
     - round-trip, msg
     - lost, msg
   *
     - 50
     - 301
     - 300
     - 299
     - 2
"""
THROUGHPUT = """\
.. table:: RPC CALL throughput and latency depending on thread count

   +---------+---------------------+-------------+
   | threads | throughput, msg/sec | latency, ms |
   +=========+=====================+=============+
   | 50      | 3.2                 | 13.8        |
   +---------+---------------------+-------------+
"""
NOT_REPORTS = {
    "a page": ("Some page\n=========\n\nwith words.\n", "is not the title of a performance report"),
    "nothing": ("", "is not the title"),
    "an overview": (f"{TITLE}\n{'-' * 60}\n\n{WORDS}", "holds no table of figures"),
}
"""Texts that are no reports, and a part of the error message."""


def report(*parts: str, title: str = TITLE) -> str:
    return "\n".join((title, "-" * len(title), "", *parts))


def imported(folder: Path, text: str, name: str = "index.rst") -> tables.Tables:
    file = folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return importing.import_reports([file])


def same_figures(read: pd.DataFrame, other: pd.DataFrame, keys: list[str]) -> None:
    first, second = (
        frame.drop(columns="run").sort_values(keys, ignore_index=True) for frame in (read, other)
    )
    pd.testing.assert_frame_equal(first, second)


def test_every_figure_is_the_published_one() -> None:
    """Tables read from RST equal independently copied ones in every cell."""
    read = importing.import_reports(REPORTS)
    copied = importing.import_reports(sorted(SOURCES.glob("*.csv")))
    same_figures(read["messages"], copied["messages"], POINT)
    same_figures(read["latency"], copied["latency"], POINT)
    same_figures(read["cpu"], copied["cpu"], [*POINT, "process"])
    assert (len(read["messages"]), len(read["cpu"])) == (48, 30 * 4)


def test_the_committed_tables_are_those_of_the_reports(tmp_path: Path) -> None:
    """Importing the sources gives data/published/2016 byte for byte."""
    importing.write(importing.import_reports(REPORTS), tmp_path / "2016")
    committed = ROOT / "data/published/2016"
    assert {file.name: file.read_text() for file in committed.iterdir()} == {
        file.name: file.read_text() for file in (tmp_path / "2016").iterdir()
    }


def test_written_tables_are_read_back(tmp_path: Path) -> None:
    """A folder of published tables has all imported data."""
    read = importing.import_reports(REPORTS)
    importing.write(read, tmp_path)
    again = tables.read(tmp_path)
    for name, frame in read.items():
        pd.testing.assert_frame_equal(again[name], frame, obj=name)


def test_tables_are_read_by_their_former_names(tmp_path: Path) -> None:
    """Earlier publications have ``insides`` and ``internals``."""
    importing.write(importing.import_reports(REPORTS), tmp_path)
    row = tables.read(tmp_path)["runs"].iloc[0][["run", "point"]]
    pd.DataFrame([{**row, "node": "Master", "answers": 7}]).to_csv(
        tmp_path / "insides.csv", index=False
    )
    again = tables.read(tmp_path)
    assert again["node_summary"]["answers"].tolist() == [7]
    assert again["node_metrics"].empty


@pytest.mark.parametrize(
    "text", ['=HYPERLINK("x")', "+1-2", "-x", "@a", "\t=1", "'=1", "''-", "-5"]
)
def test_a_formula_is_text_and_read_back(tmp_path: Path, text: str) -> None:
    """Spreadsheets do not run it, and mqperf reads the original text; numbers are unchanged."""
    frames = dict(imported(tmp_path, report(COUNTS)))
    frames["runs"] = frames["runs"].assign(system_title=text)
    importing.write(frames, tmp_path / "out")
    with (tmp_path / "out/runs.csv").open(newline="") as file:
        _, [*cells] = csv.reader(file)
    assert (text if text == "-5" else f"'{text}") in cells
    assert {*tables.read(tmp_path / "out")["runs"]["system_title"]} == {text}


def test_every_row_names_its_file_and_line() -> None:
    """The name of a run is file and line of its figures."""
    for row in importing.import_reports(REPORTS)["messages"].itertuples():
        name, line = str(row.run).split(":")
        assert (SOURCES / name).read_text().splitlines()[int(line) - 1].split()[-1] == str(
            row.threads
        )


def test_units_are_those_of_the_register() -> None:
    """Milliseconds become seconds, percent of a hardware thread become cores."""
    read = importing.import_reports([SOURCES / "rabbitmq-cmsm.rst"])
    assert read["latency"]["latency_mean_s"][0] == 0.0138
    assert read["cpu"].query("process == 'Slave 1'")["total_cores"].iloc[0] == 0.058
    assert read["cpu"].query("kind == 'total'")["total_cores"].iloc[0] == 8.358


def test_system_topology_and_queues_are_the_reports_own_words() -> None:
    """All are read from the reports."""
    runs = importing.import_reports(REPORTS)["runs"]
    assert set(runs[["system", "topology", "queues"]].itertuples(index=False, name=None)) == {
        ("rabbitmq", "cmsm", "classic"),
        ("rabbitmq", "cs1ss2", "mirrored"),
        ("zeromq", "direct", "none"),
    }
    assert set(runs["os"].dropna()) == {"Ubuntu 14.04.3"}


def test_grid_tables_and_unknown_markup_are_read(tmp_path: Path) -> None:
    """Both kinds of table are read; markup of Sphinx is ignored."""
    read = imported(tmp_path, report(WORDS, COUNTS, THROUGHPUT))
    counts = read["messages"].loc[0, ["sent", "received", "round_trip", "lost"]]
    assert list(counts) == [301, 300, 299, 2]
    assert read["messages"]["throughput_msg_s"].tolist() == [3.2]
    assert read["doubts"].empty


def test_a_dot_is_a_missing_figure(tmp_path: Path) -> None:
    """A dot is an unknown value, not zero."""
    read = imported(tmp_path, report(WORDS, COUNTS.replace("- 300\n", "- .\n"), THROUGHPUT))
    assert read["messages"]["received"].isna().tolist() == [True]
    assert read["messages"]["sent"].tolist() == [301]


def test_different_thread_counts_leave_figures_open(tmp_path: Path) -> None:
    """A point in only one table has a row with its known values."""
    read = imported(tmp_path, report(WORDS, COUNTS, THROUGHPUT.replace("| 50 ", "| 60 ")))
    messages = read["messages"].set_index("threads")
    assert messages["sent"].isna().to_dict() == {50: False, 60: True}
    assert messages["throughput_msg_s"].isna().to_dict() == {50: True, 60: False}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "are disabled",
            "are enabled",
            "line 4 stands for queues 'mirrored', line 1 for 'classic'",
        ),
        ("topology_cmsm", "topology_cs1ss2", "stands for topology 'cs1ss2', line 1 for 'cmsm'"),
        ("was run.", "was run with ZeroMQ.", "speaks of ZeroMQ: 'This :ref:`nowhere` was run"),
        ("was run.", "measured CPU.", "announces CPU, of which its table has no column"),
    ],
)
def test_contradictions_become_doubts(tmp_path: Path, old: str, new: str, expected: str) -> None:
    """If text and figures of a report disagree, there is a doubt."""
    doubts = imported(tmp_path, report(WORDS, COUNTS, THROUGHPUT).replace(old, new))["doubts"]
    assert doubts["kind"].tolist() == ["wording"]
    assert expected in doubts["text"].iloc[0]


def test_a_table_in_the_wrong_section_becomes_a_doubt(tmp_path: Path) -> None:
    """The caption counts; the section is noted as a contradiction."""
    heading = "Test Case 3: Notification Throughput Test"
    doubts = imported(tmp_path, report(WORDS, heading, "^" * len(heading), "", COUNTS))["doubts"]
    assert doubts["kind"].tolist() == ["wording", "incomplete"]
    assert "stands in the section on notify" in doubts["text"].iloc[0]


def test_a_test_case_without_figures_becomes_a_doubt() -> None:
    """A skipped test case is named with the reason in the report."""
    doubts = importing.import_reports([SOURCES / "zeromq.rst"])["doubts"]
    skipped = doubts[doubts["kind"] == "incomplete"]
    assert skipped["test_case"].tolist() == ["notify"]
    assert "skipped due to unstable work" in skipped["text"].iloc[0]


def test_an_overview_that_disagrees_becomes_a_doubt(tmp_path: Path) -> None:
    """Its best throughput must be that of the tables, in hundreds."""
    overview = tmp_path / "overview.csv"
    overview.write_text((SOURCES / "overview.csv").read_text().replace(",5100", ",5900"))
    doubts = importing.import_reports([*REPORTS, overview])["doubts"]
    assert "the best throughput is 5900 msg/sec, the tables say 5122.3" in doubts["text"].iloc[-1]


@pytest.mark.parametrize("name", NOT_REPORTS)
def test_what_is_no_report_is_refused(tmp_path: Path, name: str) -> None:
    """Other pages give one sentence, not an empty table."""
    text, message = NOT_REPORTS[name]
    with pytest.raises(TableError, match=message):
        imported(tmp_path, text)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("- 301\n", "- about 300\n", r"index\.rst:21: 'about 300' is not a number"),
        ("- 301\n", "- 1,301\n", "'1,301' is not a number"),
        ("- 301\n", "- 301.5\n", "301.5 is not whole"),
        ("- 301\n", "- NaN\n", "'NaN' is not a number"),
        ("- 301\n", "- 301.\n", "cell '' .* is not plain text"),
        ("- 301\n", "", r"index\.rst:\d+: Error .*list-table"),
        ("- 50\n", "- 0\n", "'0' is not a number of threads"),
        ("| 3.2 ", "| -3  ", "-3 must not be negative"),
        ("sent, msg", "sent, kmsg", "has a column 'sent, kmsg', which no report"),
        ("RPC CALL Message count", "Messages", "does not say of which test case"),
        (
            "(Client and Server connected to Master)",
            "(Client -> Mars)",
            "topology 'Client -> Mars' is unknown; did you mean 'Client -> Server'",
        ),
    ],
)
def test_bad_tables_are_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    """Ambiguous tables are refused with their line."""
    text = report(WORDS, COUNTS, THROUGHPUT).replace(old, new)
    with pytest.raises(TableError, match=message):
        imported(tmp_path, text)


def test_a_report_that_does_not_say_what_it_is_about_is_refused(tmp_path: Path) -> None:
    """Topology and queues are never guessed."""
    with pytest.raises(TableError, match="neither title nor text says which node"):
        imported(tmp_path, report(COUNTS, title="RabbitMQ performance"))
    with pytest.raises(TableError, match="neither title nor text says which kind of queues"):
        imported(
            tmp_path, report("Connected to Master node.\n", COUNTS, title="RabbitMQ performance")
        )


def test_two_tables_with_one_caption_are_refused(tmp_path: Path) -> None:
    """It is unknown which is valid, even if their rows differ."""
    other = COUNTS.replace("- 50\n", "- 60\n")
    with pytest.raises(TableError, match=r"index\.rst:\d+: a second table captioned .* line \d+"):
        imported(tmp_path, report(WORDS, COUNTS, other))


def test_a_point_given_twice_is_refused(tmp_path: Path) -> None:
    """Figures of two rows or files are neither summed nor selected."""
    again = COUNTS.replace(
        "- 2\n", "- 2\n   *\n     - 50\n     - 1\n     - 1\n     - 1\n     - 0\n"
    )
    with pytest.raises(TableError, match=r"a second time; the first is in index\.rst:21"):
        imported(tmp_path, report(WORDS, again))
    with pytest.raises(TableError, match="given twice"):
        importing.import_reports([REPORTS[0], REPORTS[0]])


def test_reports_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """If several are called index.rst, names include the folder."""
    for folder, test_case in (("one", "RPC CALL"), ("two", "RPC CAST")):
        imported(tmp_path / folder, report(WORDS, COUNTS.replace("RPC CALL", test_case)))
    read = importing.import_reports([tmp_path / "one/index.rst", tmp_path / "two/index.rst"])
    assert read["runs"]["run"].str.split(":").str[0].tolist() == ["one/index.rst", "two/index.rst"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "a,b\n1,2\n", "a.csv:1: the columns a,b are none of those known"),
        ("a.csv", "", "are none of those known"),
        ("a.csv", "{header}\nrabbitmq,cmsm,no,rpc-call,50,1\n", "a.csv:2: 6 cells under 9 columns"),
        ("a.csv", "{header}\nrabbitmq,cmsm,maybe,rpc-call,50,1,1,1,0\n", "ha is 'maybe'"),
        ("a.csv", "{header}\nrabbitmq,cmsm,no,call,50,1,1,1,0\n", "test_case is 'call'"),
        ("a.csv", "{header}\nrabbitmq,cmsm,no,rpc-call,50,x,1,1,0\n", "a.csv:2: 'x' is not a num"),
        ("a.csv", "{header}\n", "no figures of any point"),
        ("a.txt", "x", "can import .rst and .csv, not .txt"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    """The error is one sentence with file and line."""
    header = "system,topology,ha,test_case,threads,sent,received,round_trip,lost"
    with pytest.raises(TableError, match=message):
        imported(tmp_path, text.replace("{header}", header), name)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    """Binary and missing files are errors."""
    file = tmp_path / "index.rst"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TableError, match=r"index\.rst:1: is not UTF-8 text"):
        importing.import_reports([file])
    with pytest.raises(TableError, match="no such file"):
        importing.import_reports([tmp_path / "missing.rst"])
