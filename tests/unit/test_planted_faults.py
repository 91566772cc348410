"""Faults planted in copies of recorded runs, each of which must give a doubt.

These are faults of tables and of sets of runs; those of recorded files are in
``test_planted_files.py``.  The methodology lists what no rule can detect.
"""

import shutil
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
import samples
from file_faults import CALL, CAST, NOTIFY, OTHER, SAMPLES, SOUND

from mqperf.study import tables
from mqperf.study.stats import checks

pytestmark = pytest.mark.takes_long

Frames = dict[str, pd.DataFrame]
Fault = Callable[[Frames], None]
Cell = str | float | pd.Timestamp


@cache
def recorded() -> Mapping[str, pd.DataFrame]:
    """The tables of the sound runs, with their part of the plan."""
    frames = samples.read(SAMPLES)
    sound = {name: frame[frame["run"].isin(SOUND)] for name, frame in frames.items()}
    return {name: frame.reset_index(drop=True) for name, frame in sound.items()}


def copied() -> Frames:
    return {name: frame.copy() for name, frame in recorded().items()}


def rows(frames: Frames, table: str, run: str, **where: str) -> pd.Series:
    hit = frames[table]["run"].eq(run)
    for column, value in where.items():
        hit &= frames[table][column].eq(value)
    return hit.fillna(value=False)


def put(
    table: str, run: str, where: Mapping[str, str], **cells: str | float | pd.Timestamp
) -> Fault:
    """Sets these cells in the rows of the run."""

    def fault(frames: Frames) -> None:
        hit = rows(frames, table, run, **where)
        assert hit.any()
        for column, value in cells.items():
            frames[table].loc[hit, column] = value

    return fault


def used(run: str, process: str, cores: float, **where: str) -> Fault:
    """The process used that many cores in the window."""
    return put("cpu", run, {"process": process, "scope": "window"} | where, total_cores=cores)


def stolen(run: str, total: float, cores: float) -> Fault:
    """The hypervisor withheld ``cores`` of the host's ``total``."""
    return put("cpu", run, {"process": "host"}, total_cores=total, stolen_cores=cores)


def scale(table: str, run: str, column: str, factor: float) -> Fault:
    def fault(frames: Frames) -> None:
        frames[table].loc[rows(frames, table, run), column] *= factor

    return fault


def silence(run: str, stream: str, seconds: int) -> Fault:
    """No message of the stream is counted in the first seconds of the window."""

    def fault(frames: Frames) -> None:
        hit = rows(frames, "intervals", run, stream=stream, phase="window")
        hit &= frames["intervals"]["start_s"].lt(seconds)
        frames["intervals"].loc[hit, "count"] = 0

    return fault


def without(table: str, run: str, **where: str) -> Fault:
    def fault(frames: Frames) -> None:
        frames[table] = frames[table][~rows(frames, table, run, **where)].reset_index(drop=True)

    return fault


def died(run: str, process: str) -> Fault:
    """The process has no samples after the first second of the window."""

    def fault(frames: Frames) -> None:
        cpu = frames["cpu"]
        gone = rows(frames, "cpu", run, process=process) & cpu["end_s"].gt(1.5)
        frames["cpu"] = cpu[~gone].reset_index(drop=True)

    return fault


def removed(run: str) -> Fault:
    """The folder of a planned run is missing."""

    def fault(frames: Frames) -> None:
        for name in frames:
            if name != "planned":
                without(name, run)(frames)

    return fault


def repeated(run: str, *throughputs: float, own_messages: bool = True) -> Fault:
    """More repeats of the run, an hour apart, with these shares of its throughput.

    They have different recorded messages, or the same as the run.
    """

    def fault(frames: Frames) -> None:
        parts: dict[str, list[pd.DataFrame]] = {name: [frames[name]] for name in frames}
        for repeat, share in enumerate(throughputs, 2):
            for name, frame in frames.items():
                part = frame[rows(frames, name, run)].copy()
                part["run"], part["repeat"] = f"{run}-again-{repeat}", repeat
                if name == "runs":
                    part["started"] += pd.Timedelta(hours=repeat)
                    part["content"] = f"{repeat}" if own_messages else part["content"]
                    part["case"] = part["run"]
                if name == "messages":
                    part[["throughput_msg_s", "send_rate_msg_s"]] *= share
                if name == "latency":
                    part["latency_mean_s"] /= share
                parts[name].append(part)
        for name, pieces in parts.items():
            frames[name] = tables.conform(name, pd.concat(pieces))

    return fault


def at_once(run: str, other: str) -> Fault:
    """The run began a second after the other."""

    def fault(frames: Frames) -> None:
        runs = frames["runs"].set_index("run")["started"]
        put("runs", run, {}, started=runs[other] + pd.Timedelta(seconds=1))(frames)

    return fault


def alarm(run: str) -> Fault:
    detail = '{"log": "node1.log", "times": 2, "line": "memory resource limit alarm set"}'

    def fault(frames: Frames) -> None:
        row = pd.DataFrame([{"run": run, "what": "alarm", "detail": detail}])
        frames["events"] = tables.conform("events", pd.concat([frames["events"], row]))

    return fault


def beside_the_plan(run: str) -> Fault:
    """The plan has another window, and so another point."""

    def fault(frames: Frames) -> None:
        hit = rows(frames, "planned", run)
        frames["planned"].loc[hit, "point"] = "rabbitmq-another-window"
        frames["planned"].loc[hit, "run"] = "rabbitmq-another-window-r1"

    return fault


FAULTS: Mapping[str, tuple[str, str, Fault]] = {
    # CPU
    "another program takes a third of a core": ("noisy-host", CAST, used(CAST, "host", 2.2)),
    "another program fills the host": ("noisy-host", OTHER, used(OTHER, "host", 2.0)),
    "another program uses the host of a quiet run": ("noisy-host", CALL, used(CALL, "host", 1.9)),
    "a hypervisor takes the CPU of a quiet run": ("stolen-cpu", CALL, stolen(CALL, 1.3, 0.3)),
    "a hypervisor fills the host": ("stolen-cpu", OTHER, stolen(OTHER, 2.0, 0.3)),
    "a client is out of CPU": ("tester-saturated", CALL, used(CALL, "client-1", 0.93)),
    "a server is out of CPU": ("tester-saturated", CAST, used(CAST, "server-1", 0.91)),
    "the run fills its host": ("tester-saturated", CAST, used(CAST, "host", 1.93)),
    "the host used less than its processes": ("cpu-sum", CALL, used(CALL, "host", 0.9)),
    "a counter was reset": ("cpu-exceeds-cores", CALL, used(CALL, "host", 31.0)),
    "system time is that of another": (
        "sys-exceeds-total",
        CALL,
        put("cpu", CALL, {"process": "Master", "scope": "window"}, sys_cores=1.7),
    ),
    "a node was not sampled for seconds": ("probe-gap", CALL, died(CALL, "Master")),
    "nothing was sampled": ("probe-gap", CAST, without("cpu", CAST, scope="interval")),
    # the window
    "a backlog of the warm-up is delivered": (
        "unequal-rates",
        CAST,
        scale("messages", CAST, "throughput_msg_s", 1.15),
    ),
    "servers do not keep up": (
        "unequal-rates",
        NOTIFY,
        scale("messages", NOTIFY, "throughput_msg_s", 0.9),
    ),
    "servers pause": ("empty-seconds", CAST, silence(CAST, "received", 1)),
    "replies pause": ("empty-seconds", CALL, silence(CALL, "round-trip", 2)),
    "the window was cut": ("short-window", CALL, put("runs", CALL, {}, window_s=2.0)),
    "messages wait in queues": ("backlog", CAST, scale("latency", CAST, "latency_mean_s", 50.0)),
    "more calls than threads": ("littles-law", CALL, scale("latency", CALL, "latency_mean_s", 2.0)),
    "clocks are apart": ("clock-offset", CAST, put("latency", CAST, {}, latency_uncertainty_s=0.5)),
    "no latency was recorded": (
        "incomplete",
        CALL,
        put("latency", CALL, {}, latency_mean_s=float("nan")),
    ),
    # counts
    "messages are lost": ("lost", CAST, put("messages", CAST, {}, lost=7)),
    "more arrived than was sent": ("negative-lost", CAST, put("messages", CAST, {}, lost=-3)),
    "attempts end in errors": ("client-errors", CALL, put("messages", CALL, {}, errors=4)),
    "a generator did not report": ("missing-process", CALL, put("runs", CALL, {}, reported=1)),
    "replies without requests": (
        "roundtrip-not-received",
        CALL,
        put("messages", CALL, {}, received=10),
    ),
    "an attempt failed": (
        "failed-run",
        CAST,
        put("runs", CAST, {}, status="failed", failure="Slave 1 died"),
    ),
    "a file was edited": ("changed-record", CALL, put("runs", CALL, {}, damaged="run.json")),
    "the broker raised an alarm": ("broker-alarm", CALL, alarm(CALL)),
    # sets of runs
    "a folder was copied": (
        "copied-run",
        f"{CALL}-again-2",
        repeated(CALL, 1.0, own_messages=False),
    ),
    "another run's load in this one's time": ("overlapping-runs", CALL, at_once(CALL, CAST)),
    "a run was removed": ("missing-run", CALL, removed(CALL)),
    "a run of another plan": ("not-of-plan", NOTIFY, beside_the_plan(NOTIFY)),
    "more cores in one run": ("mixed-hosts", CALL, put("runs", CALL, {}, cores=4)),
    "another kernel in one run": ("mixed-hosts", CAST, put("runs", CAST, {}, kernel="Linux 5.4")),
    "another processor in one run": ("mixed-hosts", CAST, put("runs", CAST, {}, cpu_model="Z80")),
    "half of the memory in one run": (
        "mixed-hosts",
        NOTIFY,
        scale("runs", NOTIFY, "memory_bytes", 2),
    ),
    "another card in one run": (
        "mixed-hosts",
        CALL,
        put("runs", CALL, {}, network_card="Maker X1"),
    ),
    "the broker was upgraded": (
        "mixed-versions",
        CALL,
        put("runs", CALL, {}, system_version="3.12.1"),
    ),
    "the driver was upgraded": (
        "mixed-versions",
        CAST,
        put("runs", CAST, {}, generator_version="1.0"),
    ),
    "one repeat of three is slow": ("spread", f"{CALL}-again-3", repeated(CALL, 1.0, 0.84)),
    "two repeats differ": ("spread", f"{CALL}-again-2", repeated(CALL, 0.84)),
}
"""Fault -> kind of the doubt, its run, function that plants it."""


def named(frames: Frames) -> set[tuple[str, str]]:
    doubts = checks.doubts(frames)
    return set(zip(doubts["kind"], doubts["run"], strict=True))


def test_the_runs_are_sound_before() -> None:
    """Without a fault neither they nor their repeats have doubts."""
    frames = copied()
    assert named(frames) == set()
    repeated(CALL, 1.02, 0.97)(frames)
    assert named(frames) == set()


@pytest.mark.parametrize("what", FAULTS)
def test_a_planted_fault_is_named(what: str) -> None:
    """The doubt has the right kind and run."""
    kind, run, fault = FAULTS[what]
    frames = copied()
    fault(frames)
    assert (kind, run) in named(frames)


def test_systems_may_be_reached_by_different_cards() -> None:
    """Cards and versions may differ between systems."""
    frames = copied()
    for table in frames.values():
        table.loc[table["run"].eq(NOTIFY), "system"] = "another"
    put("runs", NOTIFY, {}, network_card="Maker X1", system_version="1.0")(frames)
    assert named(frames) == set()


def test_a_noisy_host_is_not_blamed_on_the_tester() -> None:
    """If other programs fill the host, load generators are not doubted."""
    frames = copied()
    used(OTHER, "host", 2.0)(frames)
    assert named(frames) == {("noisy-host", OTHER)}


def test_a_hypervisor_that_takes_little_is_not_accused() -> None:
    """Nor is stolen time attributed to other processes."""
    frames = copied()
    before = frames["cpu"].loc[rows(frames, "cpu", CALL, process="host"), "total_cores"]
    stolen(CALL, float(before.iloc[0]) + 0.19, 0.19)(frames)
    assert named(frames) == set()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The sound runs in a folder whose plan has 36 runs."""
    for run in SOUND:
        shutil.copytree(SAMPLES / run, tmp_path / run)
    plan = (SAMPLES / "plan.yaml").read_text().replace("[1, 5]", "[1, 5, 7]")
    (tmp_path / "plan.yaml").write_text(plan)
    return tmp_path


def test_a_folder_is_held_against_its_plan(folder: Path) -> None:
    """Missing runs of the plan are named with their parameters."""
    shutil.rmtree(folder / CALL)
    frames = tables.read(folder)
    doubts = checks.doubts(frames)
    assert len(frames["planned"]) == 36
    assert set(doubts["kind"]) == {"missing-run"}
    assert len(doubts) == 33
    assert CALL in set(doubts["run"])
    assert doubts["threads"].notna().all()


def test_a_copied_folder_is_no_run_of_its_own(folder: Path) -> None:
    """Its messages are the same, whatever its name."""
    shutil.copytree(folder / CALL, folder / CALL.replace("367280fe", "ffffffff"))
    doubts = checks.doubts(tables.read(folder)).query("kind == 'copied-run'")
    assert doubts["run"].tolist() == [CALL.replace("367280fe", "ffffffff")]
    assert CALL in doubts["text"].iloc[0]
