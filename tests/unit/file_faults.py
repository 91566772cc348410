"""Changes to files of recorded runs, sealed as if they had been recorded that way."""

import json
import shutil
from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mqperf.onhost.record.hdr import LENGTH, Histogram, indices, middle_s
from mqperf.onhost.record.hdr_code import encode
from mqperf.record import messages
from mqperf.record.facts import FIRST_PARAMETERS
from mqperf.record.instants import utc
from mqperf.record.seal import SEAL, checksums, digest
from mqperf.record.streams.hdr_log import decode_sparse

SAMPLES = Path(__file__).parent.parent.parent / "data/samples/runs"

CALL = "rabbitmq-cmsm-classic-rpc-call-t0005-p1-r1-367280fe"
CAST = "rabbitmq-cs1ss2-classic-rpc-cast-t0005-p1-r1-33683205"
NOTIFY = "rabbitmq-cs1ss2-mirrored-notify-t0001-p1-r1-248857b5"
OTHER = "rabbitmq-cmsm-classic-rpc-call-t0001-p1-r1-c6dbcb43"
SOUND = (CALL, CAST, NOTIFY, OTHER)
"""Recorded runs without doubts."""
STOPPED = "qpid-dispatch-line-routed-transfer-t0002-p1-r1-4ffa99dd"
"""A recorded run in which a node was stopped and started again."""

PROBE = "probes/local/psutil.jsonl"
CLIENT, SERVER = "load/client-1", "load/server-1"

SUMS = ("sum_s", "min_s", "max_s")
"""Keys of latencies in a line of counts besides the histogram."""

Json = Any
Fault = Callable[[Path], object]
Streams = MutableMapping[str, np.ndarray]


def all_of(*faults: Fault) -> Fault:
    """Several faults in order."""

    def fault(run: Path) -> None:
        for part in faults:
            part(run)

    return fault


def facts(change: Callable[[Json], object]) -> Fault:
    """A change of ``run.json``."""
    return whole("run.json", change)


def whole(name: str, change: Callable[[Json], object]) -> Fault:
    """A change of a file of JSON."""

    def fault(run: Path) -> None:
        content = json.loads((run / name).read_text())
        change(content)
        (run / name).write_text(json.dumps(content))

    return fault


def lines(name: str, change: Callable[[list[Json]], list[Json] | None]) -> Fault:
    """A change of a file of JSON lines, in place or by the list that ``change`` returns."""

    def fault(run: Path) -> None:
        objects = [json.loads(line) for line in (run / name).read_text().splitlines()]
        changed = change(objects)
        result = objects if changed is None else changed
        (run / name).write_text("".join(json.dumps(line) + "\n" for line in result))

    return fault


def latencies(name: str, stream: str, factor: float) -> Fault:
    """Multiply every latency of a stream in a record of counts by a factor."""

    def change(record: list[Json]) -> None:
        for line in record[1:]:
            if line["stream"] == stream and "second" in line:
                for part in (line.get("started", {}), line.get("finished", {})):
                    part.update({key: part[key] * factor for key in SUMS if key in part})
                if "started" in line:
                    index, count = decode_sparse(line["started"]["histogram"])
                    line["started"]["histogram"] = _moved(line["started"], index, count, factor)

    return lines(f"{name}.counts", change)


def _moved(part: Json, index: np.ndarray, count: np.ndarray, factor: float) -> str:
    """The histogram of the multiplied latencies, with its ends at the minimum and maximum."""
    middles = middle_s(index) * factor
    middles[0], middles[-1] = part["min_s"], part["max_s"]
    counts = np.zeros(LENGTH, dtype=np.int64)
    np.add.at(counts, indices(middles)[0], count)
    return encode(Histogram(counts))


def event(what: str, **values: Json) -> Fault:
    """Other values in the events of that name."""
    return lines(
        "events.jsonl", lambda events: [e | (values if e["what"] == what else {}) for e in events]
    )


def probe(change: Callable[[int, Json], object]) -> Fault:
    """A change of every line of the probe's log, given its number."""

    def each(log: list[Json]) -> None:
        for number, line in enumerate(log):
            change(number, line)

    return lines(PROBE, each)


def exact(name: str, change: Callable[[Streams], object], **header: Json) -> Fault:
    """Other instants of messages in a file, and other values in its header."""

    def fault(run: Path) -> None:
        file = run / f"{name}.messages"
        recorded, views = messages.read_all(file)
        streams = {stream: np.array(instants) for stream, instants in views.items()}
        change(streams)
        line = json.loads(file.read_bytes()[: recorded.size]) | header
        line["streams"] += [
            {"name": name, "columns": ["started", "finished"]}
            for name in streams
            if name not in views
        ]
        for stream in line["streams"]:
            stream["count"] = len(streams[stream["name"]])
        blocks = [streams[stream["name"]].T.astype("<f8").tobytes() for stream in line["streams"]]
        file.write_bytes(json.dumps(line).encode() + b"\n" + b"".join(blocks))

    return fault


def files_of(run_id: str, *names: str) -> Fault:
    """Files or folders of another run in place of the run's own."""

    def fault(run: Path) -> None:
        for name in names:
            if (run / name).is_dir():
                shutil.rmtree(run / name)
                shutil.copytree(SAMPLES / run_id / name, run / name)
            else:
                shutil.copy(SAMPLES / run_id / name, run / name)

    return fault


def rows(stream: str, change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Streams], None]:
    """Other rows in one stream of a file."""

    def fault(streams: Streams) -> None:
        streams[stream] = change(streams[stream])

    return fault


def moved(
    stream: str, column: int, seconds: float, first: int = 0, last: int | None = None
) -> Callable[[Streams], None]:
    """Instants of one column, from ``first`` to ``last``, moved by some seconds."""

    def change(instants: np.ndarray) -> np.ndarray:
        instants[first:last, column] += seconds
        return instants

    return rows(stream, change)


def all_moved(seconds: float) -> Callable[[Streams], None]:
    """Every instant of a file moved by some seconds."""

    def fault(streams: Streams) -> None:
        for name in streams:
            streams[name] = streams[name] + seconds

    return fault


def paced(late_s: float = 0.0002, share: float = 1.0) -> Fault:
    """Messages that were due at their recorded start, and handed over ``late_s`` later.

    The offered rate is the rate in the window times ``share``.
    """

    def handed(streams: Streams) -> None:
        due = streams["sent"][:, 0]
        streams["handover"] = np.column_stack([due, due + late_s])
        if "round_trip" in streams:
            served(streams, "round_trip")

    def served(streams: Streams, whole: str = "received") -> None:
        streams["service"] = streams[whole] + np.array([late_s, 0.0])

    def fault(run: Path) -> None:
        asked = json.loads((run / "run.json").read_text())
        begin, end = asked["window"]["start"], asked["window"]["end"]
        starts = messages.read_messages(run / f"{CLIENT}.messages")["sent"]
        rate = share * int(((starts >= begin) & (starts < end)).sum()) / (end - begin)
        facts(lambda recorded: recorded.update(schema=2, parameters={}))(run)
        facts(lambda recorded: [recorded["case"].pop(name, None) for name in FIRST_PARAMETERS])(run)
        case(parameters={"rate_msg_s": rate})(run)
        exact(CLIENT, handed)(run)
        if asked["case"]["test_case"] != "rpc-call":
            exact(SERVER, served)(run)

    return fault


def without_actions(run: Path) -> None:
    """Remove the events of actions."""
    lines("events.jsonl", lambda events: [e for e in events if "action" not in e])(run)


def later(seconds: int) -> Fault:
    """The actions of a run some seconds later, in its case and its events."""

    def change(recorded: Json) -> None:
        for entry in recorded["case"]["actions"]:
            entry["at_s"] += seconds

    def move(recorded: list[Json]) -> list[Json]:
        for entry in recorded:
            if "action" in entry:
                entry.update({k: entry[k] + seconds for k in ("epoch", "commanded", "observed")})
                entry["time"] = utc(entry["epoch"])
        return sorted(recorded, key=lambda entry: float(entry["epoch"]))

    return all_of(facts(change), lines("events.jsonl", move))


def renamed_action(action: str, node: str | None = None) -> Fault:
    """The actions of a run with another name, or on another node."""

    def change(recorded: Json) -> None:
        for entry in recorded["case"]["actions"]:
            entry.update(do=action, node=node or entry["node"])

    def rename(recorded: list[Json]) -> None:
        for entry in recorded:
            if "action" in entry:
                entry.update(action=action, node=node or entry["node"])

    return all_of(facts(change), lines("events.jsonl", rename))


def nothing(_streams: Streams) -> None:
    """Leave the instants unchanged."""


def window(seconds: int) -> Fault:
    """The window and the start of the load moved by some seconds."""

    def change(recorded: Json) -> None:
        for end in ("start", "end"):
            recorded["window"][end] += seconds
        started = pd.Timestamp(recorded["started"]) + pd.Timedelta(seconds=seconds)
        recorded["started"] = started.isoformat(timespec="milliseconds")

    return facts(change)


def client_start(seconds: int) -> Fault:
    """The start given to the client moved by some seconds."""

    def fault(run: Path) -> None:
        start = messages.read_header(run / f"{CLIENT}.messages").start
        assert start is not None
        exact(CLIENT, nothing, start=start + seconds)(run)

    return fault


def host(**values: Json) -> Fault:
    return facts(lambda recorded: recorded["hosts"][0].update(values))


def packets(**values: Json) -> Fault:
    """Other packet counts of the link."""
    return facts(lambda recorded: recorded["link"]["packets"].update(values))


def payload(payload_bytes: int) -> Callable[[Json], None]:
    """Another payload among the parameters."""
    return lambda recorded: recorded["parameters"].update(payload_bytes=payload_bytes)


def scaled_bytes(share: float, host: str, interface: str) -> Fault:
    """Scale the bytes of an interface, since the first reading, by this share."""

    def change(log: list[Json]) -> None:
        first = log[0]["network"]["bytes"][interface]
        for line in log:
            now = line["network"]["bytes"][interface]
            line["network"]["bytes"][interface] = [
                a + round((b - a) * share) for a, b in zip(first, now, strict=True)
            ]

    return lines(f"probes/{host}/psutil.jsonl", change)


def system(**values: Json) -> Fault:
    return facts(lambda recorded: recorded["system"].update(values))


def case(**values: Json) -> Fault:
    return facts(lambda recorded: recorded["case"].update(values))


def counted(stream: str, by: int, *, series: bool, summary: bool) -> Fault:
    """Change the simulator's count of a stream in its summary, its series, or both."""

    def change(output: Json) -> None:
        totals = output["summary"] if stream == "server" else output["summary"][stream]
        thread = "server" if stream == "server" else f"{stream}_0"
        point = next(point for point in output["series"][thread] if point["count"] > 1)
        point["count"] += by * series
        totals["count"] += by * summary

    return whole(f"{SERVER if stream == 'server' else CLIENT}.json", change)


def swapped(content: Json, first: Json, second: Json) -> None:
    content[first], content[second] = content[second], content[first]


def relabelled(recorded: Json) -> None:
    """Swap the labels of the first and the last node in run.json."""
    nodes = recorded["system"]["nodes"]
    nodes[0]["label"], nodes[2]["label"] = nodes[2]["label"], nodes[0]["label"]


def renamed(_number: int, line: Json) -> None:
    """Swap two labels in the probe's log, and leave the readings in place."""
    names = {"Master": "Slave 2", "Slave 2": "Master"}
    line["processes"] = {names.get(k, k): reading for k, reading in line["processes"].items()}


def busier(label: str, cores: float) -> Fault:
    """A process uses this many cores more."""

    def change(number: int, line: Json) -> None:
        line["processes"][label][1] += cores * number

    return probe(change)


def idle(label: str) -> Fault:
    """A process uses no CPU."""

    def change(_number: int, line: Json) -> None:
        line["processes"][label][1:3] = [0.0, 0.0]

    return probe(change)


def host_counter(cores: float) -> Fault:
    """The whole host uses this many cores more."""

    def change(number: int, line: Json) -> None:
        line["host"][1] += cores * number

    return probe(change)


def logged(text: str) -> Fault:
    def fault(run: Path) -> None:
        with (run / "broker/node1.log").open("a") as log:
            log.write(text + "\n")

    return fault


def set_clock(number: int, line: Json) -> None:
    line["epoch"] += 0.4 * (number > 2)


def unread(number: int, line: Json) -> None:
    if number > 2:
        line["processes"]["Master"] = None


def reset(number: int, line: Json) -> None:
    if number > 2:
        line["processes"]["Master"][1] = 0.01 * number


def exchanged(_number: int, line: Json) -> None:
    swapped(line["processes"], "Master", "Slave 2")


def one_way_loop(number: int, line: Json) -> None:
    line["network"]["bytes"]["lo"][0] += 1000 * number


def other_speed(number: int, line: Json) -> None:
    line["network"]["speeds"]["lo"] = 1000 + number


def error_added(streams: Streams) -> None:
    """The last reply becomes an error."""
    streams["error"] = streams["round_trip"][-1:]
    streams["round_trip"] = streams["round_trip"][:-1]


def lost_and_doubled(streams: Streams) -> None:
    received = streams["received"]
    received[-1] = received[-2]


def sealed(run: Path) -> None:
    """Renew the checksums and the seal, as if the run had been recorded that way."""

    def make_right(recorded: Json) -> None:
        recorded["files"] = checksums(run)
        recorded[SEAL] = digest(recorded)

    facts(make_right)(run)
