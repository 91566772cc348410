"""What a grid of links is asked, and its answer: delays of a link against losses of packets."""

import pytest
from factory import Shape, tables
from said import sample

from mqperf.pages.questions import ANSWERS, Answer
from mqperf.pages.sections.forms import frame, plain
from mqperf.study.stats import complete
from mqperf.study.tables import Tables

AXES = (("delay_s", (0.0, 0.1)), ("loss_share", (0.0, 0.05, 0.25)))
SLOWER = {(0.0, 0.0): 1, (0.0, 0.05): 3, (0.0, 0.25): 5, (0.1, 0.0): 2, (0.1, 0.05): 8}
"""By which factor links are slower, but for the one over which nothing came to its end."""


def over(axes: tuple[tuple[str, tuple[object, ...]], ...], *cases: str) -> Tables:
    """Test cases over such links, three times each."""
    return tables(Shape((("cmsm", "classic"),), cases or ("rpc-call",), (10,), parameters=axes))


@pytest.fixture(scope="module")
def grid() -> Tables:
    """CALLs over six links, of which the worst let no run come to its end."""
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
    """Sentences tell the ends of the grid; the table has each link against the best one."""
    said = answer(grid)
    texts = [plain(text).partition("; doubted")[0].rstrip(".") for text in said.sentences]
    assert texts == [
        "no delay, no loss: a message takes 14.2 ms, 705 msg/sec",
        "round trip 200 ms, no loss: 2 (1.94 to 2.07) times",
        "no delay, loss 25 %: 5 (4.84 to 5.17) times",
        "round trip 200 ms, loss 25 %: no run came to its end",
    ]
    assert said.table is not None
    latency = frame(said.table)[:2].to_numpy().tolist()
    assert latency == [
        ["latency, times", "0", "1: 14.2 ms", "3 (2.9 to 3.1)", "5 (4.84 to 5.17)"],
        ["latency, times", "200", "2 (1.94 to 2.07)", "8 (7.74 to 8.27)", "no run"],
    ]


def test_runs_in_which_nothing_came_are_no_failed_ones(grid: Tables) -> None:
    """They were measured to their end; what failed may have failed for any reason."""
    runs = {**grid, "runs": grid["runs"].assign(status="done")}
    assert plain(answer(runs).sentences[3]).endswith("loss 25 %: no message came to its end.")


@pytest.mark.parametrize("delay_s", [0.1, 0.0])
def test_latencies_that_clocks_made_negative_are_not_known(delay_s: float) -> None:
    """Though messages came: on one link, or on that which the others are compared with."""
    frames = {**over(AXES, "rpc-cast")}
    here = frames["runs"].loc[frames["runs"]["delay_s"].eq(delay_s), "run"]
    latency = frames["latency"]
    below = latency["latency_mean_s"].mask(latency["run"].isin(here), -0.001)
    frames["latency"] = latency.assign(latency_mean_s=below)
    said = answer(complete(frames))
    texts = [plain(text) for text in said.sentences]
    assert ": not known" in texts[3]
    assert not any("came to its end" in text for text in texts)
    assert (said.drawing is None) == (not delay_s)


def test_what_is_left_of_several_grids_is_named() -> None:
    """With its doubts, where the least link of another grid was not measured."""
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
    """Round trips below each other, losses beside each other; what failed has no number."""
    drawing = answer(grid).drawing
    assert drawing is not None
    (axes,) = drawing.figure().axes
    assert [text.get_text() for text in axes.texts] == ["1", "3", "5", "2", "8"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "5", "25"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["0", "200"]


def test_each_test_case_has_a_grid_of_its_own() -> None:
    """A CAST is compared with CASTs: each sentence and row says which."""
    said = answer(over(AXES, "rpc-call", "rpc-cast"))
    assert "(CALL)" in said.sentences[0]
    assert "(CAST)" in said.sentences[4]
    assert said.table is not None
    assert frame(said.table)["of"].tolist() == ["CALL"] * 4 + ["CAST"] * 4


def test_only_a_grid_asks() -> None:
    """Neither delays alone nor conditions ask it, and neither has an answer to it."""
    for frames in (over(AXES[:1]), sample("wan")):
        assert not ANSWERS["link-grid"].asked(frames)
    assert ANSWERS["link-grid"].answer(over(AXES[:1])) is None
    assert ANSWERS["link-grid"].asked(over(AXES))
