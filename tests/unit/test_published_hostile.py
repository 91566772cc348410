"""Any published report gives tables or an error of one sentence, never a traceback.

Damaged reports are made from a small valid one, to be quick.
"""

import os
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mqperf.base.errors import MqperfError, TableError
from mqperf.study import stats, tables
from mqperf_imported.study import importing

pytestmark = pytest.mark.takes_long

ROOT = Path(__file__).parent.parent.parent
CSV = ROOT / "data/sources/message_count.csv"
PUBLISHED = ROOT / "data/published/2016"

REPORT = """\
RabbitMQ performance (Client and Server connected to Master)
------------------------------------------------------------

Simulator client and simulator server are connected to Master node. HA queues_ are disabled.

.. image:: topology_cmsm.*

Test Case 1: RPC CALL Throughput Test
^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

It has one process with `eventlet` executor running in 10 threads.

.. list-table:: RPC CALL Message count
   :header-rows: 1

   *
     - threads
     - sent, msg
     - received, msg
   *
     - 50
     - 301
     - 300
   *
     - 100
     - 299
     - .

.. table:: RPC CALL throughput and latency depending on thread count

   +---------+---------------------+-------------+
   | threads | throughput, msg/sec | latency, ms |
   +=========+=====================+=============+
   | 50      | 3.2                 | 13.8        |
   +---------+---------------------+-------------+
"""
ELSEWHERE = "a line of another file"
MARKUP = (
    ".. include:: {secret}",
    ".. raw:: html\n   :file: {secret}",
    ".. raw:: html\n   :url: file://{secret}",
    ".. csv-table:: RPC CALL Message count\n   :file: {secret}",
    ".. csv-table:: RPC CALL Message count\n   :url: file://{secret}",
    ".. csv-table:: x\n   :widths: 99999999999999999999\n\n   1, 2",
    ".. csv-table:: x\n   :delim: ab\n\n   1, 2",
    ".. list-table:: RPC CALL Message count\n\n   * - threads",
    ".. list-table:: x\n   :stub-columns: 9\n\n   * - a",
    ".. figure:: {secret}\n   :figwidth: image\n   :scale: 99999999999999999999",
    ".. |a| replace:: |a| |a|\n\n|a|",
    "\n".join(f".. |s{n}| replace:: |s{n + 1}| |s{n + 1}|" for n in range(40)) + "\n\n|s0|",
    ".. unicode:: 0xffffffffff",
    ".. |d| date:: %Ez%%%Q\n\n|d|",
    ".. role:: raw-html(raw)\n   :format: html\n\n:raw-html:`<b>`",
    ".. contents::\n   :depth: 99999999999999999999",
    ".. _a: b_\n.. _b: a_\n\na_ b_ [#]_ [CIT]_",
    ".. default-role:: math\n\n`x`",
    "+--+--+\n|a |b |\n+--+  |\n|c |  |\n+--+--+",
    "+---+\n| a |\n+===+",
    "- " * 300 + "a",
    "".join(f"{' ' * n}a\n\n" for n in range(100)),
    "a" * 20_000,
    "*a `b |c " * 3_000,
)
"""Markup that reads other files, never ends, or crashes docutils."""

SIGNS = "*|`_:.\\\"'<>,\t\v\f\u2028\x85é\ufeff\0-+=[]()01239"
FIGURES = ("9" * 400, "-1", "0", "1e9", "1.5", "NaN", "inf", "\u0661", "")


def mutated(chance: random.Random, text: str) -> str:
    """The text with one to five random damages to lines, characters or figures, or with markup."""
    for _ in range(chance.choice((1, 1, 2, 5))):
        lines = text.splitlines(keepends=True) or ["\n"]
        at = chance.randrange(len(lines))
        line, place = lines[at], chance.randrange(len(lines[at]))
        noise = chance.choice(SIGNS) * chance.choice((1, 2, 40))
        lines[at] = chance.choice(
            (
                "",
                line * 2,
                " " * chance.randrange(1, 9) + line,
                line.lstrip(),
                line[:place],
                line[:place] + noise + line[place:],
                f"{chance.choice(MARKUP)}\n\n{line}",
                re.sub("[0-9]+", chance.choice(FIGURES), line),
            )
        )
        text = "".join(lines)
    return text


def outcome(file: Path) -> str | None:
    """The error about the report; None if it became tables."""
    try:
        importing.import_reports([file])
    except MqperfError as error:
        return str(error)
    return None


@pytest.mark.parametrize("seed", range(8))
def test_a_damaged_report_is_read_or_refused_in_a_sentence(tmp_path: Path, seed: int) -> None:
    """Of 200 damaged reports none gives a traceback, and every error names the file."""
    chance = random.Random(seed)
    sources = {"index.rst": REPORT, "figures.csv": CSV.read_text()}
    secret = tmp_path / "secret"
    secret.write_text(ELSEWHERE)
    for _ in range(25):
        name = chance.choice(("index.rst", "index.rst", "figures.csv"))
        file = tmp_path / name
        text = mutated(chance, sources[name]).replace("{secret}", str(secret))
        file.write_text(text, encoding="utf-8")
        refusal = outcome(file)
        if refusal is not None:
            assert name in refusal
            assert "\n" not in refusal
            assert ELSEWHERE not in refusal
            assert len(refusal) < 1_000


@settings(max_examples=60)
@given(text=st.text(st.characters(codec="utf-8"), max_size=300), old=st.sampled_from(["", "301"]))
def test_any_text_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, text: str, old: str
) -> None:
    """Any text may follow the title, or be in a cell of its table."""
    file = tmp_path_factory.mktemp("any") / "index.rst"
    whole = REPORT.replace(old, text) if old else REPORT + text
    file.write_text(whole, encoding="utf-8")
    outcome(file)


@pytest.mark.parametrize("markup", MARKUP)
def test_markup_reads_no_other_file_and_ends(tmp_path: Path, markup: str) -> None:
    """Reports cannot include other files or keep docutils busy for ever."""
    (tmp_path / "secret").write_text(ELSEWHERE)
    file = tmp_path / "index.rst"
    file.write_text(f"{REPORT}\n{markup}\n".replace("{secret}", str(tmp_path / "secret")))
    shown = outcome(file) or "".join(
        frame.to_csv() for frame in importing.import_reports([file]).values()
    )
    assert ELSEWHERE not in shown


def loop(path: Path) -> None:
    path.symlink_to(path.name)


def enormous(path: Path) -> None:
    path.touch()
    os.truncate(path, 2**32)


KINDS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a named pipe": (os.mkfifo, "it is no file"),
    "a folder": (Path.mkdir, "it is no file|Is a directory"),
    "a link to itself": (loop, "Too many levels of symbolic links"),
    "a link to nothing": (lambda path: path.symlink_to("nowhere"), "No such file"),
    "a device without end": (lambda path: path.symlink_to("/dev/zero"), "it is no file"),
    "an enormous file": (enormous, "more than .* MiB"),
    "no text": (lambda path: path.write_bytes(b"a\n\xff"), ":2: is not UTF-8"),
    "a NUL": (lambda path: path.write_bytes(b"a\n\n\0"), ":3: holds a NUL"),
}
each_kind = pytest.mark.parametrize("kind", KINDS)


@each_kind
@pytest.mark.parametrize("name", ["index.rst", "figures.csv"])
def test_what_is_no_file_of_text_is_refused(tmp_path: Path, name: str, kind: str) -> None:
    """It is refused by name, without waiting or reading to the end."""
    make, message = KINDS[kind]
    make(tmp_path / name)
    with pytest.raises(TableError, match=f"{name}.*({message})"):
        importing.import_reports([tmp_path / name])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of published tables, which tests damage."""
    folder = tmp_path / "folder"
    folder.mkdir()
    for file in PUBLISHED.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    return folder


@each_kind
@pytest.mark.parametrize("name", ["published.json", "messages.csv"])
def test_tables_that_are_no_files_of_text_are_refused(folder: Path, name: str, kind: str) -> None:
    """Folders of tables are as untrusted as reports."""
    make, message = KINDS[kind]
    (folder / name).unlink()
    make(folder / name)
    with pytest.raises(TableError, match=f"{name}.*({message})"):
        tables.read(folder)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"title": 1}', "{}", "[" * 10_000])
def test_a_damaged_published_json_is_refused(folder: Path, text: str) -> None:
    """The error says how to create a valid one."""
    (folder / "published.json").write_text(text)
    for read in (tables.read, tables.title):
        with pytest.raises(TableError, match=r"published\.json.*mqperf import REPORT --out"):
            read(folder)


HEADER = "run,threads,sent,throughput_msg_s"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1: has no columns"),
        ("run,run\n", ":1: has the column 'run' 2 times"),
        ("run,speed\n", ":1: unknown column 'speed'"),
        (f"{HEADER}\na,1,2,3\nb,1\n", ":3: 2 cells under 4 columns"),
        (f"{HEADER}\na,1,2,3,4\n", ":2: 5 cells under 4 columns"),
        (f"{HEADER}\n'a,1,2,3\n\"b,1,2,3\n", ":3: cannot be read as CSV"),
        (f"{HEADER}\na,1,2,3\nb,1,x,3\n", ":3: sent is 'x', not a whole number"),
        (f"{HEADER}\na,1,{'9' * 400},3\n", ":2: sent is '9{40}', not a whole number"),
        (f"{HEADER}\na,1,2.5,3\n", ":2: sent is '2.5', not a whole number"),
        (f"{HEADER}\na,1,-2,3\n", ":2: sent is '-2', must be not negative"),
        (f"{HEADER}\na,0,2,3\n", ":2: threads is '0', must be positive"),
        (f"{HEADER}\na,1,2,NaN\n", ":2: throughput_msg_s is 'NaN', not a number"),
        (f"{HEADER}\na,1,2,inf\n", ":2: throughput_msg_s is 'inf', not a number"),
        (f"{HEADER}\na,1,2,1e400\n", ":2: throughput_msg_s is '1e400', not a number"),
    ],
)
def test_a_damaged_table_is_refused_with_its_line(folder: Path, text: str, message: str) -> None:
    """Rows that could shift figures and invalid figures are refused."""
    (folder / "messages.csv").write_text(text)
    with pytest.raises(TableError, match=rf"messages\.csv{message}"):
        tables.read(folder)


def test_extreme_figures_are_audited(folder: Path) -> None:
    """The checks accept the smallest and largest valid figures."""
    text = (folder / "messages.csv").read_text()
    (folder / "messages.csv").write_text(text.replace(",12", f",{2**53}").replace(",31", ",0"))
    stats.complete(tables.read(folder))


def test_text_stays_text(folder: Path) -> None:
    """Version 3.10 is not the number 3.1, and a system may be called NA."""
    (folder / "runs.csv").write_text("run,system,system_version\na,NA,3.10\nb,,3.9\n")
    runs = tables.read(folder)["runs"]
    assert runs["system_version"].tolist() == ["3.10", "3.9"]
    assert runs["system"].isna().tolist() == [False, True]


def test_an_import_replaces_an_earlier_one(tmp_path: Path, folder: Path) -> None:
    """No table of the earlier import is left."""
    file = tmp_path / "figures.csv"
    file.write_text(CSV.read_text())
    importing.write(importing.import_reports([file]), folder)
    assert tables.read(folder)["cpu"].empty


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """The error names the path and the option."""
    (tmp_path / "file").write_text("")
    imported = importing.import_reports([CSV])
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(TableError, match=r"file.*: cannot be written: .*--out"):
            importing.write(imported, out)
