"""Clients are added until a server is saturated: the answer, and the proposed next run."""

import numpy as np
import pandas as pd
import pytest
from factory import Shape, tables

from mqperf.pages.questions import ANSWERS, Answer
from mqperf.pages.sections.forms import frame, plain
from mqperf.study.tables import Tables


def used(*cores: float, parameters: tuple[tuple[str, tuple[object, ...]], ...] = ()) -> Tables:
    """CALLs of 10, 20 and 50 clients, with the CPU of the busiest server, beside an idle server."""
    shape = Shape((("cmsm", "classic"),), ("rpc-call",), (10, 20, 50), parameters=parameters)
    frames = tables(shape)
    of_threads = dict(zip((10, 20, 50), cores, strict=True))
    nodes = frames["cpu"].query("scope == 'window'").drop_duplicates("run")
    busy = nodes.assign(
        kind="server", process="server-1", total_cores=nodes["threads"].map(of_threads)
    )
    idle = busy.assign(process="server-2", total_cores=0.01)
    doubts = frames["doubts"][:0]
    remaining = frames["cpu"].query("kind != 'server'")
    points = frames["points"].assign(processes=1)
    cpu = pd.concat([remaining, busy, idle])
    return {**frames, "points": points, "cpu": cpu, "doubts": doubts}


def answer(frames: Tables) -> Answer:
    value = ANSWERS["server-load"].answer(frames)
    assert value is not None
    return value


@pytest.mark.takes_long
@pytest.mark.parametrize(
    ("cores", "words", "settled"),
    [
        ((0.2, 0.6, 0.9), "20 clients (60 %) to 50 clients (90 %)", ""),
        ((0.1, 0.2, 0.3), "more than 50 clients (30 %)", "More green_threads"),
        ((0.75, 0.8, 0.9), "fewer than 10 clients (75 %)", "Fewer green_threads"),
        ((0.2, 0.75, 0.65), "10 clients (20 %) to 20 clients (75 %)", ""),
        ((0.75, 0.8, 0.65), "fewer than 10 clients (75 %)", "Fewer green_threads"),
    ],
)
def test_clients_until_a_server_is_busy(
    cores: tuple[float, float, float], words: str, settled: str
) -> None:
    """The answer has the two numbers of clients around saturation, or a bound on one side."""
    result = answer(used(*cores))
    assert [plain(text) for text in result.sentences] == [f"CALL: {words}."]
    assert " ".join(plain(text) for text in result.settle).startswith(settled)
    assert bool(result.settle) == bool(settled)


@pytest.mark.takes_long
def test_bodies_of_each_length_are_told_apart() -> None:
    """With short bodies alone, twenty clients may not saturate a server."""
    frames = used(0.2, 0.6, 0.9, parameters=(("payload_bytes", (10, 1000)),))
    points = frames["points"]
    long = frames["cpu"]["point"].isin(points.loc[points["payload_bytes"].eq(1000), "point"])
    cores = frames["cpu"]["total_cores"]
    cpu = frames["cpu"].assign(total_cores=cores.mask(long, cores * 1.5))
    assert [plain(text) for text in answer({**frames, "cpu": cpu}).sentences] == [
        "CALL (payload 10 bytes): 20 clients (60 %) to 50 clients (90 %).",
        "CALL (payload 1000 bytes): 10 clients (30 %) to 20 clients (90 %).",
    ]


def test_a_run_that_lacks_a_server_tells_of_none() -> None:
    """The server that was not sampled to the end of the window may be the busiest."""
    frames = used(0.2, 0.6, 0.9)
    cpu, runs = frames["cpu"], frames["cpu"]["run"]
    busy = cpu["process"].eq("server-1")
    torn = busy & runs.eq(runs[busy & cpu["threads"].eq(50)].iloc[0])
    for hit, share in ((torn, "90"), (busy & cpu["threads"].eq(50), None)):
        result = answer({**frames, "cpu": cpu.assign(scope=cpu["scope"].mask(hit, "interval"))})
        assert result.table is not None
        shown = frame(result.table)["busiest server, % of a core"].tolist()
        assert shown == ["20", "60", *filter(None, [share])]


def test_every_point_has_the_cpu_of_its_busiest_server() -> None:
    """It stands beside throughput and latency."""
    result = answer(used(0.2, 0.6, 0.9))
    assert result.table is not None
    assert frame(result.table)["busiest server, % of a core"].tolist() == ["20", "60", "90"]
    assert result.drawing is not None
    lines = result.drawing.figure().axes[0].lines
    drawn = [np.asarray(line.get_ydata(), dtype=float).round().tolist() for line in lines]
    assert drawn == [[20, 60, 90], [70, 70]]


def test_runs_without_servers_say_nothing() -> None:
    """Without sampled servers there is no answer."""
    frames = used(0.2, 0.6, 0.9)
    assert ANSWERS["server-load"].answer({**frames, "cpu": frames["cpu"][:0]}) is None
