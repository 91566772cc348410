"""The question about a grid of links: delays of a link against losses of packets."""

import pytest
from factory import Shape, tables
from replies import sample

from mqperf.pages.questions import ANSWERS, Answer
from mqperf.pages.sections.forms import frame, plain
from mqperf.study.stats import complete
from mqperf.study.tables import Tables

pytestmark = pytest.mark.takes_long

AXES = (("delay_s", (0.0, 0.1)), ("loss_share", (0.0, 0.05, 0.25)))
SLOWER = {(0.0, 0.0): 1, (0.0, 0.05): 3, (0.0, 0.25): 5, (0.1, 0.0): 2, (0.1, 0.05): 8}
"""The factor by which each link is slower; no message finished over the last link."""


def over(axes: tuple[tuple[str, tuple[object, ...]], ...], *cases: str) -> Tables:
    """Test cases over these links, three repeats each."""
    return tables(Shape((("cmsm", "classic"),), cases or ("rpc-call",), (10,), parameters=axes))


@pytest.fixture(scope="module")
def grid() -> Tables:
    """CALLs over six links; all runs over the worst one failed."""
    frames = over(AXES)
    runs = frames["runs"].set_index("run")
    links = {run: (row["delay_s"], row["loss_share"]) for run, row in runs.iterrows()}
    failed = {run for run, link in links.items() if link not in SLOWER}
    runs.loc[[*failed], "status"] = "failed"
    latency = frames["latency"][~frames["latency"]["run"].isin(failed)].copy()
    latency["latency_mean_s"] *= latency["run"].map(links).map(SLOWER)
    messages = frames["messages"][~frames["messages"]["run"].isin(failed)]
    changed = {"runs": runs.reset_index(), "latency": latency, "messages": messages}
    return complete({**frames, **changed})


def answer(frames: Tables) -> Answer:
    value = ANSWERS["link-grid"].answer(frames)
    assert value is not None
    return value


def test_every_link_has_its_factor(grid: Tables) -> None:
    """Sentences have the corners of the grid; the table compares each link with the best."""
    value = answer(grid)
    texts = [plain(text).partition("; doubted")[0].rstrip(".") for text in value.sentences]
    assert texts == [
        "no delay, no loss: a message takes 14.2 ms, 705 msg/sec",
        "round trip 200 ms, no loss: 2 (1.94 to 2.07) times",
        "no delay, loss 25 %: 5 (4.84 to 5.17) times",
        "round trip 200 ms, loss 25 %: no run finished",
    ]
    assert value.table is not None
    latency = frame(value.table)[:2].to_numpy().tolist()
    assert latency == [
        ["latency, times", "0", "1: 14.2 ms", "3 (2.9 to 3.1)", "5 (4.84 to 5.17)"],
        ["latency, times", "200", "2 (1.94 to 2.07)", "8 (7.74 to 8.27)", "no run"],
    ]


def test_runs_without_messages_are_no_failed_runs(grid: Tables) -> None:
    """Runs without a finished message are reported differently from failed runs."""
    runs = {**grid, "runs": grid["runs"].assign(status="done")}
    assert plain(answer(runs).sentences[3]).endswith("loss 25 %: no message finished.")


@pytest.mark.parametrize("delay_s", [0.1, 0.0])
def test_negative_latencies_are_unknown(delay_s: float) -> None:
    """On one link, or on the baseline of the comparison."""
    frames = {**over(AXES, "rpc-cast")}
    here = frames["runs"].loc[frames["runs"]["delay_s"].eq(delay_s), "run"]
    latency = frames["latency"]
    below = latency["latency_mean_s"].mask(latency["run"].isin(here), -0.001)
    frames["latency"] = latency.assign(latency_mean_s=below)
    value = answer(complete(frames))
    texts = [plain(text) for text in value.sentences]
    assert ": not known" in texts[3]
    assert not any("finished" in text for text in texts)
    assert (value.drawing is None) == (not delay_s)


def test_what_is_left_of_several_grids_is_named() -> None:
    """A grid without its baseline is left out; the other is named, with its doubts."""
    frames = {**over((*AXES, ("payload_bytes", (10, 1000))))}
    runs = frames["runs"]
    lost = runs[runs["delay_s"].eq(0) & runs["loss_share"].eq(0) & runs["payload_bytes"].eq(10)]
    frames["runs"] = runs.assign(status=runs["status"].mask(runs.index.isin(lost.index), "failed"))
    for name in ("messages", "latency"):
        frames[name] = frames[name][~frames[name]["run"].isin(lost["run"])]
    first = plain(answer(complete(frames)).sentences[0])
    assert first.startswith("no delay, no loss (payload 1000 bytes): a message takes ")
    assert "msg/sec; doubted: " in first


def test_map_has_a_cell_for_each_link(grid: Tables) -> None:
    """Rows are round trips, columns are losses; failed cells have no number."""
    drawing = answer(grid).drawing
    assert drawing is not None
    (axes,) = drawing.figure().axes
    assert [text.get_text() for text in axes.texts] == ["1", "3", "5", "2", "8"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "5", "25"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["0", "200"]


def test_each_test_case_has_a_grid_of_its_own() -> None:
    """CASTs are compared with CASTs: each sentence and row names the test case."""
    value = answer(over(AXES, "rpc-call", "rpc-cast"))
    assert "(CALL)" in value.sentences[0]
    assert "(CAST)" in value.sentences[4]
    assert value.table is not None
    assert frame(value.table)["of"].tolist() == ["CALL"] * 4 + ["CAST"] * 4


def test_only_a_grid_asks() -> None:
    """Delays alone or conditions neither raise the question nor have an answer to it."""
    for frames in (over(AXES[:1]), sample("wan")):
        assert not ANSWERS["link-grid"].asked(frames)
    assert ANSWERS["link-grid"].answer(over(AXES[:1])) is None
    assert ANSWERS["link-grid"].asked(over(AXES))
