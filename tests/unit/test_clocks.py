"""Hosts whose clocks differ: recorded runs with the clock of one host shifted in all files."""

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from counted import convert, seal
from samples import doubted

from mqperf.base.errors import TableError
from mqperf.pages.report import hosts as hosts_section
from mqperf.pages.report.words import unsure
from mqperf.record import Facts, as_whole, runs
from mqperf.record.messages import read_all
from mqperf.record.streams.stream import Instants
from mqperf.study.probes import broker_log
from mqperf.study.stats.doubt_kinds import CHECKS
from mqperf.study.tables import Tables, clocks

pytestmark = pytest.mark.takes_long

SAMPLES = Path(__file__).parent.parent.parent / "data/samples/runs"
HOSTS = SAMPLES.with_name("hosts")
CALL = "rabbitmq-cmsm-classic-rpc-call-t0005-p1-r1-367280fe"
CAST = "rabbitmq-cs1ss2-classic-rpc-cast-t0005-p1-r1-33683205"

BOUND_S = 5e-5
PLACES = {"client-1": "h1", "server-1": "h2"}

Offsets = dict[str, tuple[float, float]]


def moved(file: Path, ahead: Callable[[str, int], float], start: float | None) -> None:
    """Shift the instants of a ``.messages`` file, by stream and column."""
    header, streams = read_all(file)
    first_line = json.loads(file.read_bytes().split(b"\n", 1)[0])
    if start is not None:
        first_line["start"] = start
    values = [
        streams[stream.name][:, place] + ahead(stream.name, place)
        for stream in header.streams
        for place in range(len(stream.columns))
    ]
    line = json.dumps(first_line).encode() + b"\n"
    file.write_bytes(line + np.concatenate(values).astype("<f8").tobytes())


def two_hosts(folder: Path, name: str, offsets: Offsets, bound_s: float = BOUND_S) -> Path:
    """A copy of a recorded run, its client on h1 and its server on h2, with clocks so far ahead.

    The offsets are those before and after the load; files are shifted by the mean of both.
    """
    run = folder / name
    shutil.copytree(SAMPLES / name, run)
    middle_s = {host: sum(pair) / 2 for host, pair in offsets.items()}
    facts: dict[str, Any] = json.loads((run / "run.json").read_text())
    begin = facts["window"]["start"] - facts["case"]["warmup_s"]
    for label, host in PLACES.items():
        start = begin + offsets[host][0]
        client = middle_s["h1"]

        def ahead(stream: str, place: int, host: str = host, client: float = client) -> float:
            return client if (stream, place) == ("received", 0) else middle_s[host]

        moved(run / f"load/{label}.messages", ahead, start if host == "h1" else None)
    simulated(run / "load/server-1.json", middle_s["h2"] - middle_s["h1"])
    for process in facts["processes"]:
        process["host"] = PLACES[process["label"]]
    host = facts["hosts"][0]
    facts["hosts"] = [
        {**host, "label": "h1", "roles": ["client"], "machine": "a"},
        {**host, "label": "h2", "roles": ["broker", "server"], "machine": "b"},
    ]
    del facts["clock_offsets_s"]
    facts["clocks"] = {
        name: {
            "before": {"offset_s": before, "bound_s": bound_s},
            "after": {"offset_s": after, "bound_s": bound_s},
        }
        for name, (before, after) in offsets.items()
    }
    for number, node in enumerate(facts["system"]["nodes"], 1):
        node |= {"host": "h2", "log": f"node{number}.log"}
    (run / "run.json").write_text(json.dumps(facts))
    logs(run, middle_s["h2"])
    probes(run, middle_s)
    seal(run)
    return run


def simulated(file: Path, late_s: float) -> None:
    """Raise the latencies in the simulator's own output."""
    output = json.loads(file.read_text())
    for part in (output["summary"], *output["series"]["server"]):
        for name in ("latency", "min_latency", "max_latency"):
            if name in part:
                part[name] += late_s
    file.write_text(json.dumps(output))


def logs(run: Path, ahead_s: float) -> None:
    """Shift the timestamps in the logs of brokers."""

    def later(stamp: re.Match[str]) -> str:
        then = datetime.fromisoformat(stamp[0]) + timedelta(seconds=ahead_s)
        return then.isoformat(" ", "microseconds")

    for log in (run / broker_log.FOLDER).glob("*.log"):
        log.write_text(broker_log.STAMP.sub(later, log.read_text()))


def probes(run: Path, middle_s: dict[str, float]) -> None:
    """Split the samples by host, each with its own clock and processes."""
    lines = (run / "probes/local/psutil.jsonl").read_text().splitlines()
    for host, ahead_s in middle_s.items():
        log = run / f"probes/{host}/psutil.jsonl"
        log.parent.mkdir()
        for line in lines:
            sample = json.loads(line)
            sample["epoch"] += ahead_s
            sample["processes"] = {
                label: reading
                for label, reading in sample["processes"].items()
                if (PLACES.get(label, "h2")) == host
            }
            with log.open("a") as out:
                out.write(json.dumps(sample) + "\n")
    shutil.rmtree(run / "probes/local")


def kinds(frames: Tables) -> set[str]:
    return set(frames["doubts"]["kind"])


def cores(frames: Tables) -> list[float]:
    """The cores that every process used over the window."""
    return list(frames["cpu"].loc[frames["cpu"]["scope"] == "window", "total_cores"])


SAME: Offsets = {"h1": (0.0, 0.0), "h2": (0.0, 0.0)}
APART: Offsets = {"h1": (0.0, 0.0), "h2": (0.5, 0.5)}


@pytest.fixture(scope="module")
def in_time(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Tables]:
    """The tables of both runs with equal clocks, by the names of the runs."""
    frames: dict[str, Tables] = {}
    for name in (CALL, CAST):
        folder = tmp_path_factory.mktemp("same")
        two_hosts(folder, name, SAME)
        frames[name] = doubted(folder)
    return frames


@pytest.mark.parametrize("name", [CALL, CAST])
@pytest.mark.parametrize("host", ["h1", "h2"])
@pytest.mark.parametrize("ahead_s", [0.5, -0.5])
def test_an_offset_is_corrected(
    tmp_path: Path, in_time: dict[str, Tables], name: str, host: str, ahead_s: float
) -> None:
    """An offset of half a second is recorded, moves no figure, and raises no doubt."""
    two_hosts(tmp_path, name, {**SAME, host: (ahead_s, ahead_s)})
    same, shifted = in_time[name], doubted(tmp_path)
    assert list(shifted["runs"]["status"]) == ["done"]
    assert shifted["runs"]["clock_offset_s"].item() == 0.5
    for column in ("latency_mean_s", "latency_p50_s", "latency_p99_s", "latency_max_s"):
        assert abs(shifted["latency"][column].item() - same["latency"][column].item()) < 1e-5
    counts = ["sent", "received", "lost", "duplicates", "foreign", "causality_violations"]
    assert shifted["messages"][counts].equals(same["messages"][counts])
    assert shifted["messages"]["disagreements"].isna().all()
    assert cores(shifted) == pytest.approx(cores(same))
    assert kinds(shifted) == kinds(same)
    assert not {"clock-offset", "clock-drift", "causality"} & kinds(shifted)


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    """The CAST run with equal clocks, recorded as counts."""
    folder = tmp_path_factory.mktemp("counted")
    convert(two_hosts(folder, CAST, SAME))
    return doubted(folder)


@pytest.mark.parametrize("sender", ["client-1", "client-1@2"])
@pytest.mark.parametrize("ahead_s", [1.0, 2.0, -1.0, -2.0])
def test_counts_are_corrected(tmp_path: Path, counted: Tables, ahead_s: float, sender: str) -> None:
    """Counts move by whole seconds, latencies are correct to the three digits of histograms.

    A client that counts per queue has the queue in the names of its senders.  Where the server's
    clock is behind, all its latencies are below zero, and no percentile is known.
    """
    shifted = two_hosts(tmp_path, CAST, {**SAME, "h2": (ahead_s, ahead_s)})
    convert(shifted)
    for file in (shifted / "load").glob("*.counts"):
        text = file.read_text()
        file.write_text(text.replace('"sender": "client-1"', f'"sender": "{sender}"'))
    seal(shifted)
    left, right = counted, doubted(tmp_path)
    assert list(right["runs"]["status"]) == ["done"]
    for column in ("latency_mean_s", "latency_max_s"):
        assert abs(right["latency"][column].item() - left["latency"][column].item()) < 1e-3
    median = left["latency"]["latency_p50_s"].item() if ahead_s > 0 else np.nan
    assert right["latency"]["latency_p50_s"].item() == pytest.approx(median, abs=1e-3, nan_ok=True)
    assert kinds(right) == kinds(left)


@pytest.mark.parametrize("stream", ["dead_lettered", "urgent", "usual"])
def test_parts_of_received_messages_are_corrected_as_the_whole(tmp_path: Path, stream: str) -> None:
    """The parts are messages by priority, and dead letters."""
    shifted = two_hosts(tmp_path, CAST, {**SAME, "h2": (1.0, 1.0)})
    convert(shifted)
    file = shifted / "load/server-1.counts"
    header, *lines = file.read_text().splitlines()
    known = json.loads(header)
    known["streams"].append({**known["streams"][0], "name": stream})
    known |= {name: 2 * known[name] for name in ("seconds", "numbers")}
    more = [line.replace('"stream": "received"', f'"stream": "{stream}"') for line in lines]
    seconds_first = sorted([*lines, *more], key=lambda line: '"sender"' in line)
    file.write_text("\n".join([json.dumps(known), *seconds_first, ""]))
    seal(shifted)
    intervals = doubted(tmp_path)["intervals"].query("process == 'server-1'")
    figures = ["count", "latency_mean_s", "latency_max_s"]
    whole, part = (
        intervals[intervals["stream"].eq(name)][figures].to_numpy(dtype=float)
        for name in ("received", stream.replace("_", "-"))
    )
    assert len(whole) > 1
    np.testing.assert_array_equal(part, whole)


@pytest.mark.parametrize("ahead_s", [7.0, -90.0])
def test_a_broker_logs_by_the_clock_of_its_host(tmp_path: Path, ahead_s: float) -> None:
    """Its log ends in the run, and its alarm stays in place, however far its clock is ahead."""
    alarms = []
    for own_s in (0.0, ahead_s):
        run = two_hosts(tmp_path / str(own_s), CAST, {"h1": (0.0, 0.0), "h2": (own_s, own_s)})
        log = run / broker_log.FOLDER / "node1.log"
        first, others = log.read_text().split("\n", 1)
        log.write_text(f"{first} disk resource limit alarm set on node mqperf1\n{others}")
        seal(run)
        frames = doubted(run.parent)
        assert frames["messages"]["disagreements"].isna().all()
        assert "record-disagrees" not in kinds(frames)
        alarms.append(frames["events"].query("what == 'alarm'").iloc[0])
    assert alarms[1]["time_s"] == pytest.approx(alarms[0]["time_s"], abs=1e-5)
    assert alarms[1]["host"] == "h2"


def test_a_log_of_another_run_is_found_by_any_clock(tmp_path: Path) -> None:
    """A log that does not follow the clock of its host contradicts the run."""
    run = two_hosts(tmp_path, CAST, {"h1": (0.0, 0.0), "h2": (7.0, 7.0)})
    logs(run, 7.0)
    seal(run)
    (disagreement,) = doubted(tmp_path)["messages"]["disagreements"]
    assert "broker/node1.log: ends" in disagreement


def test_only_one_way_latencies_are_uncertain(tmp_path: Path) -> None:
    """Their uncertainty is the sum of both clocks' bounds, and half of their drift."""
    two_hosts(tmp_path, CALL, SAME)
    two_hosts(tmp_path, CAST, {"h1": (0.0, 0.0002), "h2": (0.5, 0.5)})
    uncertain_s = doubted(tmp_path)["latency"].set_index("run")["latency_uncertainty_s"]
    assert uncertain_s[CALL] == 0
    assert uncertain_s[CAST] == pytest.approx(2 * BOUND_S + 0.0001)


FIRST, SECOND, SERVER = 3.0, -2.0, 0.5
"""How far the clocks of two client hosts, and of a server's, are ahead."""


@pytest.mark.parametrize(
    "targets", [{"server-1": [1], "server-2": [2]}, {"server-1": [1, 2], "server-2": [1, 2]}]
)
def test_clients_of_several_hosts_are_corrected_each(targets: dict[str, list[int]]) -> None:
    """Each message that a server received is corrected by the clock of its own client.

    So is the instant at which it was sent.
    """
    ahead = {"client-1": FIRST, "client-2": SECOND, "server-1": SERVER, "server-2": SERVER}
    places = {"client-1": "h1", "client-2": "h2", "server-1": "h3", "server-2": "h3"}
    random = np.random.default_rng(1)
    clients = {f"client-{number}": 1000 + 10 * random.random(500) for number in (1, 2)}
    true: dict[str, dict[str, np.ndarray]] = {}
    recorded: dict[str, dict[str, Instants]] = {}
    for label, starts in clients.items():
        true[label] = {"sent": np.column_stack([starts, starts + 1e-4])}
        recorded[label] = {"sent": Instants(true[label]["sent"] + ahead[label])}
    for label, senders in targets.items():
        got, by_us = [], []
        for sender in senders:
            client = f"client-{sender}"
            instants = clients[client][int(label[-1]) % len(senders) :: len(senders)]
            got.append(np.column_stack([instants, instants + 0.01]))
            by_us.append(got[-1] + [ahead[client], SERVER])
        order = random.permutation(sum(map(len, got)))
        values, instants = (np.concatenate(parts)[order] for parts in (got, by_us))
        sent = np.array([0.001, 0.0])
        true[label] = {"received": values, "service": values + sent}
        recorded[label] = {"received": Instants(instants), "service": Instants(instants + sent)}
    facts = Facts.model_validate(
        {
            "processes": [
                {"label": label, "kind": label[:6], "host": host, "reported": True}
                for label, host in places.items()
            ],
            "clocks": {
                places[label]: {"before": {"offset_s": offset_s, "bound_s": BOUND_S}}
                for label, offset_s in ahead.items()
            },
        }
    )
    sample = next(run for run in runs(SAMPLES) if run.id == CAST)
    run = replace(as_whole(sample, sample.facts()), facts=facts)
    corrected, uncertain_s = clocks.instants(run, recorded)
    for label, streams in true.items():
        for name, values in streams.items():
            stream = corrected[label][name]
            assert isinstance(stream, Instants)
            assert np.abs(stream.values - values).max() < 1e-6
    assert uncertain_s == pytest.approx(2 * BOUND_S)


def test_a_drift_spoils_no_throughput(tmp_path: Path) -> None:
    """A clock that was set by too little to fail a run moves the window's ends by no more."""
    two_hosts(tmp_path / "same", CAST, SAME)
    two_hosts(tmp_path / "set", CAST, {"h1": (0.0, 0.0), "h2": (0.0, 0.09)})
    same, moved_by = doubted(tmp_path / "same"), doubted(tmp_path / "set")
    assert "clock-drift" in kinds(moved_by)
    assert not CHECKS["clock-drift"].spoils
    figure, window_s = "throughput_msg_s", same["runs"]["window_s"].item()
    rates = [frames["messages"][figure].item() for frames in (same, moved_by)]
    assert rates[1] == pytest.approx(rates[0], rel=0.1 / window_s)


def test_a_drift_is_a_doubt(tmp_path: Path) -> None:
    """The doubt names the host whose clock changed more than clocks do."""
    two_hosts(tmp_path, CAST, {"h1": (0.0, 0.0), "h2": (0.0, 0.05)})
    texts = doubted(tmp_path)["doubts"].set_index("kind")["text"]
    assert "host h2 went ahead by 50 ms" in texts["clock-drift"]
    assert "clock-offset" in texts


def test_a_wrong_bound_is_a_doubt(tmp_path: Path) -> None:
    """A bound above a tenth of the latency hides it; one that is too small shows a drift."""
    two_hosts(tmp_path / "large", CAST, SAME, bound_s=0.01)
    large = doubted(tmp_path / "large")["doubts"].set_index("kind")["text"]
    assert "has an error bound of ± 20.00 ms" in large["clock-offset"]
    two_hosts(tmp_path / "small", CAST, {"h1": (0.0, 0.0), "h2": (0.0, 0.03)}, bound_s=0.0)
    assert "clock-drift" in kinds(doubted(tmp_path / "small"))


def test_a_wrong_offset_is_found(tmp_path: Path) -> None:
    """Latencies below zero by more than the clocks may be wrong are no latencies."""
    run = two_hosts(tmp_path, CAST, APART)
    facts = json.loads((run / "run.json").read_text())
    for when in ("before", "after"):
        facts["clocks"]["h2"][when]["offset_s"] = 0.7
    (run / "run.json").write_text(json.dumps(facts))
    seal(run)
    assert {"clock-offset", "causality"} <= kinds(doubted(tmp_path))


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_clock_that_was_not_compared_is_no_record(tmp_path: Path, when: str) -> None:
    """A run on several hosts cannot be read without the offsets of their clocks."""
    run = two_hosts(tmp_path, CAST, SAME)
    facts = json.loads((run / "run.json").read_text())
    if when == "before":
        del facts["clocks"]["h2"]
    else:
        del facts["clocks"]["h2"]["after"]
    (run / "run.json").write_text(json.dumps(facts))
    seal(run)
    with pytest.raises(TableError, match=f"clock of host h2 was not compared {when} the load"):
        doubted(tmp_path)


def test_recorded_runs_have_one_clock() -> None:
    """Runs on one host have no uncertainty of clocks, and no page lists their host."""
    frames = doubted(SAMPLES)
    assert (frames["latency"]["latency_uncertainty_s"] == 0).all()
    assert not {"clock-offset", "clock-drift"} & kinds(frames)
    assert hosts_section.grid(frames) is None


def test_hosts_of_one_machine_have_one_clock() -> None:
    """Latencies between such hosts have no uncertainty of clocks."""
    frames = doubted(HOSTS)
    assert (frames["latency"]["latency_uncertainty_s"] == 0).all()
    assert not {"clock-offset", "clock-drift"} & kinds(frames)
    grid = hosts_section.grid(frames)
    assert grid is not None
    assert [row[0] for row in grid.rows] == ["h1", "h2", "h3", "h4", "h5"]


def test_hosts_with_different_clocks_are_not_one_machine(tmp_path: Path) -> None:
    """Copied machines have the same identifier, but their clocks differ."""
    run = two_hosts(tmp_path, CAST, APART)
    facts = json.loads((run / "run.json").read_text())
    for host in facts["hosts"]:
        host["machine"] = "a"
    (run / "run.json").write_text(json.dumps(facts))
    seal(run)
    [uncertain_s] = doubted(tmp_path)["latency"]["latency_uncertainty_s"]
    assert uncertain_s > 0


def test_hosts_of_several_machines_are_as_certain_as_their_clocks(tmp_path: Path) -> None:
    """One-way latencies are uncertain by some tenths of a millisecond at most, round trips not."""
    for run in runs(HOSTS):
        copy = shutil.copytree(run.path, tmp_path / run.path.name)
        facts = json.loads((copy / "run.json").read_text())
        for host in facts["hosts"]:
            host["machine"] = host["label"]
        (copy / "run.json").write_text(json.dumps(facts))
        seal(copy)
    frames = doubted(tmp_path)
    uncertain = frames["latency"].set_index("stream")["latency_uncertainty_s"]
    assert (uncertain["round-trip"] == 0).all()
    assert uncertain["one-way"].between(0, 0.001, inclusive="neither").all()
    assert {"clock-offset"} <= kinds(frames)
    means = [
        tables["latency"].set_index("stream")["latency_mean_s"]["one-way"]
        for tables in (frames, doubted(HOSTS))
    ]
    assert ((means[0] - means[1]).abs() <= uncertain["one-way"]).all()


def test_nodes_keep_their_order_whatever_their_hosts_are_called(tmp_path: Path) -> None:
    """Master comes first, on a host whose name sorts last."""
    run = next(runs(HOSTS)).path
    copy = shutil.copytree(run, tmp_path / run.name)
    (copy / "probes/h1").rename(copy / "probes/h9")
    for file in (copy / "run.json", copy / "probes/h9/psutil.jsonl"):
        file.write_text(re.sub(r"\bh1\b", "h9", file.read_text()))
    facts = json.loads((copy / "run.json").read_text())
    (copy / "run.json").write_text(json.dumps({**facts, "files": {}, "seal": None}))
    brokers = doubted(tmp_path)["cpu"].query("kind == 'broker' and scope == 'window'")
    assert [*brokers["process"]] == ["Master", "Slave 1", "Slave 2"]
    assert [*brokers["host"]] == ["h9", "h2", "h3"]


def test_a_page_names_every_host(tmp_path: Path) -> None:
    """A row has the roles, the clock before and after the load, and the CPU that was used."""
    two_hosts(tmp_path, CAST, APART)
    grid = hosts_section.grid(doubted(tmp_path))
    assert grid is not None
    (h1, h2) = (dict(zip(grid.headings, row, strict=True)) for row in grid.rows)
    assert (h1["host"], h1["roles"], h2["roles"]) == ("h1", "client", "broker, server")
    assert h2["clock before, ms"] == "+500.000 ± 0.050"
    assert float(h2["CPU used, %"]) > 0


@pytest.mark.parametrize(
    ("uncertainty_s", "text"),
    [(0.0, "12.3"), (0.0001, "12.3 ± 0.1"), (0.002, "12 ± 2"), (0.02, "10 ± 20")],
)
def test_digits_fit_the_uncertainty_of_clocks(uncertainty_s: float, text: str) -> None:
    """A latency is shown with ±, and with fewer digits above a tenth of the median."""
    assert unsure("latency_mean_s", 0.01234, uncertainty_s, 0.012) == text
