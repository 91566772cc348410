"""Drop-downs of notebooks: what they offer is what there is, and what is chosen is shown."""

import base64
import re
from dataclasses import replace
from pathlib import Path

import pytest
import samples
from factory import Shape, tables

import mqperf
from mqperf.base.errors import MqperfError
from mqperf.front.live.cell import SESSION
from mqperf.study.tables import arranged
from mqperf_notebook.front import explore as module
from mqperf_notebook.front.explore import Controls, explore
from mqperf_notebook.pages.choices import Choices, choices
from mqperf_notebook.pages.shown import Shown

pytestmark = pytest.mark.takes_long

HERE = Path("runs")
PAYLOADS = ("payload_bytes", (100, 1_000, 10_000))
SHAPE = Shape(
    layouts=(("cmsm", "classic"), ("cs1ss2", "mirrored")),
    test_cases=("rpc-call",),
    threads=(10, 50),
    repeats=1,
    parameters=(PAYLOADS,),
)


def offered(shape: Shape = SHAPE) -> list[Choices]:
    return choices(tables(shape), HERE)


def drawn(shown: Shown) -> str:
    """The first drawing of a section."""
    data = re.search(r"base64,([\w+/=]+)", shown.html)
    assert data is not None
    return base64.b64decode(data[1]).decode()


def test_another_number_may_be_on_x() -> None:
    """That with the most values is there by itself; elsewhere axes stay as they were."""
    of = offered()[0]
    assert of.axes == {"payload_bytes": "payload, bytes", "threads": "threads"}
    before = arranged(of.view.points)
    for x, words in (("", "payload and thread count"), ("threads", "thread count and payload")):
        assert f" against {words}: " in drawn(of.shown("points", x))
    assert arranged(of.view.points) == before


@pytest.mark.parametrize(
    "beside", [("targets", ("own", "shared", "x")), ("pause_s", (None, 0.1, 1.0))]
)
def test_what_is_no_number_is_not_on_x(beside: tuple[str, tuple[object, ...]]) -> None:
    """Nor is one that some points do not have: they would be missing."""
    assert [*offered(replace(SHAPE, parameters=(beside,)))[0].axes] == ["threads"]


def test_sections_are_those_with_something_to_show() -> None:
    """Each is shown, with its words and its rows."""
    of = offered()[0]
    assert [*of.sections][:2] == ["points", "messages"]
    assert {"combinations", "nodes", "seconds", "in_time"} <= {*of.sections}
    assert not {"outages", "searches", "factors"} & {*of.sections}
    for name in of.sections.keys() - {"in_time"}:
        shown = of.shown(name)
        assert of.sections[name] in shown.text
        assert of.sections[name] in shown.html


def test_each_change_is_shown_once() -> None:
    """Of another layout is shown what was chosen of the first; only what counts can be chosen."""
    controls = Controls(offered())
    seen: list[Shown] = []
    controls.show = seen.append
    controls.x.value, controls.section.value = "threads", "nodes"
    controls.layout.value = 1
    assert (controls.x.value, controls.section.value) == ("threads", "nodes")
    assert len(seen) == 3
    assert "cmsm" not in seen[-1].text
    assert "against thread count and payload" in drawn(seen[-1])
    assert (controls.x.disabled, controls.run.disabled) == (False, True)


def test_a_run_is_shown_in_time(root: Path) -> None:
    """One of those that were recorded; where its record is not there, that is said instead."""
    found = samples.results(root / "data/samples/capacity")
    texts = []
    for source in (found.source, HERE):
        controls = Controls(choices(found, source))
        controls.section.value = "in_time"
        controls.run.index = 2
        assert (controls.x.disabled, controls.run.disabled) == (True, False)
        texts.append(controls.shown().text)
    assert f"Run {controls.run.value} in time, with {controls.run.label.rpartition(',')[0]}" in (
        " ".join(texts[0].split())
    )
    assert texts[1] == "runs: cannot read the runs folder: No such file or directory"


def test_nobody_chooses_in_a_batch(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first section is shown; who could choose is told what is missing."""
    monkeypatch.delenv(SESSION, raising=False)
    explore(root / "data/samples/capacity")
    batch = capsys.readouterr().out
    assert "throughput" in batch
    monkeypatch.setenv(SESSION, "notebook.ipynb")
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    explore(samples.results(root / "data/samples/capacity"))
    hint = "to choose what is shown: pip install 'mqperf[notebook]'\n"
    assert capsys.readouterr().out == batch + hint


def test_of_nothing_nothing_is_chosen(root: Path) -> None:
    """Said with the folder."""
    found = samples.complete(root / "data/samples/capacity")
    with pytest.raises(MqperfError, match="runs: nothing was measured that could be shown"):
        explore(mqperf.Results(HERE, {**found, "points": found["points"].head(0)}))
