"""RST as the published reports have it, character for character."""

from pathlib import Path

import pytest
from docutils.core import publish_doctree

from mqperf.report import rst
from mqperf.report.rst import Grid, Note
from mqperf.report.words import TEST_CASES, amount, cell, joined, three_figures

TABLE = """\
.. list-table:: RPC CALL Message count
   :header-rows: 1

   *
     - threads
     - sent, msg
   *
     - 50
     - 301010
"""


def text_of(source: str) -> str:
    return publish_doctree(source, settings_overrides={"report_level": 1, "halt_level": 1}).astext()


def test_a_table_is_laid_out_as_published(root: Path) -> None:
    """Bullet alone on its line, cells five spaces in: as in the reports that are kept."""
    grid = Grid("RPC CALL Message count", ("threads", "sent, msg"), (("50", "301010"),), style="")
    assert rst.table(grid) + "\n" == TABLE
    head, _, first_row = TABLE.partition("   *\n     - 50")
    published = (root / "data/sources/rabbitmq-cmsm.rst").read_text()
    assert head.rstrip().splitlines()[:3] == [
        line for line in published.splitlines() if line.startswith(".. list-table:: RPC CALL Mess")
    ] + ["   :header-rows: 1", ""]
    assert f"   *\n     - 50{first_row}" in published


@pytest.mark.parametrize(
    ("caption", "name"),
    [
        ("RPC CALL Message count", "rpc_call_message_count"),
        (
            "NOTIFY throughput, latency and RabbitMQ CPU utilization depending on thread count",
            "notify_throughput_latency_and_rabbitmq_cpu_utilization_depending_on_thread_count",
        ),
        (
            "RabbitMQ nodes CPU consumption during RPC CAST load test",
            "rabbitmq_nodes_cpu_consumption_during_rpc_cast_load_test",
        ),
        ("topology cs1ss2-ha", "topology_cs1ss2_ha"),
        ("Throughput (2016)", "throughput"),
    ],
)
def test_files_are_named_after_captions(caption: str, name: str) -> None:
    """A picture's file name is its table's caption, as in the published tree."""
    assert rst.slug(caption) == name


@pytest.mark.parametrize("text", ["a*b*c", "`x`", "|y|", "z_ and [1]_", r"back\slash", "<a> _b"])
def test_escaped_text_is_plain(text: str) -> None:
    """A doubt or a version may hold any character."""
    assert text_of(rst.escape(text)) == text


def test_footnotes_follow_their_table() -> None:
    """A mark stands at the number, its sentence below the table."""
    note = Note("note-1", "13 of *420309* were lost")
    grid = Grid("Counts", ("lost",), ((f"13{note.mark}",),), (note,))
    told = text_of(rst.table(grid))
    assert "13 1" in told
    assert told.endswith("13 of *420309* were lost")


def test_a_title_over_and_under() -> None:
    """Documents of their own have the line on both sides."""
    assert rst.title("Ab", "=", over=True) == "==\nAb\n=="
    assert rst.title("Ab", "-") == "Ab\n--"


def test_per_cent_signs_stay_with_their_number() -> None:
    """A line never begins with a lonely sign."""
    lines = rst.wrap("x" * 72 + " about 12.5 % of it").splitlines()
    assert [line for line in lines if line.lstrip().startswith("%")] == []


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [
        ("sent", 301010, "301010"),
        ("throughput_msg_s", 2956.74, "2956.7"),
        ("latency_mean_s", 0.0138, "13.8"),
        ("cpu_total_cores", 8.358, "835.8"),
        ("lost", 0, "0"),
        ("throughput_msg_s", 0.0, "0.0"),
        ("throughput_msg_s", float("nan"), rst.MISSING),
        ("round_trip", None, rst.MISSING),
        ("status", "failed", "failed"),
    ],
)
def test_numbers_are_printed_as_published(column: str, value: object, text: str) -> None:
    """Counts whole, figures with one decimal, in the unit of the heading; zero is a number."""
    assert cell(column, value) == text


def test_overviews_have_one_rounding_rule() -> None:
    """Three significant figures, and never an exponent."""
    assert [three_figures(v) for v in (5122.3, 14745.0, 0.01234, 1e6)] == [
        "5120",
        "14700",
        "0.0123",
        "1000000",
    ]


def test_words() -> None:
    """Lists and amounts read as English."""
    assert [joined([]), joined(["a"]), joined(["a", "b", "c"])] == ["", "a", "a, b and c"]
    assert [amount(n, "doubt") for n in (0, 1, 2)] == ["no doubts", "1 doubt", "2 doubts"]
    assert [words.number for words in TEST_CASES.values()] == [1, 2, 3]
