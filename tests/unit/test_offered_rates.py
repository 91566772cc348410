"""Saturation points of sweeps of offered rates, and their text on pages."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from factory import Shape, tables
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from staircases import climbed
from viewed import contents

from mqperf.pages import figures, run_line
from mqperf.pages.figures import panels
from mqperf.pages.figures.palette import PAPER
from mqperf.pages.questions.saturation import answer
from mqperf.pages.report import drawings
from mqperf.pages.sections.forms import frame, plain
from mqperf.pages.sections.rate_steps import KEPT
from mqperf.record import runs
from mqperf.study.stats.bottleneck import bottlenecks
from mqperf.study.stats.offered_rates import brackets, saturation_rate, saturation_rates
from mqperf.study.stats.rules.tester import noisy_host
from mqperf.study.stats.seconds import without_seconds
from mqperf.study.tables import Tables, conform
from mqperf.study.tables.axes import SWEEP

ROOT = Path(__file__).parents[2]
RATES = (1000.0, 5000.0, 20_000.0, 40_000.0)


def curve(*throughputs: float, each: float = 1.0, limit: str = "none") -> pd.DataFrame:
    """A run at each of the rates."""
    return pd.DataFrame(
        {
            "test_case": "publish",
            "offered": RATES[: len(throughputs)],
            "throughput_msg_s": throughputs,
            "each": each,
            "kept": np.nan,
            "held": np.nan,
            "latency_mean_s": np.linspace(0.001, 0.002, len(throughputs)),
            "latency_p99_s": np.linspace(0.01, 0.04, len(throughputs)),
            "bottleneck": limit,
        }
    )


def test_it_saturates_between_the_last_rate_kept_and_the_next() -> None:
    """The saturation point is the best throughput."""
    row = saturation_rate(curve(1000, 4990, 19_800, 27_000, limit="host"))
    assert (row["kept_rate_msg_s"], row["missed_rate_msg_s"]) == (20_000, 40_000)
    assert row["saturation_rate_msg_s"] == 27_000
    assert row["kept_latency_p99_s"] == pytest.approx(0.03)
    assert row["text"].endswith("the saturation point is at 27000; what ran out there: host.")


@pytest.mark.parametrize(
    ("rates", "finished", "point"),
    [
        ((10.0, 20.0, 40.0), (10.0, 20.0, 27.26), "27.3"),
        ((1_000.0, 1_041.0, 1_049.0), (1_000.0, 1_041.0, 1_022.0), "1041"),
        ((1_000.0, 1_012.0, 1_043.0), (1_000.0, 1_012.0, 1_017.0), "1020"),
        ((10_000.0, 20_000.0, 27_280.0), (10_000.0, 20_000.0, 26_730.0), "26700"),
    ],
)
def test_it_is_rounded_to_three_digits_between_the_rates(
    rates: tuple[float, ...], finished: tuple[float, ...], point: str
) -> None:
    """The text is rounded, but stays between the rates kept and missed."""
    row = saturation_rate(curve(*finished).assign(offered=rates))
    assert row["text"].endswith(f"the saturation point is at {point}.")


def test_a_collapse_does_not_move_it_out_of_the_bracket() -> None:
    """Throughput may fall beyond saturation; the kept rate stays kept."""
    row = saturation_rate(curve(1000, 5000, 20_000, 9_000))
    assert row["saturation_rate_msg_s"] == 20_000


def test_deliveries_are_counted_as_often_as_they_are_due() -> None:
    """With two deliveries each, 20,000 a second are all of 10,000 messages."""
    row = saturation_rate(curve(2000, 10_000, 30_000, each=2.0))
    assert (row["kept_rate_msg_s"], row["missed_rate_msg_s"]) == (5000, 20_000)
    assert row["saturation_rate_msg_s"] == 15_000


@pytest.mark.parametrize(
    ("throughputs", "kept", "missed", "words"),
    [
        ((1000, 4950, 19_700), 20_000, None, "keeps up with 20000 msg/sec, the most"),
        ((900, 1000, 1000), None, 1000, "Even 1000 msg/sec, the least"),
        ((1000, 4000, 20_000, 21_000), 20_000, 40_000, "and not with 40000"),
    ],
)
def test_the_ends_of_a_sweep_are_bounds(
    throughputs: tuple[float, ...], kept: float | None, missed: float | None, words: str
) -> None:
    """If all or no rates are kept the text gives a bound; one miss in between is ignored."""
    row = saturation_rate(curve(*throughputs))
    assert (row["kept_rate_msg_s"], row["missed_rate_msg_s"]) == (kept, missed)
    assert words in row["text"]


def swept(kinds: tuple[str, ...] = ("direct", "fanout"), repeats: int = 2) -> Tables:
    """Runs at all rates for each type of exchange; fan-outs saturate at 10,000."""
    keys = {"system": "rabbitmq", "topology": "cmsm", "queues": "classic", "threads": 1}
    runs, messages = [], []
    for kind in kinds:
        for rate in RATES:
            for repeat in range(1, repeats + 1):
                point = f"{kind}-{rate:g}"
                key = keys | {"run": f"{point}-{repeat}", "point": point, "repeat": repeat}
                key |= {"test_case": "publish"}
                runs.append(key | {"status": "done", "rate_msg_s": rate, "exchange_type": kind})
                done = min(rate, 10_000.0 if kind == "fanout" else 30_000.0)
                counts = {"sent": round(rate) * 5, "throughput_msg_s": done}
                messages.append(key | counts | {"send_rate_msg_s": rate})
    return {
        "runs": conform("runs", pd.DataFrame(runs)),
        "messages": conform("messages", pd.DataFrame(messages)),
        "latency": conform("latency", pd.DataFrame()),
    }


def limits(frames: Tables) -> pd.DataFrame:
    return pd.DataFrame({"run": frames["runs"]["run"], "bottleneck": "broker: Master"})


def test_each_of_what_else_varies_has_a_row() -> None:
    """Each value of another parameter has a row; repeats are combined."""
    frames = swept()
    rows = saturation_rates(frames, limits(frames))
    assert rows["exchange_type"].tolist() == ["direct", "fanout"]
    assert rows["saturation_rate_msg_s"].tolist() == [30_000, 10_000]
    assert rows["limit"].tolist() == ["broker: Master"] * 2
    assert rows["text"].str.startswith("With exchange type").all()


def test_a_rate_is_not_kept_where_a_run_ended_early() -> None:
    """A run that failed its condition misses the rate, whatever arrived before."""
    frames = swept(("direct",))
    runs = frames["runs"]
    ended = runs["rate_msg_s"].ge(RATES[2]) & runs["repeat"].eq(1)
    runs = runs.assign(condition_failed=runs["run"].where(ended))
    [row] = saturation_rates({**frames, "runs": runs}, limits(frames)).to_dict("records")
    assert (row["kept_rate_msg_s"], row["missed_rate_msg_s"]) == (RATES[1], 30_000)


@pytest.mark.parametrize(("sent", "missed"), [(0, RATES[2]), (pd.NA, np.nan)])
def test_a_rate_without_messages_is_not_kept(sent: object, missed: float) -> None:
    """An unknown count is not taken as a missed rate."""
    frames = swept(("direct",))
    hit = frames["runs"]["rate_msg_s"].ge(RATES[2])
    messages = frames["messages"]
    nothing = {"sent": sent, "throughput_msg_s": 0.0}
    changed = {name: messages[name].mask(hit, value) for name, value in nothing.items()}
    frames = {**frames, "messages": messages.assign(**changed)}
    [row] = saturation_rates(frames, limits(frames)).to_dict("records")
    assert row["kept_rate_msg_s"] == RATES[1]
    assert row["missed_rate_msg_s"] == pytest.approx(missed, nan_ok=True)


@pytest.mark.parametrize(
    ("points", "doubted"),
    [
        (["direct-20000"], ["tester-saturated, noisy-host", ""]),
        (["direct-40000", "fanout-20000"], ["noisy-host", "noisy-host"]),
        (["direct-1000", "fanout-40000"], ["", ""]),
    ],
)
def test_doubts_of_both_ends_are_reported(points: list[str], doubted: list[str]) -> None:
    """Both rates of the bracket count; of a missed rate only doubts about the host."""
    frames = swept()
    rates = saturation_rates(frames, limits(frames))
    kinds = ["tester-saturated", "noisy-host"]
    doubts = pd.DataFrame({"point": points}).merge(pd.DataFrame({"kind": kinds}), how="cross")
    new = {"saturation_rates": rates, "doubts": conform("doubts", doubts)}
    rows = brackets({**frames, **new, "rate_steps": conform("rate_steps", pd.DataFrame())})
    assert rows["doubted"].fillna("").tolist() == doubted
    assert rows["kept_rate_msg_s"].tolist() == rates["kept_rate_msg_s"].tolist()


def test_doubts_of_all_runs_of_a_staircase_are_reported() -> None:
    """Of each repeat, and of each point if staircases start at different rates."""
    frames = stairs(0, 1, 3, 200)
    runs = pd.concat([frames["runs"], frames["runs"].assign(run="b", point="b", rate_msg_s=50.0)])
    steps = pd.concat([frames["rate_steps"], frames["rate_steps"].assign(run="b")])
    rates = saturation_rates(frames, limits(frames))
    doubts = conform("doubts", pd.DataFrame({"point": ["b"], "kind": "lost"}))
    new = {"runs": runs, "rate_steps": steps, "saturation_rates": rates, "doubts": doubts}
    assert brackets({**frames, **new})["doubted"].tolist() == ["lost"]


def test_staircases_of_each_system_are_lines_of_their_own() -> None:
    """Lines are labelled by system, are means of repeats, and are hollow if doubted."""
    frames = stairs(0, 1, 3, 9)
    keys = ["run", "point", *SWEEP, "threads"]
    steps = frames["rate_steps"].drop(columns=keys[1:]).merge(frames["runs"][keys], on="run")
    other = steps.assign(run="b", point="b", system="artemis", latency_mean_s=0.002)
    rows = pd.concat([steps, other, other.assign(run="c", latency_mean_s=0.004)])
    drawn = drawings.rates("Steps", rows, "step_rate_msg_s", "latency_mean_s", {"b": "lost"})
    [axes] = drawn.figure().axes
    named = {str(line.get_label()): line for line in axes.lines}
    lines = {label.rpartition(" ")[2]: line for label, line in named.items() if label[0] != "_"}
    assert {name: heights(line) for name, line in lines.items()} == {
        "artemis": {3.0},
        "rabbitmq": {1.0},
    }
    [hollow] = [line for line in axes.lines if line.get_markerfacecolor() == PAPER.light]
    assert heights(hollow) == {3.0}
    assert axes.get_title(loc="left").endswith(" mean latency, ms")


def test_staircases_of_each_number_of_threads_are_lines_of_their_own() -> None:
    """If nothing else varies in a layout."""
    frames = stairs(0, 1, 3, 9)
    keys = ["run", "point", *SWEEP, "threads"]
    steps = frames["rate_steps"].drop(columns=keys[1:]).merge(frames["runs"][keys], on="run")
    rows = pd.concat([steps.assign(threads=1), steps.assign(run="b", point="b", threads=8)])
    [axes] = drawings.rates("Steps", rows, "step_rate_msg_s", "latency_mean_s", {}).figure().axes
    assert [line.get_label() for line in axes.lines] == ["1 thread", "8 threads"]
    assert {line.get_linestyle() for line in axes.lines} == {"-"}


def heights(line: Line2D) -> set[float]:
    return {float(height) for height in np.asarray(line.get_ydata())}


def test_an_end_that_is_not_known_is_drawn_as_none() -> None:
    """An arrow replaces the missing end, and no mark is at NaN."""
    ends = {"kept_rate_msg_s": [50.0, 50.0, np.nan], "missed_rate_msg_s": [100.0, np.nan, 100.0]}
    rows = pd.DataFrame({"what": list("abc"), **ends})
    (axes,) = figures.bracket_sheet(rows, "kept_rate_msg_s", "missed_rate_msg_s").axes
    marks = [line for line in axes.lines if line.get_marker() in {"o", "<", ">"}]
    assert [mark.get_marker() for mark in marks] == ["o", ">", "<"]
    assert not any("nan" in str(mark.get_gid()) for mark in marks)


def test_a_page_has_a_row_for_each() -> None:
    """Only the column that distinguishes the rows is shown."""
    frames = swept()
    rows = saturation_rates(frames, limits(frames))
    new = {"saturation_rates": rows, "rate_steps": conform("rate_steps", pd.DataFrame())}
    [content] = contents({**frames, **new}, "saturation_rates", "publish")
    table = frame(content)
    assert table.columns[0] == "exchange type"
    assert table["exchange type"].tolist() == ["direct", "fanout"]
    assert content.words[0].startswith("An offered rate is kept if 98 % of its deliveries")
    assert len(content.words) == 1


def test_a_page_has_the_rule_by_which_steps_are_kept() -> None:
    """Steps are judged by what is left unfinished, not by a share."""
    frames = stairs(0, 1, 3, 9)
    rows = saturation_rates(frames, limits(frames))
    [content] = contents({**frames, "saturation_rates": rows}, "saturation_rates", "rpc-cast")
    assert content.words[0] == KEPT
    assert "98 %" not in " ".join(content.words)


@pytest.mark.takes_long
@pytest.mark.parametrize(
    ("steps", "words"),
    [
        (4, "It keeps up with 400 msg/sec, and not with 800, doubts: cpu-sum, probe-gap"),
        (1, "1253.7 msg/sec, p99 25.5 ms, doubts: cpu-sum, probe-gap"),
    ],
)
def test_a_line_of_a_run_has_the_steps_that_it_kept(
    steps: int, words: str, monkeypatch: pytest.MonkeyPatch, root: Path
) -> None:
    """A run stopped in its first step has its figures; both give the failed condition."""
    frames = stairs(*[0, 1, 3, 200][:steps])
    why = ["latency p99 of 9 ms"]
    cut = frames["runs"].assign(condition_failed=why)
    frames = {**frames, "runs": cut, "doubts": frames["doubts"][:0]}
    monkeypatch.setattr("mqperf.study.tables.of_runs", lambda _runs: frames)
    [*_, run] = runs(root / "data/samples/runs")
    line = run_line.of_run(run)
    assert line.startswith(words)
    assert line.endswith("; condition failed, window of 8 s: latency p99 of 9 ms")


def test_rates_without_latency_are_an_empty_panel() -> None:
    """A broker that finishes nothing within a run leaves rates of which no latency is known."""
    steps = climbed(*[(400.0,)] * 2)["rate_steps"].assign(latency_mean_s=np.nan)
    drawing = drawings.rates("Latency", steps, "step_rate_msg_s", "latency_mean_s", ())
    assert not any(axes.lines for axes in drawing.draw().axes)
    assert drawing.alt.startswith("Mean latency, not measured, against")


def test_without_offered_rates_there_is_none() -> None:
    """Neither unpaced loads nor a single rate have a saturation point."""
    frames = swept()
    unpaced = {**frames, "runs": frames["runs"].drop(columns="rate_msg_s")}
    assert saturation_rates(unpaced, limits(frames)).empty
    first = frames["runs"]["rate_msg_s"] == RATES[0]
    single = {**frames, "runs": frames["runs"][first]}
    assert saturation_rates(single, limits(frames)).empty


def test_what_was_offered_stands_beside_the_curve() -> None:
    """A dotted line of offered rates, and the saturation point of a single sweep."""
    frames = swept(kinds=("direct",))
    points = (
        frames["runs"]
        .drop_duplicates("point")
        .merge(frames["messages"].groupby("point")["throughput_msg_s"].mean(), on="point")
    )
    rates = saturation_rates(frames, limits(frames))
    axes = panels.throughput(points, Figure().subplots(), saturation_points=rates)
    [offered] = [artist for artist in axes.collections if artist.get_label() == "as offered"]
    [line] = offered.get_paths()
    vertices = np.asarray(line.vertices)
    assert (vertices[:, 0] == vertices[:, 1]).all()
    assert axes.get_ylim()[1] < RATES[-1]
    assert [text.get_text() for text in axes.texts] == ["saturation point 30,000"]
    assert len(axes.patches) == 1


def stairs(*unfinished: int, latency_s: float = 0.001) -> Tables:
    """Steps of 100, 200, 400 ... msg/sec, a second each, with the unfinished messages of each."""
    shape = Shape(layouts=(("cmsm", "classic"),), test_cases=("rpc-cast",), threads=(10,))
    frames = tables(shape)
    run = frames["runs"]["run"].iloc[0]
    rates = [100.0 * 2**step for step in range(len(unfinished))]
    rows = pd.DataFrame(
        {
            "run": run,
            "step_rate_msg_s": rates,
            "from_s": range(len(rates)),
            "until_s": range(1, len(rates) + 1),
            "throughput_msg_s": rates - np.diff(unfinished, prepend=0),
            "unfinished": unfinished,
            "latency_mean_s": latency_s,
            "latency_min_s": latency_s if latency_s < 1 else 0.001,
        }
    )
    paced = frames["runs"].assign(rate_msg_s=100.0, ramp_steps=len(rates))
    new = {"runs": paced, "rate_steps": conform("rate_steps", rows)}
    kept = {name: frame[frame["run"].eq(run)] for name, frame in frames.items() if "run" in frame}
    return {**frames, **kept, **{name: frame[frame["run"].eq(run)] for name, frame in new.items()}}


ON_ITS_WAY = [20, 40, 80, 160]
"""Unfinished messages of steps with a latency of 0.2 s."""


IN_A_BACKLOG = [80, 250, 640, 1400]
"""Unfinished messages of steps with a latency of 5 s because of a growing backlog."""

FAR_AWAY = [75, 150, 300, 600]
"""Unfinished messages of steps whose messages all take 0.75 s."""

LATENCIES = {tuple(ON_ITS_WAY): 0.2, tuple(FAR_AWAY): 0.75, tuple(IN_A_BACKLOG): 5.0}


@pytest.mark.takes_long
@pytest.mark.parametrize(
    ("unfinished", "kept", "missed"),
    [
        pytest.param([0, 1, 3, 9], 800, None, id="all of them"),
        pytest.param([0, 1, 3, 200], 400, 800, id="what is left of the last"),
        pytest.param([0, 1, 60, 460], 200, 400, id="not worked off in the next"),
        pytest.param([0, 1, 60, 120], 200, 740, id="more is finished in the next"),
        pytest.param([0, 1, 400, 300], 200, 800, id="more than was offered is finished at last"),
        pytest.param([0, 1, 3, 60], 750.8, None, id="a pause of less than 0.1 s"),
        pytest.param(ON_ITS_WAY, 800, None, id="on its way"),
        pytest.param([50, 1, 1, 1], 800, None, id="a slow beginning"),
        pytest.param([0, 1, 60, 20], 800, None, id="worked off in the next"),
        pytest.param([50, 90, 200, 400], None, 600, id="none of them"),
        pytest.param(FAR_AWAY, 800, None, id="half of the time and more on its way"),
        pytest.param(IN_A_BACKLOG, None, 100, id="a backlog from the first on"),
    ],
)
def test_a_step_is_kept_where_nothing_is_left_of_it(
    unfinished: list[int],
    kept: float | None,
    missed: float | None,
) -> None:
    """Except messages in flight and pauses; if a later step finishes more, it counts."""
    found = stairs(*unfinished, latency_s=LATENCIES.get(tuple(unfinished), 0.001))
    nobody = pd.DataFrame({"run": found["runs"]["run"], "bottleneck": "none"})
    [row] = saturation_rates(found, nobody).to_dict("records")
    ends = (row["kept_rate_msg_s"], row["missed_rate_msg_s"])
    assert [None if pd.isna(end) else end for end in ends] == [kept, missed]


def settled(frames: Tables) -> list[str]:
    """The sentences on what would settle the rates of these tables."""
    rates = saturation_rates(frames, limits(frames))
    value = answer({**frames, "saturation_rates": rates, "doubts": conform("doubts", NOTHING)})
    assert value is not None
    return [plain(text) for text in value.settle]


NOTHING = pd.DataFrame()

PAUSE = "A pause may have ended 1 {} early: a higher rate finished more than the first one that"


def test_only_a_later_step_indicates_a_pause() -> None:
    """The first missed step may finish more than its rate from its backlog."""
    early = stairs(0, 1, 60, 120)
    assert any(text.startswith(PAUSE.format("staircase")) for text in settled(early))
    thrice = {**early, "runs": early["runs"].assign(repeat=3)}
    assert not any("pause" in text for text in settled(thrice))
    frames = stairs(0, 1, 3, 200)
    steps = frames["rate_steps"]
    more = steps["throughput_msg_s"].mask(steps["step_rate_msg_s"].eq(800), 820.0)
    caught_up = {**frames, "rate_steps": steps.assign(throughput_msg_s=more)}
    [row] = saturation_rates(caught_up, limits(frames)).to_dict("records")
    assert row["missed_rate_msg_s"] == 800
    assert not any("pause" in text for text in settled(caught_up))


def test_a_sweep_by_runs_is_no_staircase() -> None:
    """The hint for an early pause speaks of the sweep."""
    frames = swept(("direct",))
    messages = frames["messages"]
    behind = messages["point"].eq("direct-5000")
    fewer = messages.assign(throughput_msg_s=messages["throughput_msg_s"].mask(behind, 1000.0))
    kept = messages["point"].isin(["direct-20000", "direct-40000"])
    fewer = fewer.assign(throughput_msg_s=fewer["throughput_msg_s"].mask(kept, 15_000.0))
    points = frames["runs"].drop_duplicates("point").assign(latency_p99_s=np.nan)
    steps = conform("rate_steps", NOTHING)
    texts = settled({**frames, "messages": fewer, "points": points, "rate_steps": steps})
    assert any(text.startswith(PAUSE.format("sweep")) for text in texts)


def sampled(frames: Tables, *, other_cores: float) -> Tables:
    """CPU by the second: half of two cores, and both in the last three seconds.

    Of the latter other programs use this many cores.
    """
    [run], seconds = frames["runs"]["run"], len(frames["rate_steps"])
    used = {"host": ([1.0] * seconds, 2.0), "Master": ([0.5] * seconds, 1.0 - other_cores)}
    used |= {name: ([0.25] * seconds, 0.5) for name in ("client-1", "server-1")}
    kinds = {"host": "host", "Master": "broker", "client-1": "client", "server-1": "server"}
    rows = []
    for process, (calm, full) in used.items():
        cores = [*calm[:-3], *[full] * 3]
        key = {"run": run, "process": process, "kind": kinds[process], "host": "one", "cores": 2}
        rows += [
            {**key, "scope": "interval", "start_s": at, "end_s": at + 1, "total_cores": total}
            for at, total in enumerate(cores)
        ]
        over = {"scope": "window", "start_s": 0, "end_s": seconds}
        rows.append({**key, **over, "total_cores": float(np.mean(cores))})
    return {**frames, "cpu": conform("cpu", pd.DataFrame(rows))}


@pytest.mark.takes_long
@pytest.mark.parametrize(
    ("unfinished", "other_cores", "limit", "noisy"),
    [
        pytest.param([0] * 12, 0.0, "none", False, id="all kept"),
        pytest.param([0] * 9 + [9000, 20_000, 60_000], 0.0, "host", False, id="the host is full"),
        pytest.param([0] * 9 + [9000, 20_000, 60_000], 0.5, "host", True, id="others use it"),
    ],
)
def test_cpu_is_judged_over_the_missed_steps(
    unfinished: list[int], other_cores: float, limit: str, *, noisy: bool
) -> None:
    """Only the missed steps count: over the whole staircase most of the host is idle.

    The result is the same without the rows of single seconds.
    """
    frames = sampled(stairs(*unfinished), other_cores=other_cores)
    for either in (frames, without_seconds(frames)):
        [verdict] = bottlenecks(either)["bottleneck"]
        assert verdict == limit
        assert bool([*noisy_host(either)]) == noisy
