"""The probe "inside": its program against HTTP servers, its log, and the tables from it."""

import json
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

import pandas as pd
import pytest
import samples
from patience import await_file
from typing_extensions import override

from mqperf.base.errors import PlanError, ProbeError, SystemFault
from mqperf.hosts import LocalHost
from mqperf.lab.probes import Inside, Task, inside
from mqperf.lab.systems.possible import check_plan
from mqperf.onhost.probes.inside.http import Server, Unanswered
from mqperf.pages.report.build import build
from mqperf.plan.file import parse_plan
from mqperf.record import as_whole, runs
from mqperf.record.logs.inside import LOG, check, lines
from mqperf.study import tables
from mqperf.study.probes.node_metrics import tables as figures
from mqperf.study.probes.node_metrics.node_summary import collecting, node_summary
from mqperf_rabbitmq.onhost import metrics as rabbitmq
from mqperf_rabbitmq.study import metrics as of_rabbitmq
from mqperf_routers.onhost import inside as asking_routers

pytestmark = pytest.mark.takes_long

SAMPLES = Path(__file__).parents[2] / "data/samples/inside"
ANSWER = 'rabbitmq_connections 7\nrabbitmq_detailed_queue_messages_ready{vhost="/",queue="a"} 3\n'
PASSWORD = "not-in-arguments"  # noqa: S105 (nobody's)
SECONDS = 2


class Handler(BaseHTTPRequestHandler):
    """Answers like a node."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(404 if self.path == "/missing" else 200)
        self.send_header("Content-Length", str(len(ANSWER)))
        self.end_headers()
        self.wfile.write(ANSWER.encode())

    @override
    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Hanging(Handler):
    """Answers before the load, and afterwards only at the end of the test."""

    may_answer = Event()
    may_answer.set()

    @override
    def do_GET(self) -> None:
        self.may_answer.wait(20)
        with suppress(OSError):  # the client has gone
            super().do_GET()


@contextmanager
def node(handler: type[Handler] = Handler) -> Iterator[str]:
    """The address of a running server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def watched(folder: Path, *nodes: Inside) -> list[dict[str, object]]:
    """The log that the probe wrote of these nodes."""
    task = Task("inside", [], folder, SECONDS, folder, LocalHost(), nodes)
    program = inside.program(task)
    assert program is not None
    assert PASSWORD not in str(program.argv) + str(program.env)
    for name, text in program.files.items():
        (folder / name).write_text(text)
    with subprocess.Popen(program.argv, env=program.env) as probe:
        await_file(folder / "inside.ready")
        Hanging.may_answer.clear()
        LocalHost().write(folder / "start", json.dumps({"start": time.time() + 0.5}))
        assert probe.wait(60) == 0
    return [json.loads(line) for line in (folder / LOG).read_text().splitlines()]


@pytest.mark.starts_programs
def test_every_node_is_asked_although_another_hangs(tmp_path: Path) -> None:
    """A node that hangs does not delay the others; errors are logged."""
    with node() as sound, node(Hanging) as hanging:
        log = watched(
            tmp_path,
            Inside("sound", rabbitmq.__name__, sound),
            Inside("hanging", rabbitmq.__name__, hanging),
            Inside("gone", asking_routers.__name__, "127.0.0.1:9", "mqperf", PASSWORD),
        )
        Hanging.may_answer.set()
    by_node = {name: [line for line in log if line["node"] == name] for name in ("sound", "gone")}
    assert not [line for line in log if line["node"] == "hanging" and "told" in line]
    assert all(0 < len(answers) <= SECONDS + 1 for answers in by_node.values())
    assert {str(line["told"]) for line in by_node["sound"]} == {ANSWER.strip()}
    assert all("Connection refused" in str(line["error"]) for line in by_node["gone"])
    assert {line.node for line in lines(tmp_path / LOG)} >= by_node.keys()
    with pytest.raises(ProbeError, match="never reported metrics"):
        check(tmp_path, "local")


def test_without_nodes_to_ask_nothing_is_started(tmp_path: Path) -> None:
    """As on a host with only clients, or with ZeroMQ."""
    assert inside.program(Task("inside", [], tmp_path, 1, tmp_path, LocalHost())) is None


def test_a_refusal_is_no_answer() -> None:
    """An HTTP error raises Unanswered; the next request on the connection succeeds."""
    with node() as address:
        server = Server(address)
        with pytest.raises(Unanswered, match="404"):
            server.answer("/missing")
        assert server.answer("/").decode() == ANSWER
        server.connection.close()


def test_of_very_many_queues_empty_ones_are_left_out() -> None:
    """The log of a node with many queues has only those with messages."""
    line = 'rabbitmq_detailed_queue_messages_ready{{vhost="/",queue="q{0}"}} {1}'
    text = "\n".join(line.format(number, number % 2) for number in range(300))
    entries = [*rabbitmq._lines(text)]
    assert len(entries) == rabbitmq.MOST_QUEUES
    assert {of.value for entry in entries for of in of_rabbitmq.figures(entry)} == {1.0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"node": "Master", "protocol"', ":1: the log is cut short"),
        ("{}", ":1: no line of the probe inside: node: field required"),
        ('{"told": "", "error": ""}', ":1: no line of the probe inside"),
        ("", "the probe inside wrote nothing on h1"),
    ],
)
def test_a_damaged_log_is_refused(tmp_path: Path, text: str, message: str) -> None:
    """The error names file and line."""
    (tmp_path / LOG).write_text(text)
    with pytest.raises(ProbeError, match=message):
        check(tmp_path, "h1")


def test_a_missing_log_is_refused(tmp_path: Path) -> None:
    """A log of a requested probe must exist."""
    with pytest.raises(ProbeError, match="no log of the probe inside: No such file"):
        check(tmp_path, "h1")


Row = Mapping[str, object]


def figure(time_s: float, kind: str, quantity: str, value: float) -> Row:
    thing = "G1" if kind == "collector" else "all" if kind == "queues" else "node"
    reading = {"kind": kind, "object": thing, "quantity": quantity, "value": value}
    return {"run": "one", "time_s": time_s, "node": "Broker", **reading}


def test_metrics_of_a_node_are_summarised() -> None:
    """Maxima and growth of queues; counters continue from 0 after a restart of the node."""
    rows = pd.DataFrame(
        [
            *(figure(t, "queues", "messages", v) for t, v in enumerate((5, 90, 40))),
            *(figure(t, "collector", "paused", v) for t, v in enumerate((1.0, 1.5, 0.25))),
            *(figure(t, "node", "presettled_dropped", v) for t, v in enumerate((7, 7, 2))),
        ]
    )
    [summary] = node_summary(rows)
    assert (summary["waiting_max"], summary["waiting_growth"], summary["answers"]) == (90, 35, 3)
    assert (summary["paused_s"], summary["presettled_dropped"]) == (0.75, 2)
    assert (summary["collections"], pd.isna(summary["memory_max_bytes"])) == (None, True)
    assert collecting(rows)["value"].tolist() == [0.5, 0.25]


PLAN = """\
systems: {{{0}: {{topologies: [{1}], queues: [{2}], settings: {3}}}}}
test_cases: [rpc-call]
load: {{green_threads: 1, duration_s: 3}}
probes: [inside]
"""
URLS = "{nodes: [a], urls: ['amqp://u@h']}"


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (("zeromq", "direct", "none", "{}"), "nodes of ZeroMQ export no metrics"),
        (("rabbitmq", "cmsm", "classic", URLS), "the probe inside, are for a cluster that mqperf"),
    ],
)
def test_systems_that_cannot_be_asked_are_named(parts: tuple[str, ...], message: str) -> None:
    """The plan is refused before anything is started."""
    plan = parse_plan(PLAN.format(*parts), Path("test.yaml"))
    with pytest.raises((PlanError, SystemFault), match=message):
        check_plan(plan)


def test_old_runs_have_empty_tables() -> None:
    """Runs without the probe have empty tables."""
    frames = samples.read(SAMPLES.parent / "runs")
    assert (len(frames["node_metrics"]), len(frames["node_summary"])) == (0, 0)


def summary_of(frames: tables.Tables, system: str, node: str) -> dict[tuple[str, str], pd.Series]:
    """The sum of each kind and quantity of a node by time."""
    rows = tables.where(frames["node_metrics"], system=system, node=node)
    groups = rows.assign(time_s=rows["time_s"].round()).groupby(["kind", "quantity"])
    return {
        (str(kind), str(quantity)): group.groupby("time_s")["value"].sum()
        for (kind, quantity), group in groups
    }


def test_recorded_nodes_of_rabbitmq() -> None:
    """RabbitMQ 3.10.8: every second of the window; queues add up to the sum of the node."""
    frames = samples.read(SAMPLES / "rabbitmq")
    master = summary_of(frames, "rabbitmq", "Master")
    assert list(master["queues", "messages"].index) == [0, 1, 2, 3]
    together = master["queue", "messages_ready"] + master["queue", "messages_unacked"]
    assert together.max() == master["queues", "messages"].max() == 5
    assert master["node", "connections"].max() == 6
    assert summary_of(frames, "rabbitmq", "Slave 2")["node", "memory_alarm"].eq(0).all()
    units = frames["node_metrics"].set_index("quantity")["unit"]
    assert (units["used"].unique(), units["messages"].unique()) == (["bytes"], ["msg"])
    node_summary = frames["node_summary"].set_index("node")
    assert list(node_summary.index) == ["Master", "Slave 1", "Slave 2"]
    assert node_summary["paused_s"].isna().all()


def test_recorded_routers_and_broker() -> None:
    """Qpid Dispatch 1.19: drops are a doubt; Artemis 2.56: time of garbage collection."""
    frames = samples.complete(SAMPLES / "transfers")
    node_summary = frames["node_summary"].set_index("node")
    assert list(node_summary["presettled_dropped"].dropna()) == [40166, 3486, 0]
    [row] = frames["messages"].query("system == 'qpid-dispatch'").to_dict("records")
    assert node_summary["presettled_dropped"].sum() <= row["lost"]
    texts = frames["doubts"].set_index(["system", "kind"])["text"]
    assert "(R1 40166, R2 3486)" in texts["qpid-dispatch", "presettled-dropped"]
    assert (
        "at most 53 messages in their queues or on their links, 44 more"
        in texts["artemis", "backlog"]
    )
    assert set(texts.index.get_level_values("kind")) >= {"lost", "noisy-host"}
    costs = summary_of(frames, "qpid-dispatch", "R1")["route", "cost"]
    assert set(costs) == {3.0}
    artemis = summary_of(frames, "artemis", "Broker")
    assert node_summary.loc["Broker", "paused_s"] == pytest.approx(0.159)
    assert artemis["memory", "max"].max() == 512 * 2**20
    assert set(artemis["queue", "consumers"]) == {2.0}


@pytest.mark.parametrize("line", ['"no line"', "{}", '{"router": {"names": [], "rows": []}}'])
@pytest.mark.parametrize("protocol", ["prometheus", "amqp-management", "jolokia"])
def test_an_invalid_answer_makes_a_run_unreadable(tmp_path: Path, protocol: str, line: str) -> None:
    """The error names file and line of the invalid answer."""
    [sample] = runs(SAMPLES / "rabbitmq")
    whole_run = as_whole(sample, sample.facts())
    log = tmp_path / "probes" / "local" / LOG
    log.parent.mkdir(parents=True)
    record = {"node": "Master", "protocol": protocol, "epoch": whole_run.window[0]}
    record |= {"monotonic": 1.0, "took_s": 0.1, "told": json.loads(line)}
    log.write_text(json.dumps(record))
    with pytest.raises(ProbeError, match=rf"{LOG}:1: no answer of {protocol}"):
        figures.read(replace(whole_run, run=replace(sample, path=tmp_path)))


def test_answers_without_a_reader_are_refused(tmp_path: Path) -> None:
    """The package that reads them is not installed."""
    [sample] = runs(SAMPLES / "rabbitmq")
    text = (sample.path / "probes" / "local" / LOG).read_text().replace("prometheus", "smoke")
    (tmp_path / "probes" / "local").mkdir(parents=True)
    (tmp_path / "probes" / "local" / LOG).write_text(text)
    with pytest.raises(ProbeError, match=r":\d+: answers of 'smoke' .* install the package"):
        figures.read(replace(as_whole(sample, sample.facts()), run=replace(sample, path=tmp_path)))


def test_a_node_that_the_run_lacks_is_refused(tmp_path: Path) -> None:
    """A log with a node that run.json lacks is refused."""
    [sample] = runs(SAMPLES / "rabbitmq")
    text = (sample.path / "probes" / "local" / LOG).read_text().replace("Slave 2", "Slave 3")
    (tmp_path / "probes" / "local").mkdir(parents=True)
    (tmp_path / "probes" / "local" / LOG).write_text(text)
    with pytest.raises(ProbeError, match=r"run\.json knows no node Slave 3"):
        figures.read(replace(as_whole(sample, sample.facts()), run=replace(sample, path=tmp_path)))


@pytest.mark.starts_programs
def test_a_page_shows_the_inside(tmp_path: Path) -> None:
    """Messages, memory and garbage collection of each node: text, table and figure."""
    frames = samples.complete(SAMPLES / "transfers")
    out = tmp_path / "out"
    build(frames, out, title="Insides", html=False)
    page = " ".join((out / "artemis" / "single" / "index.rst").read_text().split())
    assert "Metrics of the nodes" in page
    assert "Garbage collection of a node took at most 159 ms of a window." in page
    page = " ".join((out / "qpid-dispatch" / "line" / "index.rst").read_text().split())
    assert "Routers silently dropped 43652 pre-settled messages" in page
    assert " - 4.5 - 40166" in page  # MiB, messages
    assert [*out.glob("qpid-dispatch/line/*inside_of_the_nodes.svg")]
