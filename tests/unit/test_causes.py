"""The causes that limit a run: each is found where it is planted, and nowhere else."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pandas as pd
import pytest
import samples
from sound_sweep import Change, Frames, sound
from typer.testing import CliRunner

from mqperf.base.errors import ProbeError
from mqperf.study.stats.bottleneck import bottlenecks
from mqperf.study.tables import conform
from mqperf_diagnosis.front.command import COMMAND
from mqperf_diagnosis.onhost import erlang
from mqperf_diagnosis.pages import words
from mqperf_diagnosis.record import waits_log
from mqperf_diagnosis.study import resources, waits
from mqperf_diagnosis.study.causes import causes

if TYPE_CHECKING:
    from mqperf_diagnosis.study.evidence import Evidence

RUN = "rpc-call-100-r1"
SAMPLES = Path(__file__).parents[2] / "data/samples"

Figure = tuple[str, str, str, float]
"""Process, object, quantity and value, as the probe has them."""

QUIET: Sequence[Figure] = (
    ("Master", "all", "used", 1.2),
    ("Master", "all", "waited", 0.05),
    ("Master", "q", "queue running", 0.4),
    ("Master", "q", "queue runnable", 0.02),
    ("Master", "q", "queue mailbox", 1.0),
    ("Master", "disks", "synchronised", 0.01),
    ("Master", "disks", "written", 1e6),
    ("Master", "node", "alarmed", 0.0),
    ("Master", "connection", "connection held", 0.0),
    ("Master", "q", "ready", 0.0),
    ("Master", "q", "unacked", 0.4),
    ("Master", "q", "consumers", 1.0),
)
"""Figures of the probe for a run in which nothing is full."""

FULL_QUEUE: Sequence[Figure] = (
    ("Master", "q", "queue running", 0.97),
    ("Master", "q", "queue runnable", 0.02),
    ("Master", "connection", "connection held", 0.8),
)
STARVED: Figure = ("Master", "all", "waited", 2.0)
MORE_READY: Figure = ("Master", "q", "ready", 900.0)
HELD: Sequence[Figure] = (MORE_READY, ("Master", "q", "unacked", 1.0))

LINK: Change = {
    "between": "client, broker",
    "bandwidth_bits_s": 10e6,
    "packets_came": 1e5,
    "packets_lost": 0.0,
}
QUOTA: Change = {"group": "server", "quota_cores": 0.05, "throttled_share": 0.9}
LINE = {"log": "Master.log", "times": 1, "line": "memory resource limit alarm set on node a@b."}
ALARM: Change = {"what": "alarm", "time_s": 2.0, "detail": json.dumps(LINE)}


def seen(*figures: Figure) -> Frames:
    """The sound sweep with figures of the probe for one run: quiet but for these."""
    values = {(process, thing, name): value for process, thing, name, value in (*QUIET, *figures)}
    keys = ("process", "object", "quantity")
    rows = [{**dict(zip(keys, key, strict=True)), "value": v} for key, v in values.items()]
    return with_rows(sound(), "waits", *rows)


def with_rows(frames: Frames, table: str, *rows: Mapping[str, object]) -> Frames:
    """The tables with one of them replaced by these rows of the run."""
    return {**frames, table: conform(table, pd.DataFrame([{"run": RUN, **row} for row in rows]))}


def changed(frames: Frames, table: str, change: Change, process: str = "") -> Frames:
    """The tables with columns of the run changed in one of them."""
    frame = frames[table]
    hit = frame["run"].eq(RUN) & (frame["process"].eq(process) if process else True)
    columns = {name: value for name, value in change.items() if name not in frame.columns}
    frame = frame.assign(**dict.fromkeys(columns))
    frame.loc[hit, [*change]] = [*change.values()]
    return {**frames, table: frame}


def named(frames: Frames) -> list[str]:
    """The causes of the run by rank; no other run has any."""
    rows = causes(frames)
    assert set(rows["run"]) <= {RUN}
    return [*rows["cause"]]


@pytest.mark.takes_long
@pytest.mark.parametrize(
    ("figures", "cause"),
    [
        ((), []),
        ((("Master", "q", "queue running", 0.8),), []),
        (FULL_QUEUE, ["one queue process full", "flow control"]),
        ((*FULL_QUEUE, STARVED), ["one queue process full", "flow control"]),
        ((("Master", "q", "queue running", 0.5), ("Master", "q", "queue runnable", 0.48)), []),
        (
            (*FULL_QUEUE, ("Master", "node", "alarmed", 0.4)),
            ["memory or disk alarm", "one queue process full", "flow control"],
        ),
        ((*FULL_QUEUE, ("Master", "disks", "synchronised", 0.7)), ["disk", "flow control"]),
        ((("Master", "collector", "used", 0.5),), ["garbage collection"]),
        ((("Master", "collector", "used", 0.1),), []),
    ],
)
def test_a_full_part_of_a_node_is_a_cause(figures: Sequence[Figure], cause: list[str]) -> None:
    """The full part ranks before its consequences; where nothing is full there is no cause."""
    assert named(seen(*figures)) == cause


@pytest.mark.takes_long
@pytest.mark.parametrize(
    ("settings", "figures", "cause"),
    [
        (
            {"acks": "each", "prefetch": 1},
            HELD,
            "prefetch",
        ),
        ({"acks": "auto", "prefetch": 1}, HELD, ""),
        ({"acks": "each", "prefetch": 1}, (("Master", "q", "unacked", 1.0),), ""),
        ({"acks": "each", "prefetch": 99}, (MORE_READY, ("Master", "q", "unacked", 98.0)), "slow"),
        ({"confirms": 1}, (), "confirm"),
        ({"confirms": 1000}, (), ""),
        ({"confirms": 1, "rate_msg_s": 3800.0}, (), ""),
        ({"confirms": 1}, FULL_QUEUE, "queue"),
    ],
)
def test_a_full_window_is_a_cause_where_nothing_else_is(
    settings: Change, figures: Sequence[Figure], cause: str
) -> None:
    """A window that is not full, or only because a rate is missed, is no cause."""
    frames = changed(changed(seen(*figures), "runs", settings), "latency", {"confirm_p50_s": 0.025})
    assert cause in next(iter(named(frames)), "")
    assert bool(cause) == bool(named(frames))


@pytest.mark.takes_long
@pytest.mark.parametrize(
    ("process", "cores", "figures", "cause"),
    [
        ("client-1", 0.97, (), "load generator full"),
        ("Master", 3.8, (), "node full"),
        ("host", 3.99, (STARVED,), "neighbour on the host"),
        ("host", 3.99, (*FULL_QUEUE, STARVED), "neighbour on the host"),
        ("host", 3.99, (), ""),
    ],
)
def test_cpu_is_a_cause_as_the_bottleneck_has_it(
    process: str, cores: float, figures: Sequence[Figure], cause: str
) -> None:
    """A full host whose processes do not wait for a core is no cause."""
    frames = changed(seen(*figures), "cpu", {"total_cores": cores}, process)
    assert next(iter(named(frames)), "") == cause


def test_stolen_time_is_given_for_its_host_alone() -> None:
    """A second full host whose hypervisor gives it all its cores is no fault of the first."""
    full = {"full": True, "tests": True, "total_cores": 3.9, "cores": 4, "others": 0.0}
    stolen = (("one", 2.0), ("two", 0.0))
    hosts = [{"host": name, "process": name, "stolen_cores": s, **full} for name, s in stolen]
    limits = SimpleNamespace(hosts=pd.DataFrame(hosts), nodes=sound()["cpu"].iloc[:0])
    run = SimpleNamespace(waited=None, full=limits)
    found = [*resources.host(cast("Evidence", run))]
    assert ["hypervisor" in cause.because for cause in found] == [True, False]
    assert [cause.name for cause in found] == ["neighbour on the host", "host full"]


def test_a_command_that_uses_more_than_a_core_is_no_cause() -> None:
    """The client of commands runs several processes at the same time."""
    frames = changed(seen(), "cpu", {"total_cores": 1.5}, "client-1")
    assert "load generator full" in named(frames)
    assert "load generator full" not in named(changed(frames, "runs", {"generator": "command"}))


@pytest.mark.takes_long
@pytest.mark.parametrize(
    ("table", "row", "cause"),
    [
        ("links", LINK, []),
        ("links", {**LINK, "packets_lost": 5e3}, ["packet loss"]),
        ("links", {**LINK, "bandwidth_bits_s": None, "packets_came": None}, []),
        ("network", {"host": "local", "retransmitted_share": 0.03}, ["packet loss"]),
        ("quotas", QUOTA, ["slow consumer"]),
        ("quotas", {**QUOTA, "throttled_share": 0.1}, []),
        ("events", ALARM, ["memory or disk alarm"]),
        ("events", {**ALARM, "time_s": -3.0}, []),
    ],
)
def test_other_tables_give_causes(table: str, row: Change, cause: list[str]) -> None:
    """Links, networks, quotas and logs of nodes are causes without the probe, too."""
    assert named(with_rows(sound(), table, row)) == cause


def test_a_link_is_full_of_bodies() -> None:
    """3,800 bodies of 300 bytes a second are 9.1 Mbit/s."""
    frames = changed(with_rows(sound(), "links", LINK), "runs", {"payload_bytes": 300})
    assert named(frames) == ["link full"]


def test_copies_of_a_message_are_not_on_the_link_of_its_sender() -> None:
    """At 1,900 messages a second with two deliveries each, clients send 4.6 Mbit/s."""
    for ends, cause in (("client, broker", []), ("server, broker", ["link full"])):
        frames = with_rows(sound(), "links", {**LINK, "between": ends})
        frames = changed(frames, "messages", {"send_rate_msg_s": 1900.0})
        assert named(changed(frames, "runs", {"payload_bytes": 300})) == cause


def test_a_rate_is_kept_if_every_delivery_is_made() -> None:
    """With two deliveries of each message, 3,800 a second are not all of 3,000."""
    for each, kept in ((1, True), (2, False)):
        frames = changed(seen(), "runs", {"rate_msg_s": 3000.0})
        deliveries = frames["messages"]["sent"] * each
        frames = {**frames, "messages": frames["messages"].assign(deliveries=deliveries)}
        shown = [*words.lines({**frames, "causes": causes(frames)})]
        place = next(n for n, line in enumerate(shown) if line.endswith(f"[{RUN}]"))
        assert shown[place + 1].startswith("  it kept its offered rate") == kept


def test_work_of_a_node_that_keeps_its_rate_is_no_cause() -> None:
    """Disk and garbage collection are causes only in a node that misses its rate."""
    figures = (("Master", "disks", "synchronised", 0.5), ("Master", "collector", "used", 0.5))
    for rate, expected in ((3800.0, []), (5000.0, ["disk", "garbage collection"])):
        assert named(changed(seen(*figures), "runs", {"rate_msg_s": rate})) == expected


def test_a_staircase_is_not_kept_by_its_first_step() -> None:
    """The offered rate of a staircase is the mean of its steps."""
    for offered, kept in ((3800.0, True), (5500.0, False)):
        frames = changed(seen(), "runs", {"rate_msg_s": 1000.0, "ramp_steps": 5})
        frames = changed(frames, "messages", {"offered_rate_msg_s": offered})
        shown = [*words.lines({**frames, "causes": causes(frames)})]
        place = next(n for n, line in enumerate(shown) if line.endswith(f"[{RUN}]"))
        assert shown[place + 1].startswith("  it kept its offered rate") == kept


@pytest.mark.takes_long
def test_a_run_that_kept_its_rate_was_not_limited() -> None:
    """The part nearest to its limit is no cause; a run without throughput has no number."""
    full = changed(sound(), "cpu", {"total_cores": 0.97}, "client-1")
    for rate, phrase in ((4500.0, "load generator full: 1 of"), (3800.0, "rate was kept")):
        frames = changed(full, "runs", {"rate_msg_s": rate})
        [sentence] = words.summary({**frames, "causes": causes(frames)})
        assert phrase in sentence
        assert ("rate was kept" in sentence) == (rate == 3800)
    frames = changed(full, "messages", {"throughput_msg_s": float("nan")})
    shown = [*words.lines({**frames, "bottlenecks": bottlenecks(frames), "causes": causes(frames)})]
    assert any(line.endswith(f": throughput not known [{RUN}]") for line in shown)


def test_the_network_of_one_host_is_not_that_of_all() -> None:
    """Only hosts with retransmitted segments or a full link are named."""
    quiet = {"interface": "eth0", "sent_bytes_s": 1e6, "received_bytes_s": 1e6}
    quiet |= {"speed_bytes_s": 125e6, "retransmitted_share": 0.0}
    for change in ({"retransmitted_share": 0.03}, {"sent_bytes_s": 120e6}):
        hosts = {"host": "a", **quiet}, {"host": "b", **quiet, **change}
        [cause] = causes(with_rows(sound(), "network", *hosts)).to_dict("records")
        assert cause["cause_at"] == "b"


def synchronised(*seen_at: int) -> float:
    """The share of a node that syncs for a tenth of each second and is sampled in these."""
    log = []
    for second in range(11):
        node = {"looks": 18, "sync_s": 0.1 * second} if second in seen_at else {"error": "timeout"}
        line = {"epoch": 1e9 + second, "monotonic": float(second), "processes": {}, "pressure": {}}
        log.append(waits_log.Sample.model_validate({**line, "nodes": {"Master": node}}))
    return next(value for *_, name, value, _ in waits._node_figures(log) if name == "synchronised")


def test_seconds_without_an_answer_count() -> None:
    """The share is the same for a node that answered in a few of the seconds only."""
    assert synchronised(*range(1, 11)) == pytest.approx(0.1)
    assert synchronised(1, 2, 9, 10) == pytest.approx(0.1)


def test_equal_causes_have_one_rank() -> None:
    """Two causes with equal share have one rank, and the headline names neither."""
    frames = changed(seen(*FULL_QUEUE), "cpu", {"total_cores": 0.97}, "client-1")
    rows = causes(frames)
    assert [*rows["cause_rank"]] == [1, 1, 3]
    assert words.headline(rows, kept=False).startswith(words.NO_CAUSE)


@pytest.mark.takes_long
def test_causes_of_recorded_runs_agree_with_their_bottlenecks() -> None:
    """The column ``bottleneck`` is among the causes; runs without a bottleneck have none."""
    names = {"host": {"neighbour on the host", "host full"}, "network": {"packet loss"}}
    folders = {run.parent.parent for run in SAMPLES.rglob("run.json")} - {SAMPLES / "causes"}
    for folder in folders:
        tables = samples.complete(folder)
        by_run = tables["causes"].groupby("run")["cause"].agg(set)
        for run, verdict in tables["bottlenecks"][["run", "bottleneck"]].itertuples(index=False):
            assert by_run.get(run, set()) <= names.get(verdict, set()), run
            assert verdict == "none" or by_run.get(run), run


def test_a_recorded_queue_is_full() -> None:
    """For a RabbitMQ 3.10.8 queue that writes all to disk, the command has cause and test."""
    result = CliRunner().invoke(COMMAND.app, [str(SAMPLES / "causes")])
    assert result.exit_code == 0
    assert "most likely: one queue process full" in result.output
    assert "to test it: spread the messages over a second queue" in result.output


def test_an_answer_of_a_node_is_read() -> None:
    """erl_call prints names in base64, and a node may not count calls of fsync."""
    text = '{ok, "process queue cQ== 17 1 40 0;messages cQ== 5 2 1;node 1 0 -1 2"}'
    state = erlang.of_text(text)
    assert state["processes"][0] == {
        "kind": "queue",
        "name": "q",
        "running": 17,
        "runnable": 1,
        "waiting": 40,
        "held": 0,
    }
    assert state["queues"] == [{"name": "q", "ready": 5, "unacked": 2, "consumers": 1}]
    assert (state["run_queue"], state["sync_s"]) == (1, None)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "wrote nothing on local"),
        ('{"epoch": 1.0, "monoto', "cut short"),
        ('{"epoch": -1.0}', "no line of the probe waits"),
    ],
)
def test_a_damaged_log_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    """The error names file and line."""
    (tmp_path / waits_log.LOG).write_text(text)
    with pytest.raises(ProbeError, match=problem):
        waits_log.check(tmp_path, "local")


@pytest.mark.takes_long
@pytest.mark.parametrize(
    ("unfinished", "expected"), [(0, "it kept its offered rate"), (150, words.NO_CAUSE)]
)
def test_a_staircase_is_kept_if_each_step_is(unfinished: int, expected: str) -> None:
    """The mean of its steps may seem kept though the last step is not."""
    frames = changed(sound(), "messages", {"offered_rate_msg_s": 3800.0})
    of_steps = {"throughput_msg_s": 100.0, "latency_mean_s": 0.001, "latency_min_s": 0.001}
    first = {"step_rate_msg_s": 100.0, "from_s": 0.0, "until_s": 5.0, "unfinished": 0}
    last = {"step_rate_msg_s": 200.0, "from_s": 5.0, "until_s": 10.0, "unfinished": unfinished}
    stairs = with_rows(frames, "rate_steps", {**of_steps, **first}, {**of_steps, **last})
    results = {**stairs, "causes": causes(stairs), "bottlenecks": bottlenecks(stairs)}
    lines = [*words.lines(results)]
    [place] = [at for at, line in enumerate(lines) if line.endswith(f"[{RUN}]")]
    assert lines[place].endswith(f": 3,800 msg/sec, the mean of its steps [{RUN}]")
    assert lines[place + 1].strip().startswith(expected)


def test_less_than_one_message_a_second_is_shown() -> None:
    """The rate has three significant figures."""
    frames = changed(sound(), "messages", {"throughput_msg_s": 0.4271})
    results = {**frames, "causes": causes(frames), "bottlenecks": bottlenecks(frames)}
    assert any(line.endswith(f": 0.427 msg/sec [{RUN}]") for line in words.lines(results))
