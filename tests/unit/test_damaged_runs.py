"""A damaged run never hides the good ones, and is listed with what is wrong with it."""

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from samples import doubted
from typer.testing import CliRunner

from mqperf.base.errors import TableError
from mqperf.front.cli import app
from mqperf.front.status import status
from mqperf.pages.report.build import build
from mqperf.record import Run
from mqperf.record.facts import FIRST_PARAMETERS
from mqperf.study import tables
from mqperf.study.stats import checks
from mqperf.study.stats.complete import complete
from mqperf.study.stats.summary import points
from mqperf.study.tables.histograms import write_all

pytestmark = pytest.mark.takes_long

ROOT = Path(__file__).parent.parent.parent
SAMPLES = ROOT / "data/samples/runs"
GOOD = "rabbitmq-cmsm-classic-rpc-cast-t0001-p1-r1-c8fdcce3"
OTHER = "rabbitmq-cmsm-classic-rpc-call-t0001-p1-r1-c6dbcb43"
CALL = "rabbitmq-cmsm-classic-rpc-call-t0005-p1-r1-367280fe"

Damage = Callable[[Path], object]
Facts = dict[str, Any]
Frames = dict[str, pd.DataFrame]


def rows(frames: Frames, run: str) -> Frames:
    """The rows of this run, of all tables."""
    return {
        name: frame[frame["run"] == run].reset_index(drop=True)
        for name, frame in frames.items()
        if "run" in frame.columns
    }


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A runs folder of two sound runs."""
    for name in (GOOD, CALL):
        shutil.copytree(SAMPLES / name, tmp_path / name)
    return tmp_path


def facts(change: Callable[[Facts], object]) -> Damage:
    """A change of ``run.json``."""

    def damage(run: Path) -> None:
        file = run / "run.json"
        saved = json.loads(file.read_text())
        change(saved)
        file.write_text(json.dumps(saved))

    return damage


def keys(**values: object) -> Damage:
    """Other values of some keys of ``run.json``."""
    return facts(lambda saved: saved.update(values))


def cut(name: str, size: int) -> Damage:
    """A file of which only the beginning is left."""
    return lambda run: os.truncate(run / name, size)


def replaced(name: str, make: Damage) -> Damage:
    """Something else in the place of a file or folder."""

    def damage(run: Path) -> None:
        path = run / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
        make(path)

    return damage


def text(name: str, old: str, new: str) -> Damage:
    """A file with some of its text changed wherever it stands."""

    def damage(run: Path) -> None:
        path = run / name
        changed = path.read_bytes().replace(old.encode(), new.encode())
        assert changed != path.read_bytes()
        path.write_bytes(changed)

    return damage


def of_today(case: Facts, **parameters: object) -> Facts:
    """The case in today's format, which has the parameters of its generator in one mapping."""
    return {
        **{name: value for name, value in case.items() if name not in FIRST_PARAMETERS},
        "parameters": parameters,
    }


def nan(run: Path) -> None:
    """Make the last instant of a client's replies NaN."""
    with (run / "load/client-1.messages").open("r+b") as file:
        file.seek(-8, os.SEEK_END)
        file.write(b"\xff" * 8)


PROBE = "probes/local/psutil.jsonl"

DAMAGES: dict[str, tuple[Damage, str]] = {
    "events cut": (cut("events.jsonl", 100), r"events\.jsonl:1: the line is cut off"),
    "events gone": (lambda run: (run / "events.jsonl").unlink(), r"events\.jsonl: is missing"),
    "an event of the year 9999": (
        text("events.jsonl", '"epoch": 17', '"epoch": 1.7e15, "more": 17'),
        r"events\.jsonl:1: epoch: input should be less than",
    ),
    "run.json empty": (cut("run.json", 0), r"run\.json: not a sound run\.json"),
    "run.json gone": (lambda run: (run / "run.json").unlink(), r"run\.json: is missing"),
    "run.json a list": (lambda run: (run / "run.json").write_text("[]"), "no object"),
    "no window": (facts(lambda saved: saved.pop("window")), "window: not recorded"),
    "an endless window": (
        keys(window={"start": 1795248069, "end": 1e15}),
        r"run\.json: window\.end: input should be less than",
    ),
    "a window of NaN": (keys(window={"start": float("nan"), "end": 2}), "NaN is not a JSON number"),
    "a window of text": (keys(window={"start": "1795248069", "end": 1795248072}), "window.start: "),
    "a moved window": (keys(window={"start": 1795248070, "end": 1795248073}), "window.start: "),
    "kinds without Master": (
        facts(lambda saved: saved["kinds"].pop("Master")),
        "does not say of which kind process Master is",
    ),
    "an unknown kind": (
        facts(lambda saved: saved["kinds"].update(Master="harness")),
        "kinds: Master is no harness",
    ),
    "a process that was never watched": (
        facts(lambda saved: saved["kinds"].update(more="broker")),
        "no log of the psutil probe knows process more",
    ),
    "a process less": (facts(lambda saved: saved["processes"].pop()), "0 of kind client, .* has 1"),
    "a label that leaves the folder": (
        facts(lambda saved: saved["processes"][0].update(label="../server-1")),
        r"processes\.0\.label: ",
    ),
    "a file outside": (
        facts(lambda saved: saved["files"].update({"/etc/passwd": "0" * 64})),
        "should name a file inside the run folder",
    ),
    "a topology that leaves the folder": (
        facts(lambda saved: saved["case"].update(topology="../../elsewhere")),
        "case: topology should be a short name",
    ),
    "a parameter of another type": (
        facts(
            lambda saved: saved.update(schema=2, case=of_today(saved["case"], payload_bytes=True))
        ),
        r"run\.json: parameters of simulator: payload_bytes: input should be a valid integer",
    ),
    "a parameter of nobody": (
        facts(lambda saved: saved.update(schema=2, case=of_today(saved["case"], nope=1))),
        r"run\.json: parameters of simulator: nope: extra inputs are not permitted",
    ),
    "a parameter that the case contradicts": (
        facts(
            lambda saved: saved.update(
                schema=2,
                case=of_today(saved["case"], payload_bytes=256),
                parameters={"payload_bytes": 512},
            )
        ),
        r"run\.json: parameters\.payload_bytes: 512 recorded, the case has 256",
    ),
    "a generator of nobody": (
        facts(lambda saved: saved["case"].update(generator="nobodys")),
        r"run\.json: its load generator 'nobodys' is not known here",
    ),
    "messages cut": (cut("load/client-1.messages", 9000), "has 9000 bytes where its header"),
    "messages of NaN": (nan, "the instant at byte 157602 is no finite number"),
    "messages of a pipe": (replaced("load/server-1.messages", os.mkfifo), "a named pipe, where"),
    "messages with a hole": (
        lambda run: os.truncate(run / "load/client-1.messages", 2**43),
        "a recorded file of its kind has at most",
    ),
    "messages elsewhere": (
        replaced("load/server-1.messages", lambda path: path.symlink_to("../../elsewhere")),
        "a link, where a recorded file should be",
    ),
    "a folder for a file": (replaced(PROBE, Path.mkdir), r"psutil\.jsonl: a folder, where"),
    "a file for a folder": (replaced("load", Path.touch), r"load: cannot be read"),
    "messages of another process": (
        lambda run: shutil.copy(run / "load/server-1.messages", run / "load/client-1.messages"),
        "not of this run: it is of server-1 server rpc-call",
    ),
    "messages nobody knows": (
        lambda run: shutil.copy(run / "load/client-1.messages", run / "load/client-2.messages"),
        "run.json knows no process client-2",
    ),
    "a summary cut": (cut("load/server-1.json", 500), r"server-1\.json is empty or cut short"),
    "a summary swapped": (
        lambda run: shutil.copy(run / "load/client-1.json", run / "load/server-1.json"),
        r"server-1\.json holds no series and summary",
    ),
    "probe cut": (cut(PROBE, 1000), r"psutil\.jsonl:2: the log is cut short"),
    "probe gone": (lambda run: (run / PROBE).unlink(), "no log of the psutil probe knows process"),
    "a counter reset": (
        text(PROBE, '"client-1": [18294', '"client-1": [8294'),
        r"psutil\.jsonl:3: the counters of client-1 fell",
    ),
    "another type": (text(PROBE, '"host": [', '"host": ["'), r"psutil\.jsonl:1: "),
    "an unknown host": (
        lambda run: shutil.copytree(run / "probes/local", run / "probes/elsewhere"),
        "run.json knows no host elsewhere",
    ),
    "no folder": (
        replaced(".", Path.touch),
        r"run\.json: cannot be read: Not a directory",
    ),
}


@pytest.fixture(scope="module")
def all_damaged(tmp_path_factory: pytest.TempPathFactory) -> Frames:
    """The tables of a folder with a good run and one for every damage, and the doubts."""
    folder = tmp_path_factory.mktemp("runs")
    shutil.copytree(SAMPLES / GOOD, folder / GOOD)
    for number, (damage, _) in enumerate(DAMAGES.values()):
        shutil.copytree(SAMPLES / CALL, folder / named(number))
        damage(folder / named(number))
    return doubted(folder)


def named(number: int) -> str:
    """Another folder's name for a copy of the run."""
    return f"{CALL.rpartition('-')[0]}-{number:08x}"


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_run_is_listed_with_its_reason(all_damaged: Frames, name: str) -> None:
    """It has a row with the reason, a doubt that names the file, and is in no other table."""
    frames = rows(all_damaged, named(list(DAMAGES).index(name)))
    (row,) = frames["runs"].to_dict("records")
    assert row["status"] == "unreadable"
    assert re.search(DAMAGES[name][1], row["failure"])
    assert (row["system"], row["test_case"], row["threads"]) == ("rabbitmq", "rpc-call", 5)
    doubts = frames["doubts"].set_index("kind")["text"]
    assert row["failure"].rstrip(".") in doubts["unreadable-run"]
    assert "remove the run folder and measure again" in doubts["unreadable-run"]
    assert all(frame.empty for key, frame in frames.items() if key not in {"runs", "doubts"})


def test_the_good_run_is_as_it_was(all_damaged: Frames) -> None:
    """All its numbers are those that it has without damaged runs beside it."""
    alone = tables.of_runs([Run(SAMPLES / GOOD, GOOD, "done")])
    for name, frame in alone.items():
        pd.testing.assert_frame_equal(rows(all_damaged, GOOD)[name], frame)


def test_points_count_unreadable_runs_as_failed(two: Path) -> None:
    """The point has a row, without figures, and says that it has no whole run."""
    (two / CALL / PROBE).write_text("")
    by_case = points(tables.read(two)).set_index("test_case")
    assert by_case[["repeats", "failed"]].to_numpy().tolist() == [[0, 1], [1, 0]]
    assert by_case["throughput_msg_s"].isna()["rpc-call"]


def test_where_no_run_is_good_one_sentence_says_so(two: Path) -> None:
    """The error has the first reason, and what to do."""
    for name in (GOOD, CALL):
        (two / name / "run.json").write_text("")
    with pytest.raises(TableError, match=r"none of 2 runs can be read: .*; restore the files"):
        tables.read(two)


def test_histograms_are_of_good_runs_only(two: Path) -> None:
    """A run that is in no table has no histogram either."""
    (two / CALL / PROBE).write_text("{")
    files = write_all(two, two / "hdr", tables.read(two)["runs"])
    assert [file.stem for file in files] == [GOOD]


@pytest.mark.starts_programs
def test_every_command_goes_on_without_the_damaged_run(two: Path) -> None:
    """Tables, audit, status, comparison and report are of the good runs, and name the other."""
    (two / CALL / "run.json").write_text("")
    shutil.copy(SAMPLES / "plan.yaml", two)
    commands = (
        *(("audit", two), ("status", two), ("tables", two, "--out", two / "tables", "--hdr")),
        ("compare", two, two),
    )
    replies = [CliRunner().invoke(app, [str(word) for word in words]) for words in commands]
    assert [(reply.exit_code, reply.exception) for reply in replies] == [(0, None)] * len(replies)
    assert "unreadable-run: the run cannot be read" in replies[0].output
    build(complete(tables.read(two)), two / "report", title="Two runs", html=False)
    assert "1 run of 2 cannot be read" in (two / "report/index.rst").read_text()
    page = (two / "report/rabbitmq/cmsm/index.rst").read_text()
    assert "the run cannot be read" in page
    assert str(two) not in page


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (cut("run.json", 0), "run.json: not a sound run.json"),
        (cut("events.jsonl", 100), "events.jsonl:1: the line is cut off"),
        (cut(PROBE, 1000), f"{PROBE}: not as recorded"),
        (lambda run: (run / "load/client-1.messages").unlink(), "load/client-1.messages: not as"),
        (replaced("load/client-1.messages", os.mkfifo), "a named pipe, where a recorded file"),
    ],
)
def test_status_marks_what_cannot_be_read(two: Path, damage: Damage, words: str) -> None:
    """The line has the reason without the path of the folder; the good run is done."""
    shutil.copy(SAMPLES / "plan.yaml", two)
    damage(two / CALL)
    *lines, sums = status(two).splitlines()
    (marked,) = (line for line in lines if line.startswith("unreadable "))
    assert "rpc-call, 5 threads: " in marked
    assert words in marked
    assert str(two) not in marked
    assert sums == "1 done, 0 running, 0 failed, 1 unreadable, 22 pending"


def test_a_run_that_cannot_be_read_is_not_missing(two: Path) -> None:
    """Its folder is there, so that it need not be looked for, nor be measured before that."""
    shutil.copy(SAMPLES / "plan.yaml", two)
    (two / GOOD / "run.json").write_text("{")
    shutil.copytree(SAMPLES / OTHER, two / OTHER)
    cut("load/client-1.messages", 100)(two / OTHER)
    doubts = checks.doubts(tables.read(two))
    missing = set(doubts.loc[doubts["kind"] == "missing-run", "run"])
    assert missing
    assert not missing & {GOOD, CALL, OTHER}
    assert set(doubts.loc[doubts["kind"] == "unreadable-run", "run"]) == {GOOD, OTHER}


def test_an_invalid_value_is_located() -> None:
    """The error identifies the row by its keys, as the file is no longer known."""
    row = {"process": "client-1", "start_s": 2.0, "total_cores": -1.0}
    where = r"table cpu, row 1 \(process 'client-1', start 2.0 s\): total_cores must be"
    with pytest.raises(TableError, match=where):
        tables.conform("cpu", pd.DataFrame([row]))
