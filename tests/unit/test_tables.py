"""Tables: the meaning of each number, checked on runs in which every message is known."""

import json
import os
import re
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
import pytest

from mqperf.base.errors import TableError
from mqperf.onhost.load.simulator.recorder import Recorder
from mqperf.plan import Case
from mqperf.plan.columns import TABLES
from mqperf.record import Attempt, Run, messages
from mqperf.record.logs import psutil_log
from mqperf.record.outputs.simulator import Point, summed
from mqperf.study import tables
from mqperf.study.stats import checks

START = 1_700_000_000.0
"""Start of the load: the window is from 1 s to 3 s after it, the load ends 4 s after it."""

Instants = Sequence[tuple[float, ...]]


@dataclass
class Known:
    """A run to record: by process and stream, instants since the start of the load."""

    test_case: str = "rpc-call"
    clients: list[Mapping[str, Instants]] = field(default_factory=list)
    servers: list[Instants] = field(default_factory=list)

    def write(self, folder: Path) -> Run:
        """Record it as the runner does."""
        attempt = Attempt(folder, self.case)
        for number, client in enumerate(self.clients, 1):
            self._process(attempt, f"client-{number}", "client", {"error": [], **client})
        for number, server in enumerate(self.servers, 1):
            self._process(attempt, f"server-{number}", "server", {"received": server})
        kinds = {"Master": "broker", "client-1": "client"}
        _write_probe(attempt.folder / "probes" / "local", list(kinds))
        attempt.facts |= {
            "window": {"start": START + 1, "end": START + 3},
            "kinds": kinds,
            "hosts": [{"label": "local", "cores": 4}],
            "system": {"nodes": [{"label": "Master", "name": "mq1"}]},
            "processes": [
                {"label": path.stem, "kind": path.stem.partition("-")[0], "reported": True}
                for path in sorted((attempt.folder / "load").glob("*.json"))
            ],
        }
        attempt.event("measured")
        return attempt.finish()

    @property
    def case(self) -> Case:
        """Two seconds of window after one second of warm-up."""
        return Case(
            system="rabbitmq",
            topology="cmsm",
            queues="classic",
            test_case=self.test_case,
            green_threads=10,
            processes=len(self.clients),
            duration_s=2,
            warmup_s=1,
        )

    def _process(
        self, attempt: Attempt, label: str, kind: str, streams: Mapping[str, Instants]
    ) -> None:
        header: dict[str, object] = {
            "format": messages.FORMAT,
            "version": messages.VERSION,
            "label": label,
            "kind": kind,
            "test_case": self.test_case,
        }
        recorder = Recorder(header, list(streams))
        for name, instants in streams.items():
            columns = [
                array("d", [START + t for t in column]) for column in zip(*instants, strict=True)
            ]
            if columns:
                recorder.streams[name] = tuple(columns)
        recorder.save(attempt.folder / "load" / f"{label}.messages")
        text = json.dumps(simulated(kind, streams))
        (attempt.folder / "load" / f"{label}.json").write_text(text)


def simulated(kind: str, streams: Mapping[str, Instants]) -> dict[str, object]:
    """The simulator's output for these messages: points of every second, and their sum."""
    names = {"sent": "client", "received": "server"}
    points = {names.get(name, name): seconds(instants) for name, instants in streams.items()}
    points |= {} if kind == "server" else {"error": points.get("error", [])}
    sums = {
        name: summed([Point.model_validate(point) for point in rows]).model_dump(exclude_none=True)
        for name, rows in points.items()
    }
    return {
        "series": {"server" if kind == "server" else f"{n}_0": rows for n, rows in points.items()},
        "summary": sums["server"] if kind == "server" else sums,
    }


def seconds(instants: Instants) -> list[dict[str, float | int]]:
    """A point for each second in which a message finished."""
    points = []
    for second in range(10):
        inside = [times for times in instants if second <= times[-1] < second + 1]
        point: dict[str, float | int] = {"timestamp": START + second + 1, "count": len(inside)}
        waits = [(START + times[1]) - (START + times[0]) for times in inside if len(times) > 1]
        if waits:
            point |= {"latency": sum(waits) / len(waits)}
            point |= {"min_latency": min(waits), "max_latency": max(waits)}
        points.append(point)
    return points


def _write_probe(folder: Path, labels: Sequence[str]) -> None:
    """The first process uses a core, a tenth of it in the system; one sample a second."""
    folder.mkdir(parents=True)
    samples = [
        {
            "epoch": START + second,
            "monotonic": 50.0 + second,
            "processes": {n: [50.0 + second, 0.9 * second, 0.1 * second, 10**8] for n in labels},
            "host": [50.0 + second, 1.5 * second, 0.5 * second],
        }
        for second in range(5)
    ]
    (folder / psutil_log.LOG).write_text("".join(json.dumps(sample) + "\n" for sample in samples))


CALLS = [(t, t + 0.25) for t in (0.5, 0.9, 1.1, 1.5, 1.9, 2.5, 2.9)]
CALL = Known(
    clients=[
        {
            "sent": [(start,) for start, _ in CALLS] + [(3.5,), (3.6,)],
            "round_trip": CALLS,
            "error": [(3.5, 3.9)],
        }
    ],
    servers=[[(start, start + 0.1) for start, _ in CALLS] + [(1.1, 1.3)]],
)


@pytest.fixture
def call(tmp_path: Path) -> dict[str, pd.DataFrame]:
    """The tables of a CALL run: 9 sent, 7 replies, 1 error, 1 duplicate at the server."""
    CALL.write(tmp_path)
    return dict(tables.read(tmp_path))


def only(frame: pd.DataFrame) -> pd.Series:
    """The single row of a frame."""
    assert len(frame) == 1
    return frame.iloc[0]


def test_every_table_has_the_columns_of_the_register(call: dict[str, pd.DataFrame]) -> None:
    """All columns are there, in order, whatever the run contained."""
    for name, frame in call.items():
        assert tuple(frame.columns) == TABLES[name].columns


def test_counts_are_of_the_whole_run(call: dict[str, pd.DataFrame]) -> None:
    """Warm-up and drain count; lost messages have neither a reply nor an error."""
    row = only(call["messages"])
    counts = row[["sent", "received", "round_trip", "errors", "lost", "duplicates"]]
    assert list(counts) == [9, 8, 7, 1, 1, 1]


def test_throughput_is_what_finished_in_the_window(call: dict[str, pd.DataFrame]) -> None:
    """Replies at 1.15, 1.35, 1.75, 2.15 and 2.75 in a window from 1 to 3 s: 5 in 2 s."""
    row = only(call["messages"])
    assert row["throughput_msg_s"] == 5 / 2
    assert row["send_rate_msg_s"] == 5 / 2
    assert row["throughput_sd_msg_s"] == pytest.approx(0.5**0.5)


def test_the_formulas_of_2016_stand_beside(call: dict[str, pd.DataFrame]) -> None:
    """They use the simulator's own summary: 7 replies in its 4 s, 0.25 s each."""
    assert only(call["messages"])["published_throughput_msg_s"] == 7 / 4
    assert only(call["latency"])["published_latency_s"] == pytest.approx(0.25)


def test_latency_is_of_messages_started_in_the_window(call: dict[str, pd.DataFrame]) -> None:
    """Five round trips of 250 ms, the last of which finished after the window."""
    row = only(call["latency"])
    assert (row["stream"], row["samples"]) == ("round-trip", 5)
    assert row["latency_mean_s"] == pytest.approx(0.25)
    assert row["latency_max_s"] == pytest.approx(0.25)
    assert pd.isna(row["latency_p999_s"])  # five are too few


def test_cpu_is_cumulative_over_exactly_the_window(call: dict[str, pd.DataFrame]) -> None:
    """Every process and the host have a row per second, and one for the whole window."""
    cpu = call["cpu"].set_index(["process", "scope"]).sort_index()
    master = only(cpu.loc[[("Master", "window")]])
    assert (master["start_s"], master["end_s"]) == (0, 2)
    assert master["total_cores"] == pytest.approx(1.0)
    assert master["sys_cores"] == pytest.approx(0.1)
    assert len(cpu.loc[[("Master", "interval")]]) == 2
    assert only(cpu.loc[[("host", "window")]])["total_cores"] == pytest.approx(1.5)


def test_every_process_has_the_cores_of_its_host(call: dict[str, pd.DataFrame]) -> None:
    """The number stands in each row, as hosts may differ."""
    assert set(call["cpu"]["cores"]) == {4}


def test_a_record_of_atop_beside_the_runs_is_of_its_node(root: Path, tmp_path: Path) -> None:
    """Its rows have the node's label, and only seconds of the run's window."""
    CALL.write(tmp_path)
    record = (root / "data/samples/atop/atop-2.8.1.txt").read_text()
    (tmp_path / "atop").mkdir()
    shifted = re.sub(r"\b17952266(\d\d)\b", lambda at: f"{START + int(at[1]) - 63:.0f}", record)
    (tmp_path / "atop" / "mq1.txt").write_text(shifted)
    cpu = tables.read(tmp_path)["cpu"]
    elsewhere = cpu[cpu["host"] == "Master"]
    assert set(elsewhere["process"]) == {"Master", "host Master"}
    assert elsewhere.loc[elsewhere["scope"] == "interval", "start_s"].tolist() == [0, 0, 1, 1]
    total = elsewhere.query("process == 'Master' and scope == 'window'")["total_cores"]
    assert total.tolist() == [pytest.approx((0.02 + 0.01) / 2)]


def test_a_damaged_record_of_atop_hides_no_run(root: Path, tmp_path: Path) -> None:
    """The node's CPU is unknown in every run, and a doubt; everything else is unchanged."""
    CALL.write(tmp_path)
    before = tables.read(tmp_path)
    (tmp_path / "atop").mkdir()
    record = (root / "data/samples/atop/atop-2.8.1.txt").read_text()
    (tmp_path / "atop" / "mq1.txt").write_text(record.replace("CPU ", "cpu "))
    os.mkfifo(tmp_path / "atop" / "mq2.txt")
    after = tables.read(tmp_path)
    for name in before.keys() - {"events"}:
        pd.testing.assert_frame_equal(before[name], after[name])
    doubts = checks.doubts(after).query("kind == 'unread-record'")
    assert len(doubts) == 2
    assert (
        doubts["text"]
        .iloc[0]
        .startswith("CPU of mq1 is unknown, as its record cannot be read: atop/mq1.txt: ")
    )
    assert "a named pipe" in doubts["text"].iloc[1]


def test_intervals_add_up_to_the_throughput(call: dict[str, pd.DataFrame]) -> None:
    """Each second of the window is a row per stream."""
    rows = call["intervals"]
    replies = rows[(rows["stream"] == "round-trip") & rows["start_s"].between(0, 1)]
    assert list(replies["count"]) == [3, 2]
    assert replies["latency_mean_s"].tolist() == pytest.approx([0.25, 0.25])


def test_one_way_traffic_counts_at_the_server(tmp_path: Path) -> None:
    """CAST has the throughput of servers, the send rate beside it, and losses after the drain."""
    sent = [(t,) for t in (1.0, 1.5, 2.0, 2.5)]
    Known("rpc-cast", [{"sent": sent}], [[(1.0, 1.5), (1.5, 3.5), (2.0, 6.0)]]).write(tmp_path)
    frames = tables.read(tmp_path)
    row = only(frames["messages"])
    assert pd.isna(row["round_trip"])
    assert (row["received"], row["lost"]) == (3, 1)
    assert (row["throughput_msg_s"], row["send_rate_msg_s"]) == (0.5, 2.0)
    assert only(frames["latency"])["stream"] == "one-way"
    assert only(frames["runs"])["drain_s"] == pytest.approx(2.0)


def test_two_processes_are_one_run(tmp_path: Path) -> None:
    """Counts and rates are summed over the pairs."""
    two = Known(clients=CALL.clients * 2, servers=CALL.servers * 2)
    two.write(tmp_path)
    row = only(tables.read(tmp_path)["messages"])
    assert (row["sent"], row["throughput_msg_s"]) == (18, 5.0)


def test_nothing_in_the_window_is_no_latency(tmp_path: Path) -> None:
    """Without messages the throughput is zero and there is no latency."""
    Known("notify", [{"sent": [(0.1,)]}], [[(0.1, 0.2)]]).write(tmp_path)
    frames = tables.read(tmp_path)
    assert only(frames["messages"])["throughput_msg_s"] == 0
    assert pd.isna(only(frames["latency"])["latency_mean_s"])


def test_a_failed_attempt_is_a_row(tmp_path: Path) -> None:
    """The table of runs has its status and reason, and no figures."""
    Attempt(tmp_path, CALL.case).fail("the broker died")
    frames = tables.read(tmp_path)
    row = only(frames["runs"])
    assert (row["status"], row["failure"]) == ("failed", "the broker died")
    assert frames["messages"].empty


def test_a_changed_file_of_the_record_is_told(tmp_path: Path) -> None:
    """The table of runs names it; a sound record has no name there."""
    run = CALL.write(tmp_path)
    assert pd.isna(only(tables.read(tmp_path)["runs"])["damaged"])
    events = run.path / "events.jsonl"
    events.write_text(events.read_text().replace('"host": "local"', '"host": "other"', 1))
    assert only(tables.read(tmp_path)["runs"])["damaged"] == "events.jsonl"


def test_a_run_says_how_and_on_what_it_was_measured(tmp_path: Path) -> None:
    """Order, seed and kernel come from the record; missing values stay empty."""
    attempt = Attempt(tmp_path, CALL.case)
    attempt.facts |= {
        "order": {"kind": "random", "seed": 0},
        "parameters": {"targets": "own", "payload_bytes": None, "pause_s": 0.5},
        "hosts": [{"clock_source": "tsc", "tcp_congestion_control": "bbr", "somaxconn": 4096}],
    }
    attempt.fail("the broker died")
    row = only(tables.read(tmp_path)["runs"])
    names = ("order", "seed", "clock_source", "tcp_congestion_control", "somaxconn")
    assert [row[name] for name in names] == ["random", 0, "tsc", "bbr", 4096]
    assert (row["cooldown_s"], row["timeout_s"], row["targets"]) == (1, 10, "own")
    assert row["pause_s"] == 0.5
    assert "payload_bytes" not in row
    assert pd.isna(row["cpu_governor"])


def test_tables_survive_being_files(call: dict[str, pd.DataFrame], tmp_path: Path) -> None:
    """Tables written as CSV or Parquet are read back unchanged."""
    for form in ("csv", "parquet"):
        for file in tables.write(call, tmp_path / form, form):
            frame = pd.read_parquet(file) if form == "parquet" else pd.read_csv(file)
            again = tables.conform(file.stem, frame)
            pd.testing.assert_frame_equal(again, call[file.stem])


def test_a_cut_record_is_refused(tmp_path: Path) -> None:
    """The error names a .messages file that is shorter than its header says."""
    run = CALL.write(tmp_path)
    file = run.path / "load" / "client-1.messages"
    file.write_bytes(file.read_bytes()[:-4])
    with pytest.raises(TableError, match=r"none of 1 runs can be read: .*client-1\.messages"):
        tables.read(tmp_path)


def test_an_empty_folder_is_named(tmp_path: Path) -> None:
    """The error is one sentence with the command that fills the folder."""
    with pytest.raises(TableError, match="holds no runs; measure with: mqperf run"):
        tables.read(tmp_path)
    with pytest.raises(TableError, match="no such folder"):
        tables.read(tmp_path / "nowhere")


def test_a_wrong_value_is_refused() -> None:
    """The register's checks apply to every table, whatever its source."""
    with pytest.raises(TableError, match="sent must be not negative, got -1"):
        tables.conform("messages", pd.DataFrame({"sent": [-1]}))
    with pytest.raises(TableError, match="unknown column 'sended'"):
        tables.conform("messages", pd.DataFrame({"sended": [1]}))


CAST = Known("rpc-cast", [{"sent": [(t / 10,) for t in range(10, 30)]}], [])


def counted(folder: Path, received: Instants) -> pd.Series:
    """The row of ``messages`` if servers received these of the twenty messages of CAST."""
    Known("rpc-cast", CAST.clients, [received]).write(folder)
    return only(tables.read(folder)["messages"])


def test_lost_and_doubled_messages_do_not_cancel_out(tmp_path: Path) -> None:
    """Five are lost and five duplicated: the totals agree, the instants do not."""
    once = [(t / 10, t / 10 + 0.01) for t in range(10, 25)]
    row = counted(tmp_path, [*once, *once[:5]])
    assert (row["sent"], row["received"]) == (20, 20)
    assert (row["lost"], row["duplicates"], row["foreign"]) == (5, 5, 0)


def test_messages_of_another_run_are_foreign(tmp_path: Path) -> None:
    """Their number is right, but none of them was sent in this run."""
    row = counted(tmp_path, [(t / 10 + 0.05, t / 10 + 0.06) for t in range(10, 30)])
    assert (row["lost"], row["duplicates"], row["foreign"]) == (20, 0, 20)


def test_a_message_received_before_it_was_sent_is_counted(tmp_path: Path) -> None:
    """A single negative latency is detected."""
    received = [(t / 10, t / 10 + 0.01) for t in range(10, 30)]
    row = counted(tmp_path, [(1.0, 0.99), *received[1:]])
    assert row["causality_violations"] == 1


def test_a_reply_before_the_request_arrived_is_counted(tmp_path: Path) -> None:
    """Each latency may be positive and the order still impossible."""
    calls = [(1.0, 1.5), (2.0, 2.5)]
    client: Mapping[str, Instants] = {"sent": [(1.0,), (2.0,)], "round_trip": calls}
    Known("rpc-call", [client], [[(1.0, 1.2), (2.0, 2.6)]]).write(tmp_path)
    assert only(tables.read(tmp_path)["messages"])["causality_violations"] == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"count": 19}, "server: 19 in the simulator's summary, 20 in its series"),
        ({"duration": 9.0}, "server: duration 9.0 in the simulator's summary"),
        ({"latency": 0.5}, "server: latency 0.5 in the simulator's summary"),
    ],
)
def test_the_simulators_counts_are_compared(
    tmp_path: Path, change: dict[str, float], words: str
) -> None:
    """A difference between summary, series and recorded messages is reported."""
    received = [(t / 10, t / 10 + 0.01) for t in range(10, 30)]
    run = Known("rpc-cast", CAST.clients, [received]).write(tmp_path)
    assert pd.isna(only(tables.read(tmp_path)["messages"])["disagreements"])
    file = run.path / "load/server-1.json"
    output = json.loads(file.read_text())
    output["summary"] |= change
    file.write_text(json.dumps(output))
    assert words in only(tables.read(tmp_path)["messages"])["disagreements"]


def test_a_message_moved_by_a_microsecond_disagrees(tmp_path: Path) -> None:
    """The simulator's mean latency is compared with the messages to the last digit."""
    received = [(t / 10, t / 10 + 0.01) for t in range(10, 30)]
    run = Known("rpc-cast", CAST.clients, [received]).write(tmp_path)
    file = run.path / "load/server-1.messages"
    content = bytearray(file.read_bytes())
    content[-8:] = array("d", [START + 2.910001]).tobytes()
    file.write_bytes(content)
    text = only(tables.read(tmp_path)["messages"])["disagreements"]
    assert text.startswith("server-1: server: latency 0.0")


def test_run_json_is_under_seal(tmp_path: Path) -> None:
    """It has a checksum of its own; older runs without one are accepted."""
    run = CALL.write(tmp_path)
    assert pd.isna(only(tables.read(tmp_path)["runs"])["damaged"])
    file = run.path / "run.json"
    facts = json.loads(file.read_text())
    facts["hosts"][0]["cores"] = 8
    file.write_text(json.dumps(facts))
    assert only(tables.read(tmp_path)["runs"])["damaged"] == "run.json"
    del facts["seal"]
    file.write_text(json.dumps(facts))
    assert pd.isna(only(tables.read(tmp_path)["runs"])["damaged"])


def test_a_file_that_was_never_recorded_is_told(tmp_path: Path) -> None:
    """It could otherwise pass as part of the record."""
    run = CALL.write(tmp_path)
    (run.path / "broker/node9.log").write_text("memory resource limit alarm set on node 9\n")
    assert only(tables.read(tmp_path)["runs"])["damaged"] == "broker/node9.log"
