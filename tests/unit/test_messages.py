"""The exact record of messages: what the shim writes is what the reader returns."""

import json
from pathlib import Path

import numpy as np
import pytest

from mqperf.base.errors import LoadError
from mqperf.onhost.load.simulator import __main__ as shim
from mqperf.onhost.load.simulator.recorder import Recorder
from mqperf.record.messages import Header, read_header, read_messages

HEADER = {
    "format": "mqperf-messages",
    "version": 1,
    "label": "client-1",
    "kind": "client",
    "test_case": "rpc-call",
}


def message(started: float, received: float = 0.0, returned: float = 0.0) -> tuple[object, ...]:
    """A message as the simulator makes it: seq, cargo, client_ts, server_ts, return_ts."""
    return (0, "abc", started, received, returned)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A client's record of three calls, the last of which failed."""
    recorder = Recorder(HEADER | {"start": 10.0}, ["sent", "round_trip", "error"])
    for started in (10.0, 10.5, 11.0):
        recorder.push("client-0", [])(message(started))
    for started in (10.0, 10.5):
        recorder.push("round-trip-0", [])(message(started, started + 0.1, started + 0.25))
    recorder.push("error-0", [])(message(11.0))
    path = tmp_path / "client-1.messages"
    recorder.save(path)
    return path


def test_every_message_comes_back_with_its_instants(written: Path) -> None:
    """Streams are arrays with a row per message and a column per timestamp."""
    streams = read_messages(written)
    assert streams["sent"].tolist() == [[10.0], [10.5], [11.0]]
    assert streams["round_trip"].tolist() == [[10.0, 10.25], [10.5, 10.75]]
    [[started, finished]] = streams["error"]
    assert started == 11.0
    assert finished > started


def test_the_header_says_what_the_file_is(written: Path) -> None:
    """Label, kind, test case and start are in the file with the data."""
    header = read_header(written)
    assert (header.label, header.kind, header.test_case) == ("client-1", "client", "rpc-call")
    assert header.start == 10.0
    assert [(stream.name, stream.count) for stream in header.streams] == [
        ("sent", 3),
        ("round_trip", 2),
        ("error", 1),
    ]


def test_what_the_shim_says_of_a_file_is_read(tmp_path: Path) -> None:
    """All keys of its header are read; keys of older runs are accepted."""
    options = ["--simulator", "s.py", "--label", "client-1", "--kind", "client", "--seed", "7"]
    options += ["--test-case", "rpc-call", "--control", ".", "--messages", "m", "--payload", "10"]
    parsed, _ = shim._parse([*options, "--"])
    header = shim._header(parsed) | {"start": 10.0}
    path = tmp_path / "client-1.messages"
    Recorder(header, ["sent"]).save(path)
    written = json.loads(path.read_bytes().splitlines()[0])
    assert {*written, "size"} == {*Header.model_fields}
    Recorder(header | {"seed": 7, "payload_bytes": 10}, ["sent"]).save(path)
    assert read_header(path).label == "client-1"


def test_a_server_records_when_it_received(tmp_path: Path) -> None:
    """The client's timestamp and the server's are recorded."""
    recorder = Recorder(HEADER | {"kind": "server"}, ["received"])
    recorder.push("server", [])(message(10.0, 10.125))
    recorder.save(tmp_path / "s.messages")
    assert recorder.received == 1
    assert read_messages(tmp_path / "s.messages")["received"].tolist() == [[10.0, 10.125]]


def test_parts_of_a_latency_are_recorded_with_it(tmp_path: Path) -> None:
    """Due at 10, sent at 10.25, received at 10.5, answered at 11."""
    due = (10.25, "abc", 10.0, 10.5, 11.0)
    client = Recorder(HEADER, ["sent", "round_trip", "error", "service", "handover"])
    server = Recorder(HEADER | {"kind": "server"}, ["received", "service"])
    client.push("client-0", [])(due)
    client.push("round-trip-0", [])(due)
    server.push("server", [])(due)
    recorded: dict[str, list[list[float]]] = {}
    for name, recorder in (("client", client), ("server", server)):
        recorder.save(tmp_path / name)
        streams = read_messages(tmp_path / name)
        recorded |= {f"{name} {key}": rows.tolist() for key, rows in streams.items() if len(rows)}
    assert recorded == {
        "client sent": [[10.0]],
        "client handover": [[10.0, 10.25]],
        "client round_trip": [[10.0, 11.0]],
        "client service": [[10.25, 11.0]],
        "server received": [[10.0, 10.5]],
        "server service": [[10.25, 10.5]],
    }


def test_the_simulator_keeps_its_own_statistics() -> None:
    """The message still goes to the simulator's own buffer."""
    buffer: list[object] = []
    recorder = Recorder(HEADER, ["sent"])
    recorder.push("client-0", buffer)(message(10.0))
    assert buffer == [message(10.0)]
    assert recorder.unreported


def test_a_run_without_messages_is_data(tmp_path: Path) -> None:
    """Without messages the streams are empty arrays of the right shape."""
    Recorder(HEADER, ["sent", "round_trip", "error"]).save(tmp_path / "c.messages")
    shapes = {name: rows.shape for name, rows in read_messages(tmp_path / "c.messages").items()}
    assert shapes == {"sent": (0, 1), "round_trip": (0, 2), "error": (0, 2)}


def test_many_messages_come_back_as_they_were(tmp_path: Path) -> None:
    """Timestamps are not rounded, as they identify a message."""
    starts = np.random.default_rng(1).uniform(1.7e9, 1.8e9, 10_000)
    recorder = Recorder(HEADER, ["sent"])
    push = recorder.push("client-0", [])
    for start in starts.tolist():
        push(message(start))
    recorder.save(tmp_path / "c.messages")
    assert np.array_equal(read_messages(tmp_path / "c.messages")["sent"][:, 0], starts)


@pytest.mark.parametrize("change", [-1, -8, 1])
def test_a_file_of_the_wrong_length_is_refused(written: Path, change: int) -> None:
    """A truncated or extended record is never read."""
    content = written.read_bytes()
    written.write_bytes(content[:change] if change < 0 else content + b"\0")
    with pytest.raises(LoadError, match=r"client-1\.messages has \d+ bytes where its header"):
        read_messages(written)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not JSON\n",
        b"[]\n",
        b'{"format": "mqperf-messages"}\n',
        b'{"format": "mqperf-messages", "version": 2}\n',
        b'{"format": "other", "version": 1}\n',
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, content: bytes) -> None:
    """The error names the file and the expected format."""
    path = tmp_path / "client-1.messages"
    path.write_bytes(content)
    with pytest.raises(LoadError, match=r"client-1\.messages is no mqperf-messages file"):
        read_messages(path)


def test_a_missing_file_is_a_dead_process(tmp_path: Path) -> None:
    """The error says that the process died."""
    with pytest.raises(LoadError, match=r"client-1\.messages is missing: its process died"):
        read_messages(tmp_path / "client-1.messages")
