"""Doubts about a sweep as a whole: its peak, its repeats, its control runs, and its plan."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from sound_sweep import THREADS, Change, Frames, found, planted, sound, texts, texts_of

from mqperf.study import tables
from mqperf.study.stats.rules import sweep

pytestmark = pytest.mark.takes_long


@pytest.mark.parametrize(
    ("rates", "accused"),
    [
        ((2000, 3500, 4000, 5000), "rpc-cast-100-r3"),
        ((5000, 3500, 4000, 3000), "rpc-cast-10-r3"),
        ((2000, 3500, 4000, 4050), None),
        ((2000, 3500, 4000, 3900), None),
    ],
    ids=["rises", "falls", "plateau", "peak"],
)
def test_a_peak_at_the_edge_is_a_bound(rates: tuple[int, ...], accused: str | None) -> None:
    """The best rate of a sweep is only a peak if the sweep goes on beyond it."""
    frames = sound()
    messages = frames["messages"]
    cast = messages["test_case"] == "rpc-cast"
    rate = messages["threads"].map(dict(zip(THREADS, map(float, rates), strict=True)))
    for column in ("throughput_msg_s", "send_rate_msg_s"):
        messages[column] = messages[column].where(~cast, rate)
    frames["latency"].loc[cast, "latency_mean_s"] = 0.001
    assert found(frames) == ({("peak-at-edge", accused)} if accused else set())


def test_a_machine_that_slows_down_is_found() -> None:
    """Repeats that fall with their place in the sweep make the whole sweep doubtful."""
    frames = sound()
    slower = 1 - 0.004 * frames["runs"]["position"].astype(float)
    frames["messages"][["throughput_msg_s", "send_rate_msg_s"]] = frames["messages"][
        ["throughput_msg_s", "send_rate_msg_s"]
    ].mul(slower, axis=0)
    frames["latency"]["latency_mean_s"] /= slower
    [((kind, _), text)] = texts(frames).items()
    assert kind == "drift"
    assert "moved by \N{MINUS SIGN}10 %" in text


def test_a_control_run_that_moves_is_found() -> None:
    """One point, at start, middle and end, is enough if it moves far in one direction."""
    frames = {
        name: frame[frame["point"] == "rpc-cast-50"].reset_index(drop=True)
        for name, frame in sound().items()
        if "run" in frame and "point" in frame
    }
    frames["runs"]["control_run"] = [1, 2, 3]
    for column in ("throughput_msg_s", "send_rate_msg_s"):
        frames["messages"][column] = [4000.0, 3400.0, 2500.0]
    frames["planned"] = tables.empty("planned")
    assert {kind for kind, _ in found(frames)} == {"drift"}
    for column in ("throughput_msg_s", "send_rate_msg_s"):
        frames["messages"][column] = [4000.0, 3500.0, 3850.0]
    assert found(frames) == set()


def with_control_runs(control: Sequence[float], noise: float, seed: int) -> Frames:
    """The sound sweep with noisy throughput, and control runs at start, middle and end."""
    frames = sound()
    for turn, rate in enumerate(control, 1):
        for name in ("runs", "messages", "latency"):
            model = frames[name][frames[name]["run"] == "rpc-call-10-r1"]
            rows = model.assign(run=f"control-{turn}")
            if name == "runs":
                rows = rows.assign(control_run=turn, position=(0, 12, 25)[turn - 1])
            if name == "messages":
                rows = rows.assign(throughput_msg_s=float(rate))
            frames[name] = tables.conform(name, pd.concat([frames[name], rows]))
    usual = ~frames["messages"]["run"].str.startswith("control")
    blur = np.exp(noise * np.random.default_rng(seed).normal(size=len(frames["messages"])))
    frames["messages"].loc[usual, "throughput_msg_s"] *= blur[usual]
    return frames


def test_control_runs_that_differ_more_than_repeats_are_found() -> None:
    """They need not move in one direction: 847, 757 and 821 where repeats differ by 2 %."""
    (doubt,) = sweep.drift(with_control_runs((847, 757, 821), 0.02, seed=1))
    assert "the control runs gave 847, 757, 821 msg/sec, a spread of 5.8 %" in doubt.text
    assert doubt.run == "control-3"


def test_control_runs_as_good_as_repeats_are_no_fault() -> None:
    """The same figures where repeats differ by 6 %, and small movements, raise no doubt."""
    assert list(sweep.drift(with_control_runs((847, 757, 821), 0.06, seed=1))) == []
    assert list(sweep.drift(with_control_runs((847, 820, 830), 0.002, seed=1))) == []
    random, accused = np.random.default_rng(5), 0
    for seed in range(20):
        control = 800 * np.exp(0.05 * random.normal(size=3))
        accused += len(list(sweep.drift(with_control_runs(list(control), 0.05, seed))))
    assert accused <= 2


@pytest.mark.parametrize(
    ("rates", "doubts"),
    [
        ((100, 100, 84), ["this run's throughput is 16 % away from the median of the 3 repeats"]),
        ((100, 96, 91), []),
        ((100, 84), ["the two repeats differ by 17 % of their mean"]),
        ((100, 92), []),
        ((0, 0, 500), ["this run's throughput is 20000 msg/sec, the median of the 3 repeats 0"]),
        ((0, 0, 0), []),
        ((0, 0), []),
    ],
)
def test_every_repeat_agrees_with_the_others(rates: tuple[int, ...], doubts: list[str]) -> None:
    """A repeat that is off by more than a tenth is named, however well the others agree."""
    frames = dict(sound())
    frames["planned"] = tables.empty("planned")
    late = frames["runs"].query(f"point == 'rpc-cast-50' and repeat > {len(rates)}")["run"]
    for name in ("runs", "messages", "latency", "cpu", "intervals"):
        frames[name] = frames[name][~frames[name]["run"].isin(late)]
    of_point = frames["messages"]["point"] == "rpc-cast-50"
    for column in ("throughput_msg_s", "send_rate_msg_s"):
        frames["messages"].loc[of_point, column] = [40.0 * rate for rate in rates]
    assert [*texts_of("spread", frames).values()] == doubts


def test_a_planned_run_without_a_folder_is_missing() -> None:
    """The doubt names its repeat; a failed run is not missing."""
    frames = {
        name: frame if name == "planned" else frame[frame["run"] != "rpc-cast-50-r2"]
        for name, frame in sound().items()
        if "run" in frame
    }
    [(doubt, text)] = texts(frames).items()
    assert doubt == ("missing-run", "rpc-cast-50-r2")
    assert text.startswith(
        "1 of 3 runs that the plan asks for at point rpc-cast-50 is missing (repeat 2)"
    )
    failed = planted("runs", {"status": "failed"}, "run == 'rpc-cast-50-r2'")
    assert {kind for kind, _ in found(failed)} == {"failed-run"}


def test_unplanned_points_are_named_and_not_judged() -> None:
    """Each has one doubt, and no other rule applies to it."""
    frames = planted("messages", {"throughput_msg_s": 1.0}, "run == 'rpc-call-20-r1'")
    planned = frames["planned"]
    frames["planned"] = planned[planned["point"] != "rpc-call-20"]
    [(doubt, text)] = texts(frames).items()
    assert doubt == ("not-of-plan", "rpc-call-20-r1")
    assert "does not ask for point rpc-call-20 (window 10 s, 3 runs)" in text


@pytest.mark.parametrize(
    ("kind", "table", "values"),
    [
        ("changed-record", "runs", {"damaged": "load/client-1.messages"}),
        ("unreadable-run", "runs", {"status": "unreadable", "failure": "run.json: is missing"}),
        ("causality", "messages", {"causality_violations": 3}),
        ("record-disagrees", "messages", {"disagreements": "the load started at another time"}),
    ],
)
def test_records_of_unplanned_runs_are_checked(kind: str, table: str, values: Change) -> None:
    """A changed record may be why a run is not in the plan: one doubt hides no other."""
    frames = planted(table, values, "run == 'rpc-call-20-r2'")
    planned = frames["planned"]
    frames["planned"] = planned[planned["point"] != "rpc-call-20"]
    assert found(frames) == {("not-of-plan", "rpc-call-20-r1"), (kind, "rpc-call-20-r2")}
