"""RST as in the published reports, character for character."""

from pathlib import Path

import pytest
from docutils import nodes
from docutils.core import publish_doctree
from hypothesis import given, settings
from hypothesis import strategies as st

from mqperf.base.one_line import amount, one_line
from mqperf.pages.report import rst
from mqperf.pages.report.rst import Grid, Note, Text
from mqperf.pages.report.words import cell, joined, three_figures
from mqperf.plan.test_cases import TEST_CASES

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


EXPECTED = {
    *(nodes.document, nodes.section, nodes.title, nodes.paragraph, nodes.strong, nodes.image),
    *(nodes.bullet_list, nodes.list_item, nodes.table, nodes.tgroup, nodes.colspec, nodes.thead),
    *(nodes.tbody, nodes.row, nodes.entry, nodes.footnote, nodes.footnote_reference, nodes.label),
}
"""The elements of the pages."""


def document(source: str) -> nodes.document:
    return publish_doctree(source, settings_overrides={"report_level": 2, "doctitle_xform": False})


def text_of(source: str) -> str:
    return publish_doctree(source, settings_overrides={"report_level": 1, "halt_level": 1}).astext()


def test_a_table_is_laid_out_as_published(root: Path) -> None:
    """The bullet is alone on its line, and cells are indented by five spaces."""
    grid = Grid("RPC CALL Message count", ("threads", "sent, msg"), (("50", "301010"),), style="")
    assert f"{rst.table(grid)}\n" == TABLE
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
    """An image's file name is its table's caption, as in the published tree."""
    assert rst.slug(caption) == name


@pytest.mark.parametrize("text", ["a*b*c", "`x`", "|y|", "z_ and [1]_", r"back\slash", "<a> _b"])
def test_escaped_text_is_plain(text: str) -> None:
    """A doubt or a version may contain any character."""
    assert text_of(rst.escape(text)) == text


PIECES = (
    *"*`|_[]<>:.-+=~^\\#'\"!$%&(),/;?@{} \n\t\r\v\0\x1c\x85\u2028",
    *"\u202e\u2022\u6f22\u0301\ud800\uffff",
    *(".. raw:: html", ".. include:: x", "::", "__", "====", "\\\\", "1.", "a)", "(i)", "#."),
    *("--option", "-a", "/V", "|x|", "`y`_", "[1]_", "[#a]_", "http://x.y/", "a@b.c", ":r:`x`"),
    *(">>> ", "+---+", "javascript:x", "\n\n", "  ", "x" * 80, "word"),
)
anything = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.text(max_size=30)
)


@settings(max_examples=60)
@given(anything, anything)
def test_data_are_literal_in_all_elements(text: str, other: str) -> None:
    """Paragraph, list, title, cell, caption, footnote and alternative text show it literally."""
    note = Note("note-1", other)
    grid = Grid(other, (text, "h"), ((other, Text("1") + note.mark),), (note,))
    parts = [
        rst.title(text, "=", over=True),
        rst.wrap(text),
        rst.wrap(Text("**{}** and {}.").format("x" + text, other)),
        rst.bullets(["a" + text, other + "b"]),
        rst.table(grid),
        rst.image(rst.slug("picture"), text),
        rst.title(other, "-"),
        "end",
    ]
    tree = document("\n\n".join(parts))
    for message in list(tree.findall(nodes.system_message)):
        assert message["level"] == 1  # two titles may be equal
        message.parent.remove(message)
    assert {type(node) for node in tree.findall(nodes.Element)} <= EXPECTED
    line, two = one_line(text), one_line(other)
    begun, ended = one_line("x" + text), one_line(other + "b")
    expected = [line or rst.MISSING, line, begun, f" and {two}.", one_line("a" + text), ended, two]
    expected += [line, "h", two, "1 ", "1", "1", two or rst.MISSING, two or rst.MISSING, "end"]
    texts = [node.astext().replace("\n", " ") for node in tree.findall(nodes.Text)]
    assert [t.replace("\xa0", " ") for t in texts] == [t for t in expected if t]
    assert next(tree.findall(nodes.image)).get("alt", "") == line


def test_what_is_added_to_finished_text_is_escaped() -> None:
    """Text that became a str is escaped again: a backslash shows, but data is never markup."""
    assert Text("*{}*").format("*") == r"*\**"
    assert Text("a") + "*" == r"a\*"
    assert Text(", ").join(["*", Text("*b*")]) == r"\*, *b*"
    assert rst.escape(rst.escape("*")) == r"\*"
    assert rst.escape(f"{Text('*')}") == r"\*"


def test_no_line_is_too_long_for_docutils() -> None:
    """docutils refuses a document with a line of 10,000 characters."""
    assert max(map(len, rst.title("*" * 50_000, "=").splitlines())) < 10_000


def test_long_captions_have_files_of_their_own() -> None:
    """File names are limited to 255 characters, and no two captions share one."""
    names = {rst.slug("x" * 500 + end) for end in ("a", "b")}
    assert len(names) == 2
    assert all(len(name) <= 100 for name in names)


def test_footnotes_follow_their_table() -> None:
    """The mark stands at the number, the footnote below the table."""
    note = Note("note-1", "13 of *420309* were lost")
    grid = Grid("Counts", ("lost",), ((Text("13") + note.mark,),), (note,))
    text = text_of(rst.table(grid))
    assert "13 1" in text
    assert text.endswith("13 of *420309* were lost")


def test_a_title_over_and_under() -> None:
    """Document titles have a line above and below."""
    assert rst.title("Title", "=", over=True) == "=====\nTitle\n====="
    assert rst.title("Title", "-") == "Title\n-----"


def test_per_cent_signs_stay_with_their_number() -> None:
    """A line never starts with a per cent sign."""
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
        ("throughput_msg_s", 0.0278, "0.03"),
        ("throughput_msg_s", 0.06, "0.1"),
        ("latency_mean_s", -4e-9, "-0.000004"),
        ("throughput_msg_s", float("nan"), rst.MISSING),
        ("round_trip", None, rst.MISSING),
        ("status", "failed", "failed"),
    ],
)
def test_numbers_are_printed_as_published(column: str, value: object, text: str) -> None:
    """Counts are integers, figures have one decimal, units are those of the heading, zero shows."""
    assert cell(column, value) == text


def test_overviews_have_one_rounding_rule() -> None:
    """Numbers have three significant figures, and never an exponent."""
    assert [three_figures(v) for v in (5122.3, 14745.0, 0.01234, 1e6)] == [
        "5120",
        "14700",
        "0.0123",
        "1000000",
    ]


def test_lists_and_amounts_are_english() -> None:
    """Lists and amounts are English phrases."""
    assert [joined([]), joined(["a"]), joined(["a", "b", "c"])] == ["", "a", "a, b and c"]
    assert [amount(n, "doubt") for n in (0, 1, 2)] == ["no doubts", "1 doubt", "2 doubts"]
    numbers = [words.number for words in TEST_CASES.values()]
    assert numbers[:3] == [1, 2, 3]
    assert len({*numbers}) == len(numbers)
