"""Runs of Maestro and quiver are imported, or an error says why not.

The samples of quiver are real; those of Maestro were made from a recorded run of mqperf.
"""

import gzip
import json
import lzma
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hdrh.histogram import HdrHistogram
from quantiles import quantile_s

from mqperf.base.errors import TableError
from mqperf.onhost.record.hdr import fold
from mqperf.pages.report.words import generator
from mqperf.record.messages import read_messages
from mqperf.record.streams.telling import tells
from mqperf.study import stats, tables
from mqperf.study.importer import IMPORTERS
from mqperf.study.tables import Tables
from mqperf_imported.study import importing
from mqperf_imported.study.histograms import converted, merged
from mqperf_imported.study.maestro import counted
from mqperf_imported.study.maestro_latency import read_hdr
from mqperf_imported.study.maestro_rates import HEADER, NAME, RECORD, VERSION
from mqperf_imported.study.measured import About
from mqperf_imported.study.quiver_files import read_transfers
from mqperf_imported.study.unpacked import unpacked

pytestmark = pytest.mark.takes_long

ROOT = Path(__file__).parents[2]
MAESTRO = ROOT / "data/samples/maestro"
QUIVER = ROOT / "data/samples/quiver"
SOURCE = next((ROOT / "data/samples/runs").glob("rabbitmq-cs1ss2-classic-notify-t0001-*"))
"""The run from which the samples of Maestro were made."""

ROUTER = About("qpid-dispatch", "standalone", "routed")
RABBITMQ = About("rabbitmq", "cs1ss2", "classic")
RECEIVER = "receiver/worker-2"
SENDER = "sender/worker-1"


def imported(*folders: Path, about: About = ROUTER) -> Tables:
    return importing.import_paths(folders, about).tables


def instants() -> np.ndarray:
    """Times of sending and receipt of every message of the source run."""
    return read_messages(SOURCE / "load" / "server-1.messages")["received"]


@pytest.fixture
def quiver(tmp_path: Path) -> Path:
    """A run of quiver that a test may change."""
    return Path(shutil.copytree(QUIVER / "router-256", tmp_path / "router-256"))


@pytest.fixture
def maestro(tmp_path: Path) -> Path:
    """A run of Maestro's Java workers that a test may change."""
    return Path(shutil.copytree(MAESTRO / "java", tmp_path / "java"))


def test_quiver_agrees_with_its_own_summary() -> None:
    """Latencies computed from all transfers equal those in quiver's summary."""
    folder = QUIVER / "router-256"
    printed = json.loads((folder / "receiver-summary.json").read_text())["results"]
    received = read_transfers(folder, "receiver", printed["first_receive_time"] // 1000)
    assert received is not None
    assert received.count == printed["message_count"]
    latency_ms = np.rint((received.finished - received.started) * 1000)
    assert latency_ms.mean() == pytest.approx(printed["latency_average"])
    nines = np.percentile(latency_ms, [90, 99, 99.9, 99.99, 99.999]).astype(int)
    assert nines.tolist() == printed["latency_nines"]


def test_a_run_of_quiver_has_all_tables() -> None:
    """It has counts, rates, latencies, CPU and parameters, and no unfounded figures."""
    read = imported(QUIVER / "router-256", QUIVER / "router-1024")
    runs, messages = read["runs"], read["messages"]
    assert runs["run"].tolist() == ["router-256", "router-1024"]
    assert runs["payload_bytes"].tolist() == [256, 1024]
    assert runs["point"].is_unique
    assert set(runs["threads"]) == {1}
    assert (messages["sent"] - messages["received"]).tolist() == [1, 0]
    assert messages["lost"].isna().all()
    window = read["cpu"].query("scope == 'window'")
    assert set(window["kind"]) == {"client", "server"}
    assert window["total_cores"].between(0.01, 1).all()
    assert read["doubts"].empty


def test_the_seconds_of_a_run_add_up() -> None:
    """All messages are counted in intervals, and the window's mean is the throughput."""
    read = imported(QUIVER / "router-256")
    intervals = read["intervals"].query("stream == 'received'")
    assert intervals["count"].sum() == read["messages"]["received"][0]
    inside = intervals.loc[intervals["phase"] == "window", "count"]
    assert inside.mean() == pytest.approx(read["messages"]["throughput_msg_s"][0])
    assert len(inside) == read["runs"]["window_s"][0]


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
}


@pytest.mark.parametrize("end", PACKED)
def test_transfers_are_read_however_they_are_packed(quiver: Path, end: str) -> None:
    """Plain files, gzip and xz, which quiver used before zstd."""
    before = imported(quiver)
    for role in ("sender", "receiver"):
        packed = quiver / f"{role}-transfers.csv.zst"
        (quiver / f"{role}-transfers.csv{end}").write_bytes(PACKED[end](unpacked(packed)))
        packed.unlink()
    after = imported(quiver)
    for name, frame in before.items():
        pd.testing.assert_frame_equal(after[name], frame, obj=name)


def test_a_summary_alone_is_enough(quiver: Path) -> None:
    """Without transfers the figures are the summary's, and a doubt says their scope."""
    for packed in quiver.glob("*-transfers.csv.zst"):
        packed.unlink()
    read = imported(quiver)
    printed = json.loads((quiver / "receiver-summary.json").read_text())["results"]
    assert read["messages"]["throughput_msg_s"][0] == printed["message_rate"]
    latency = read["latency"].iloc[0]
    assert latency["latency_p99_s"] * 1000 == pytest.approx(printed["latency_nines"][1])
    assert latency["latency_max_s"] * 1000 == pytest.approx(printed["latency_quartiles"][4])
    assert read["percentiles"]["percentile"].tolist() == [0.5, 0.9, 0.99, 0.999]
    assert "are of the whole run" in read["doubts"]["text"][0]


def test_a_summary_that_counts_otherwise_is_doubted(quiver: Path) -> None:
    """The doubt has both counts."""
    file = quiver / "sender-summary.json"
    summary = json.loads(file.read_text())
    summary["results"]["message_count"] += 5
    file.write_text(json.dumps(summary))
    doubts = stats.complete({**empty(), **imported(quiver)})["doubts"]
    [text] = doubts.loc[doubts["kind"] == "record-disagrees", "text"]
    assert "sender-summary.json counts 53824 messages, the transfers have 53819" in text


def test_a_test_of_maestro_is_the_run_that_it_was_made_of() -> None:
    """Rates equal those of the source run, latencies to three digits."""
    read = imported(MAESTRO / "java", about=RABBITMQ)
    times = instants()
    latency_s = times[:, 1] - times[:, 0]
    latency, figures = read["latency"].iloc[0], [0.5, 0.9, 0.95, 0.99, 0.999]
    assert latency["samples"] == len(times)
    for level in figures:
        column = f"latency_p{f'{100 * level:g}'.replace('.', '')}_s"
        expected = np.quantile(latency_s, level) if tells(len(times), level) else np.nan
        assert latency[column] == pytest.approx(expected, rel=2e-3, nan_ok=True)
    assert latency["latency_mean_s"] == pytest.approx(latency_s.mean(), rel=1e-3)
    finished = np.sort(times[:, 1])
    whole = int(finished[-1] - finished[0])
    seconds = np.bincount((finished - finished[0]).astype(int))[:whole]
    received = read["intervals"].query("stream == 'received'")
    assert received["count"].tolist() == seconds.tolist()
    inside = received.loc[received["phase"] == "window", "count"]
    assert inside.mean() == pytest.approx(read["messages"]["throughput_msg_s"][0])


def test_figures_that_maestro_lacks_are_missing() -> None:
    """Java workers do not count messages after the last second; C workers have every one."""
    java, c = (imported(MAESTRO / name, about=RABBITMQ) for name in ("java", "c"))
    assert java["messages"][["sent", "received", "lost"]].isna().all(axis=None)
    assert c["messages"]["sent"][0] == c["messages"]["received"][0] == len(instants())
    assert java["runs"]["started"].notna().all()
    assert c["runs"]["started"].isna().all()
    assert "password" not in java["runs"].to_csv() + c["runs"].to_csv()


def test_an_unnamed_system_is_a_doubt() -> None:
    """Neither tool records the system, so it is unknown and incomplete."""
    read = imported(MAESTRO / "java", QUIVER / "router-256", about=About(topology="line"))
    assert set(read["runs"]["system"]) == {"unknown"}
    assert set(read["doubts"]["kind"]) == {"incomplete"}
    assert {text.partition(": ")[2] for text in read["doubts"]["text"]} == {
        "unknown is system, queues"
    }


def test_the_same_again_is_a_repeat(quiver: Path) -> None:
    """Runs with equal parameters are repeats; others are separate points."""
    read = imported(QUIVER / "router-256", QUIVER / "router-1024", quiver)
    assert read["runs"]["repeat"].tolist() == [1, 1, 2]
    assert read["runs"]["point"].nunique() == 2


def test_an_offered_rate_is_a_parameter(maestro: Path) -> None:
    """Maestro's rate is per connection."""
    for file in maestro.rglob("test.properties"):
        text = file.read_text().replace("rate=0", "rate=1900")
        file.write_text(text.replace("parallelCount=1", "parallelCount=2"))
    read = imported(maestro)
    assert read["runs"][["threads", "rate_msg_s"]].to_numpy().tolist() == [[2, 3800]]
    doubts = stats.complete({**empty(), **read})["doubts"]["kind"]
    assert {"rate-missed", "service-time"} <= set(doubts)


def test_imported_runs_are_read_back_and_complete(tmp_path: Path) -> None:
    """Written tables are read back with points, doubts, comparison and latency maps."""
    result = importing.import_paths([*sorted(QUIVER.glob("router-*"))], ROUTER)
    importing.write(result.tables, tmp_path, latencies=result.latencies)
    read = tables.read(tmp_path)
    for name, frame in result.tables.items():
        pd.testing.assert_frame_equal(read[name], frame, obj=name)
    complete = stats.complete(read)
    assert complete["points"]["throughput_msg_s"].gt(10_000).all()
    assert len(stats.compared(complete, complete)["comparison"])
    for run, samples in zip(read["latency"]["run"], read["latency"]["samples"], strict=True):
        assert tables.latency_map(tmp_path, run)["count"].sum() == samples
    importing.write(importing.import_paths([QUIVER / "router-256"], ROUTER).tables, tmp_path)
    assert not [*tmp_path.rglob("*.hlog")]


@pytest.mark.parametrize(
    ("digits", "lowest", "unit_s"), [(3, 1, 1e-6), (2, 1, 1e-3), (5, 10, 1e-6)]
)
def test_histograms_of_any_range_are_read(digits: int, lowest: int, unit_s: float) -> None:
    """Equal to the reference implementation to its digits, but at most three."""
    values = np.random.default_rng(1).lognormal(7, 2, 3000).astype(int) + lowest
    reference = HdrHistogram(lowest, 3_600_000_000, digits)
    for value in values:
        reference.record_value(int(value))
    ours = converted(reference.encode().decode(), unit_s)
    assert ours.total == len(values)
    exact = 10.0 ** -min(digits, 3)
    for level in (0.01, 0.5, 0.9, 0.999):
        value = reference.get_value_at_percentile(100 * level) * unit_s
        assert quantile_s(ours, level) == pytest.approx(value, rel=2 * exact, abs=lowest * unit_s)


def test_a_log_of_java_is_read_like_the_reference() -> None:
    """All lines merged equal the reference implementation in Python."""
    log = MAESTRO / "java" / RECEIVER / "receiverd-latency.hdr"
    reference = HdrHistogram(1, 3_600_000_000, 3)
    for line in log.read_text().splitlines()[4:]:
        reference.decode_and_add(line.rpartition(",")[2])
    latencies = counted(read_hdr(log))
    assert latencies.count == reference.get_total_count()
    assert latencies.mean_s == pytest.approx(reference.get_mean_value() / 1e6, rel=1e-3)
    [p99] = latencies.quantiles_s([0.99])
    assert p99 == pytest.approx(reference.get_value_at_percentile(99) / 1e6, rel=2e-3)


def test_merging_is_exact() -> None:
    """Merged histograms equal one histogram of all messages."""
    chance = np.random.default_rng(1)
    parts = [np.exp(chance.normal(-6, 1.5, 5000)) for _ in range(4)]
    together = fold(np.concatenate(parts))
    assert np.array_equal(merged(map(fold, parts)).counts, together.counts)


def test_pages_name_the_tool() -> None:
    """With a link if its importer is installed, else by the recorded name."""
    runs = imported(QUIVER / "router-256")["runs"]
    assert generator(runs)["name"] == "`Quiver`_"
    assert generator(runs)["target"].endswith(IMPORTERS["quiver"].link)
    other = generator(runs.assign(generator="the_other"))
    assert (other["name"], other["target"]) == (r"the\_other", "")


def empty() -> dict[str, pd.DataFrame]:
    return {name: tables.empty(name) for name in tables.batches.read_names()}


def summary(count: int, operation: str = "receive", **results: int) -> bytes:
    """The summary of a quiver arrow with this count of messages."""
    config = {"impl": "x", "operation": operation, "body_size": 1, "credit_window": 1}
    results = {"message_count": count, **results}
    return json.dumps({"config": config, "results": results}).encode()


def rates_until(until_us: int) -> bytes:
    """A rate file of a Maestro sender with one message at this time."""
    return HEADER.pack(NAME, VERSION, 130, 1) + np.array([(0, 1, until_us)], RECORD).tobytes()


BAD: dict[str, tuple[str, str, bytes, str]] = {
    "no summary": ("quiver", "sender-summary.json", b"{", "is no summary of quiver"),
    "a negative count": (
        "quiver",
        "receiver-summary.json",
        summary(-1),
        "results.message_count: input should be greater than or equal to 0",
    ),
    "of another age": (
        "quiver",
        "sender-summary.json",
        summary(1, "send", first_send_time=10**15, last_send_time=10**15),
        "results.first_send_time: input should be less than or equal to",
    ),
    "of months": (
        "quiver",
        "sender-summary.json",
        summary(1, "send", first_send_time=10**12, last_send_time=2 * 10**12),
        "records sending for over a week",
    ),
    "a far second": ("maestro", f"{SENDER}/sender.dat", rates_until(10**18), "is damaged"),
    "of the other arrow": (
        "quiver",
        "sender-summary.json",
        summary(1),
        "did receive, not send",
    ),
    "packed otherwise": ("quiver", "sender-transfers.csv.zst", b"1,0\n", "cannot be read"),
    "words": ("quiver", "receiver-snapshots.csv", b"a,b\n", "not whole numbers"),
    "other columns": ("quiver", "receiver-snapshots.csv", b"1,2\n", "has lines that are not at"),
    "no period": ("quiver", "receiver-snapshots.csv", b"1,0,1,1,1,1,1,1\n", "took no time"),
    "no property": ("maestro", f"{SENDER}/test.properties", b"rate\n", ":1: is no property"),
    "another test": ("maestro", f"{SENDER}/test.properties", b"rate=1\n", "messageSize is ''"),
    "cut short": ("maestro", f"{SENDER}/sender.dat", b" maestro", "is cut short"),
    "another format": ("maestro", f"{SENDER}/sender.dat", bytes(20), "no rate file of Maestro"),
    "no histogram": (
        "maestro",
        f"{RECEIVER}/receiverd-latency.hdr",
        b'"Start","Interval_Length","Max","Histogram"\n1.0,1.0,1.0,HISTFAAA\n',
        "receiverd-latency.hdr:2: no line of a latency log",
    ),
    "no heading": (
        "maestro",
        f"{RECEIVER}/receiverd-latency.hdr",
        b"1.0,1.0,1.0,HISTFAAA\n",
        "its heading is not that of Maestro's workers",
    ),
}
"""Tool, file, its content, and a part of the error message."""


@pytest.mark.parametrize("name", BAD)
def test_a_damaged_file_is_named(name: str, request: pytest.FixtureRequest) -> None:
    """The error is one line with the name of the file."""
    tool, file, content, words = BAD[name]
    folder: Path = request.getfixturevalue(tool)
    (folder / file).write_bytes(content)
    with pytest.raises(TableError) as error:
        imported(folder)
    assert words in str(error.value)
    assert Path(file).name in str(error.value)
    assert "\n" not in str(error.value)


def test_an_incomplete_test_is_refused(maestro: Path) -> None:
    """A run without senders is refused, and so is a folder without any run."""
    shutil.rmtree(maestro / SENDER)
    with pytest.raises(TableError, match="has no rates of a sender: give the folder of a whole"):
        imported(maestro)
    with pytest.raises(TableError, match=r"holds no run of .*Quiver \(sender-summary\.json\)"):
        imported(QUIVER)


def test_a_number_in_words_is_refused(maestro: Path) -> None:
    """The error names the file."""
    for file in maestro.rglob("test.properties"):
        file.write_text(file.read_text().replace("parallelCount=1", "parallelCount=one"))
    with pytest.raises(TableError, match=r"test\.properties: parallelCount is 'one', not a whole"):
        imported(maestro)


def test_two_tests_are_not_one(maestro: Path) -> None:
    """Files of tests at different times are not merged."""
    other = Path(shutil.copytree(maestro / SENDER, maestro / "sender/worker-3"))
    content = bytearray((other / "sender.dat").read_bytes())
    records = np.frombuffer(content, [("m", ">i4"), ("c", ">i8"), ("t", ">i8")], offset=20)
    records["t"] += 3_600_000_000
    (other / "sender.dat").write_bytes(content)
    with pytest.raises(TableError, match="these are several tests, or their clocks differ"):
        imported(maestro)
