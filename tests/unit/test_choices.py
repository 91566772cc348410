"""Drop-downs of notebooks: they offer what was measured, and what is chosen is shown."""

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
from mqperf.pages.sections.points import points
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


def test_another_parameter_may_be_on_x() -> None:
    """That with most values is the default; a choice changes no other view."""
    choice = offered()[0]
    assert choice.axes == {"payload_bytes": "payload, bytes", "threads": "threads"}
    before = arranged(points(choice.view.tables))
    for x, words in (("", "payload and thread count"), ("threads", "thread count and payload")):
        assert f" against {words}: " in drawn(choice.shown("points", x))
    assert arranged(points(choice.view.tables)) == before


@pytest.mark.parametrize(
    "beside", [("targets", ("own", "shared", "x")), ("pause_s", (None, 0.1, 1.0))]
)
def test_only_numbers_may_be_on_x(beside: tuple[str, tuple[object, ...]]) -> None:
    """Nor may one that some points do not have: they would be missing."""
    assert [*offered(replace(SHAPE, parameters=(beside,)))[0].axes] == ["threads"]


def test_sections_are_those_with_something_to_show() -> None:
    """Each section is in the list, and its heading in text and HTML."""
    choice = offered()[0]
    assert [*choice.sections][:2] == ["points", "messages"]
    assert {"combinations", "nodes", "seconds", "in_time"} <= {*choice.sections}
    assert not {"outages", "searches", "factors"} & {*choice.sections}
    for name in choice.sections.keys() - {"in_time"}:
        shown = choice.shown(name)
        assert choice.sections[name] in shown.text
        assert choice.sections[name] in shown.html


def test_each_change_is_shown_once() -> None:
    """Another layout keeps the choices of the first; controls without effect are disabled."""
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
    """Any recorded run can be chosen; without its record the reason is shown instead."""
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


def test_a_batch_has_no_choices(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first section is shown; a session without widgets has a hint what to install."""
    monkeypatch.delenv(SESSION, raising=False)
    explore(root / "data/samples/capacity")
    batch = capsys.readouterr().out
    assert "throughput" in batch
    monkeypatch.setenv(SESSION, "notebook.ipynb")
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    explore(samples.results(root / "data/samples/capacity"))
    hint = "to choose what is shown: pip install 'mqperf[notebook]'\n"
    assert capsys.readouterr().out == batch + hint


def test_a_folder_without_points_is_an_error(root: Path) -> None:
    """The error names the folder."""
    found = samples.complete(root / "data/samples/capacity")
    with pytest.raises(MqperfError, match="runs: no measured data to show"):
        explore(mqperf.Results(HERE, {**found, "points": found["points"].head(0)}))
