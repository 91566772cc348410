"""Recorded data are plain text on every page and in every image, and never a path."""

import csv
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from itertools import count
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pandas as pd
import pytest
from docutils import nodes
from docutils.core import publish_doctree
from factory import Shape, tables
from typing_extensions import override

from mqperf.base.errors import MqperfError, ReportError, TableError
from mqperf.base.one_line import one_line
from mqperf.pages.figures.svg import EXPLORE
from mqperf.pages.report import comparison_page, explorers
from mqperf.pages.report.build import build
from mqperf.plan.columns import COLUMNS
from mqperf.study import tables as rooms
from mqperf.study.stats import compared, complete
from mqperf.study.tables import Tables
from mqperf.study.tables.files import read

pytestmark = pytest.mark.starts_programs

CONTENT = "content of a file that is nobody's business"
ATTACKS = (
    "a\n\n.. include:: SECRET\n\nb",
    "a\n\n.. raw:: html\n   :file: SECRET\n",
    "a\n\n.. raw:: html\n\n   <script>alert(1)</script>\n\nb",
    "a\n\n.. csv-table:: c\n   :file: SECRET\n",
    "a\n\n.. literalinclude:: SECRET\n",
    ":download:`a <SECRET>` and .. image:: SECRET",
    "<script>alert(2)</script><img src=x onerror=alert(3)>",
    "</title></text></svg><script>alert(4)</script>]]>-->",
    '"onmouseover="alert(5)" \' onload=\'alert(6)',
    "*a **b ``c |d| `e`_ `f <javascript:alert(7)>`_ [1]_ [#note-1]_ g_ h__",
    "javascript:alert(8) https://evil.example/ mailto:x@evil.example www.evil.example",
    "=======",
    "\\",
    "1. a",
    ":field: a",
    ".. directive::",
    "literal::",
    "| line",
    ">>> 1 + 1",
    "+---+---+",
    "- item",
    "--option  a",
    "$\\frac{$ and $x$ and \\$",
    "{{ 7 * 7 }} {% raw %} %(name)s {0}",
    "__hidden_",
    "\u202eright to left\u2066 \u05d0\u05d1 \u6f22\u5b57",
    "\x00\x07\x1b[31m red \x85\u2028 \ufffe",
    "&lt;script&gt;alert(9)&lt;/script&gt;",
    '=HYPERLINK("https://evil.example/";"a")',
    "+cmd|' /C calc'!A0",
    "@SUM(1)",
    "\t=1",
    "'=1",
)
LONG = "long " + "x" * 20_000
TITLE = "<script>alert(0)</script> *a |x| `y`_ \\"
CODES = ("system", "topology", "queues", "test_case", "status", "kind", "scope", "stream")
"""Text columns that select rows of tables: with other values less is shown."""

SHOWN = (
    *("system_version", "runtime_version", "generator_version", "python_version", "mqperf_version"),
    *("os", "kernel", "cpu_model", "clock_source", "tcp_congestion_control", "network_card"),
)


def structural(path: tuple[str, ...]) -> bool:
    """Whether a fact of run.json is a code, an instant or a file name; others may be any text."""
    codes = {"case", "files", "kinds", "seal", "started", "stopped"}
    return path[0] in codes or path[-1] in {"label", "kind"}


def hostile(facts: Any, attacks: Iterator[str], path: tuple[str, ...] = ()) -> Any:  # noqa: ANN401
    """The facts with every text replaced by an attack."""
    if isinstance(facts, dict):
        return {key: hostile(value, attacks, (*path, key)) for key, value in facts.items()}
    if isinstance(facts, list):
        return [hostile(value, attacks, path) for value in facts]
    return next(attacks) if isinstance(facts, str) and not structural(path) else facts


@pytest.fixture(scope="module")
def secret(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("elsewhere") / "secret.txt"
    file.write_text(CONTENT)
    return file


@pytest.fixture(scope="module")
def attacks(secret: Path) -> list[str]:
    return [attack.replace("SECRET", str(secret)) for attack in ATTACKS]


def rotating(attacks: list[str], start: int = 0) -> Iterator[str]:
    return (f"{attacks[number % len(attacks)]}" for number in count(start))


@pytest.fixture(scope="module")
def of_runs(root: Path, attacks: list[str], tmp_path_factory: pytest.TempPathFactory) -> Tables:
    """The tables of three sample runs in which every fact is hostile."""
    folder = tmp_path_factory.mktemp("runs")
    texts = rotating(attacks)
    for name in ("cmsm-classic-rpc-call-t0001", "cmsm-classic-rpc-call-t0005"):
        (sample,) = (root / "data/samples/runs").glob(f"rabbitmq-{name}-*")
        run = shutil.copytree(sample, folder / sample.name)
        facts = json.loads((run / "run.json").read_text())
        (run / "run.json").write_text(json.dumps(hostile(facts, texts)))
    return complete(read(folder))


def published(root: Path, folder: Path, attacks: list[str], kept: tuple[str, ...]) -> Tables:
    """The tables of 2016 with hostile texts in all columns except ``kept``.

    Equal texts stay equal, since rows of several tables belong together.
    """
    texts: dict[tuple[str, str], str] = {}
    # a CSV file with a NUL is refused as a whole
    rotated = rotating([*(attack.replace("\0", "") for attack in attacks), LONG])

    def attacked(column: str, value: str) -> str:
        return texts.setdefault((column, value), f"{next(rotated)}{len(texts)}")

    shutil.copytree(root / "data/published/2016", folder)
    for file in folder.glob("*.csv"):
        frame = pd.read_csv(file, dtype=str)
        if "threads" in frame:
            frame = frame[frame["topology"].eq("cmsm") & frame["test_case"].eq("rpc-call")]
        for column in sorted(set(frame.columns) - set(kept)):
            if COLUMNS[column].dtype == "string":
                frame[column] = [
                    value if pd.isna(value) else attacked(column, str(value))
                    for value in frame[column]
                ]
        frame.to_csv(file, index=False)
    return complete(read(folder))


class Page(HTMLParser):
    """What a browser makes of a page: its text, and what could run or load something."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.words: list[str] = []
        self.harm: list[str] = []
        self.inside = ""
        self.feed(file.read_text(encoding="utf-8"))

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside = tag
        for name, value in attrs:
            target = (value or "").strip()
            strange = re.match(r"(?i)(javascript|data|vbscript|mailto):|.*evil\.example|x$", target)
            if name.startswith("on") or (name in {"href", "src", "action"} and strange):
                self.harm.append(f"<{tag} {name}={target!r}>")

    @override
    def handle_data(self, data: str) -> None:
        if self.inside not in {"script", "style"}:
            self.words.append(data)
        elif "alert(" in data:
            self.harm.append(data)

    @override
    def handle_endtag(self, tag: str) -> None:
        self.inside = ""


def formulas(file: Path) -> Iterator[str]:
    """Cells of a CSV file that a spreadsheet would evaluate as formulas."""
    with file.open(newline="", encoding="utf-8") as rows:
        for cell in (cell for row in csv.reader(rows) for cell in row):
            if cell[:1] in tuple("=+-@\t\r") and not re.fullmatch(r"-?[\d.]+(e-?\d+)?", cell):
                yield cell


def check(out: Path, secret: Path) -> str:
    """The text of all pages; asserts that nothing in the report runs or discloses secrets."""
    files = [file for file in out.rglob("*") if file.is_file()]
    assert [file for file in files if CONTENT.encode() in file.read_bytes()] == []
    assert [file for file in files if file.name.startswith(secret.stem)] == []
    for drawing in out.rglob("*.svg"):
        elements = [*ET.parse(drawing).iter()]  # noqa: S314
        names = {element.tag.rpartition("}")[2] for element in elements}
        assert names & {"foreignObject", "image", "a"} == set()
        scripts = [element.text for element in elements if element.tag.endswith("}script")]
        assert scripts in ([], [EXPLORE])
        assert [name for part in elements for name in part.attrib if name.startswith("on")] == []
    assert [cell for file in out.rglob("*.csv") for cell in formulas(file)] == []
    pages = [Page(file) for file in out.rglob("*.html")]
    assert [page.harm for page in pages if page.harm] == []
    return " ".join(page.text for page in pages)


def test_every_fact_of_a_run_is_text(of_runs: Tables, secret: Path, tmp_path: Path) -> None:
    """The report builds without a warning, and shows every text of run.json literally."""
    build(of_runs, tmp_path / "out", title=TITLE)
    text = check(tmp_path / "out", secret)
    missing = [
        value
        for column in SHOWN
        for value in of_runs["runs"][column].dropna()
        if one_line(value) not in text
    ]
    assert missing == []
    assert one_line(TITLE) in text


def test_every_column_of_a_published_table_is_text(
    root: Path, attacks: list[str], secret: Path, tmp_path: Path
) -> None:
    """The same holds for imported CSV tables: nodes, sources, doubts."""
    frames = published(root, tmp_path / "published", attacks, CODES)
    build(frames, tmp_path / "out", title=TITLE)
    text = check(tmp_path / "out", secret)
    nodes = frames["cpu"].loc[frames["cpu"]["kind"] == "broker", "process"].unique()
    assert len(nodes) == 3
    assert [node for node in nodes if one_line(node) not in text] == []


def test_a_run_in_time_is_text(
    root: Path, attacks: list[str], secret: Path, tmp_path: Path
) -> None:
    """The timeline of a run shows names of nodes and processes, events and doubts literally."""
    frames = dict(complete(read(root / "data/samples/faults")))
    texts = rotating(attacks)
    run = frames["outages"]["run"].iloc[0]
    detail = [{"run": run, "time_s": 3.0, "what": next(texts), "detail": text} for text in attacks]
    frames["events"] = pd.concat([frames["events"], pd.DataFrame(detail)])
    for table, column in (("outages", "node"), ("cpu", "process"), ("cpu", "host")):
        names = dict.fromkeys(frames[table][column].dropna())
        frames[table] = frames[table].replace({column: {name: next(texts) for name in names}})
    doubts = [{"run": run, "kind": "action-late", "text": text} for text in attacks]
    frames["doubts"] = pd.DataFrame(doubts, columns=frames["doubts"].columns)
    frames["outages"] = frames["outages"].assign(began_s=frames["outages"]["commanded_s"] + 0.5)
    drawing = explorers.drawing(frames, root / "data/samples/faults", run)
    drawing.write(tmp_path / "out")
    check(tmp_path / "out", secret)
    [file] = tmp_path.rglob("*.svg")
    drawn = " ".join(ET.parse(file).getroot().itertext())  # noqa: S314
    assert [text for text in attacks if one_line(text) not in " ".join(drawn.split())] == []


def test_codes_may_be_strange_as_well(root: Path, attacks: list[str], tmp_path: Path) -> None:
    """An unknown status or kind of doubt does not fail the report."""
    names = ("system", "topology", "queues", "test_case")
    frames = published(root, tmp_path / "published", attacks, names)
    build(frames, tmp_path / "out", title=TITLE, html=False)
    assert (tmp_path / "out/rabbitmq/cmsm/index.rst").is_file()


def test_a_comparison_is_text(of_runs: Tables, tmp_path: Path) -> None:
    """Differences of two sets and the names of both folders are shown literally."""
    runs = of_runs["runs"].assign(os="Debian", cpu_model="**fast**")
    other = {**of_runs, "runs": runs}
    sides = [(TITLE, of_runs), ("other", other)]
    page = comparison_page.write(tmp_path, sides, compared(of_runs, other), html=False)
    text, _, _downloads = page.read_text().partition("\nData\n")  # whose role is Sphinx's
    document = publish_doctree(text, settings_overrides={"report_level": 2})
    assert list(document.findall(nodes.system_message)) == []
    kinds = {type(node) for node in document.findall()}
    assert kinds & {nodes.raw, nodes.strong, nodes.target, nodes.reference} == set()
    texts = {text.astext() for text in document.findall(nodes.Text)}
    assert {one_line(f"{TITLE} and other"), "**fast**"} <= texts


@pytest.fixture(scope="module")
def of_2016(root: Path) -> Tables:
    """The tables of 2016 as they are."""
    return rooms.read(root / "data/published/2016")


@pytest.mark.parametrize("column", ["system", "topology", "queues"])
@pytest.mark.parametrize(
    "name",
    ["../../x", "/x", "..", ".", ".hidden", "a/b", "a\0b", "a b", "-a", "x" * 101, "a\n"],
)
def test_a_name_is_no_path(
    root: Path, of_2016: Tables, tmp_path: Path, column: str, name: str
) -> None:
    """Names that become folders are checked on reading; the error says where they stand."""
    folder = tmp_path / "published"
    shutil.copytree(root / "data/published/2016", folder)
    frame = of_2016["runs"].dropna(axis="columns", how="all")
    frame.loc[2, column] = name
    frame.to_csv(folder / "runs.csv", index=False)
    message = rf"runs\.csv:[45]: ({column} is .*, must be a name|holds a NUL)"
    with pytest.raises(TableError, match=message):
        rooms.read(folder)


def test_a_name_in_a_run_is_no_path(root: Path, tmp_path: Path) -> None:
    """The same holds for run.json, whatever the name of its folder."""
    (sample,) = (root / "data/samples/runs").glob("rabbitmq-cmsm-classic-notify-t0001-*")
    run = shutil.copytree(sample, tmp_path / "runs" / sample.name)
    facts = json.loads((run / "run.json").read_text())
    facts["case"]["topology"] = "../../../x"
    (run / "run.json").write_text(json.dumps(facts))
    with pytest.raises(MqperfError, match=sample.name):
        rooms.read(tmp_path / "runs")


SMALL = Shape(
    layouts=(("cmsm", "classic"),), test_cases=("rpc-call", "notify"), threads=(10, 20), repeats=1
)


def renamed(read: Tables, column: str, names: dict[str, str]) -> Tables:
    """The tables with other names in a column."""
    return {
        name: frame.assign(**{column: frame[column].replace(names)}) if column in frame else frame
        for name, frame in read.items()
    }


def test_an_unknown_test_case_is_told(tmp_path: Path) -> None:
    """The others are reported; the first page says what is left out."""
    read = renamed(tables(SMALL), "test_case", {"notify": "publish *x*"})
    build(read, tmp_path / "out", title="x", html=False)
    page = " ".join((tmp_path / "out/index.rst").read_text().split())
    assert r"2 attempts at the test case 'publish \*x\*' not shown" in page
    layout = (tmp_path / "out/rabbitmq/cmsm/index.rst").read_text()
    assert layout.count("This test case was not measured.") == 2
    assert "publish" in (tmp_path / "out/tables/runs.csv").read_text()


def test_layouts_never_share_a_folder(tmp_path: Path) -> None:
    """The error names two layouts that would share a page."""
    shape = replace(SMALL, layouts=(("cmsm", "mirrored"), ("cmsm-ha", "classic")))
    with pytest.raises(ReportError, match=r"cmsm with mirrored .* share the folder 'cmsm-ha'"):
        build(tables(shape), tmp_path / "out", title="x", html=False)


def test_a_system_is_not_called_like_a_part_of_the_report(tmp_path: Path) -> None:
    """Its pages would be mixed with others, or missing from the HTML."""
    with pytest.raises(ReportError, match="something else called 'tables'"):
        build(tables(replace(SMALL, system="tables")), tmp_path / "out", title="x", html=False)
