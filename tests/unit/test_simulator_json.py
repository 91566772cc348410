"""The simulator's own JSON, as release 18.3.1 wrote it against RabbitMQ 3.10.8."""

import json
from pathlib import Path

import pytest

from mqperf.base.errors import LoadError
from mqperf.record.outputs.simulator import (
    published_compatible,
    read_client,
    read_server,
)


@pytest.fixture
def samples(root: Path) -> Path:
    return root / "data" / "samples" / "simulator" / "rabbitmq-18.3.1"


def published(
    samples: Path, sample: str, test_case: str, processes: int = 1
) -> tuple[float, float | None]:
    clients = [read_client(samples / f"{sample}-client.json").summary] * processes
    servers = [read_server(samples / f"{sample}-server.json").summary] * processes
    return published_compatible(clients, servers, test_case)


def test_call_is_timed_by_its_round_trips(samples: Path) -> None:
    """For CALL, published throughput and latency are those of the replies."""
    throughput, latency_s = published(samples, "call", "rpc-call")
    assert throughput == pytest.approx(4804 / 6.03803825378418)
    assert latency_s == pytest.approx(0.010202567593243398)


@pytest.mark.parametrize(
    ("sample", "test_case", "expected"),
    [
        ("cast", "rpc-cast", (12129 / 6.064333438873291, 0.8974858982484981)),
        ("notify", "notify", (15223 / 6.03701639175415, 0.6852801897628685)),
    ],
)
def test_one_way_cases_are_timed_where_they_are_sent(
    samples: Path, sample: str, test_case: str, expected: tuple[float, float]
) -> None:
    """For CAST and NOTIFY they are the send rate and the server's latency."""
    assert published(samples, sample, test_case) == pytest.approx(expected)


def test_processes_are_summed_and_their_latencies_averaged(samples: Path) -> None:
    """Three equal processes have three times the throughput and the same latency."""
    single, triple = (published(samples, "call", "rpc-call", processes=n) for n in (1, 3))
    assert triple == pytest.approx((3 * single[0], single[1]))


def test_a_process_that_sent_nothing_adds_nothing(tmp_path: Path) -> None:
    """Without duration there is no throughput, and without latencies no mean."""
    empty = '{"count": 0, "size": 0, "duration": 0, "count_p_s": 0, "size_p_s": 0}'
    client = f'{{"client": {empty}, "error": {empty}, "round_trip": {empty}}}'
    (tmp_path / "c.json").write_text(f'{{"series": {{"client_0": []}}, "summary": {client}}}')
    (tmp_path / "s.json").write_text(f'{{"series": {{"server": []}}, "summary": {empty}}}')
    client_summary, server_summary = (
        read_client(tmp_path / "c.json").summary,
        read_server(tmp_path / "s.json").summary,
    )
    assert published_compatible([client_summary], [server_summary], "rpc-call") == (0.0, None)


@pytest.mark.parametrize("kept", [0, 1, 100, -1])
def test_a_summary_cut_short_is_refused(samples: Path, tmp_path: Path, kept: int) -> None:
    """The error names the truncated file."""
    path = tmp_path / "client-1.json"
    path.write_text((samples / "call-client.json").read_text()[:kept])
    with pytest.raises(LoadError, match=r"client-1\.json is empty or cut short"):
        read_client(path)


@pytest.mark.parametrize(
    "content", ["[]", "{}", "3", '{"series": {}, "summary": {}}', '{"series": {"server": []}}']
)
def test_json_of_another_kind_is_refused(tmp_path: Path, content: str) -> None:
    """Only JSON written by the simulator is read."""
    path = tmp_path / "client-1.json"
    path.write_text(content)
    with pytest.raises(LoadError, match=r"client-1\.json holds no series and summary"):
        read_client(path)


def test_a_missing_summary_is_a_dead_process(tmp_path: Path) -> None:
    """The error says what a missing file means."""
    with pytest.raises(LoadError, match=r"client-1\.json is missing"):
        read_client(tmp_path / "client-1.json")


@pytest.mark.parametrize(
    "change",
    [
        {"count": "4804"},
        {"count": -1},
        {"count": 4804.5},
        {"count": True},
        {"duration": float("nan")},
        {"duration": 1e300},
        {"latency": float("inf")},
        {"latency": [0.1]},
    ],
)
def test_numbers_of_another_kind_are_refused(
    samples: Path, tmp_path: Path, change: dict[str, object]
) -> None:
    """Each must be finite, in range and of its JSON type; the error has its place in the file."""
    output = json.loads((samples / "call-server.json").read_text())
    output["summary"] |= change
    path = tmp_path / "server-1.json"
    path.write_text(json.dumps(output))
    with pytest.raises(LoadError, match=rf"server-1\.json .*: summary\.{next(iter(change))}: "):
        read_server(path)


def test_a_servers_output_is_no_clients(samples: Path) -> None:
    """Swapped files are detected by their content."""
    with pytest.raises(LoadError, match=r"call-server\.json holds no .* summary\.client"):
        read_client(samples / "call-server.json")
    with pytest.raises(LoadError, match=r"call-client\.json holds no .* summary\.count"):
        read_server(samples / "call-client.json")
