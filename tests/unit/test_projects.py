"""First steps of a user: shipped plans and samples by name."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from mqperf.base import packages
from mqperf.base import shipped as shipped_parts
from mqperf.base.errors import InstallError, PlanError, TableError
from mqperf.base.shipped import plan_file, runs_folder, shipped
from mqperf.front.cli import app
from mqperf.plan.file import load_plan
from mqperf_projects.front.listing import every_plan, question

PLAN = """\
systems: {rabbitmq: {topologies: [cmsm]}}
test_cases: [rpc-call]
load: {green_threads: [1], duration_s: 1}
"""


def test_every_plan_is_listed_with_question_and_time(root: Path) -> None:
    """All plans of the repository, the shortest first, with a sentence and minutes."""
    plans = every_plan()
    assert {plan.name for plan in plans} == {file.stem for file in root.glob("plans/*.yaml")}
    assert [plan.name for plan in plans if not plan.question.endswith((".", "?"))] == []
    seconds = [plan.seconds for plan in plans]
    assert None not in seconds
    assert seconds == sorted(filter(None, seconds))
    printed = CliRunner().invoke(app, ["plans"]).output
    assert "smoke                        1 min  Whether everything is there, in a minute" in printed


def test_a_question_is_a_sentence_of_its_comment() -> None:
    """Dots within names do not end it; without a comment it is empty."""
    assert question("# Of RabbitMQ 3.10, in\n# plans/a.yaml. More.\ntitle: A. B.\n") == (
        "Of RabbitMQ 3.10, in plans/a.yaml."
    )
    assert question("title: A.\n") == ""


def test_a_plan_lists_the_packages_that_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans with missing packages are last, name them, and have no time."""
    monkeypatch.setattr(packages, "find_spec", lambda name: name != "mqperf_amqp_0_9_1" or None)
    plans = {plan.name: plan for plan in every_plan()}
    assert plans["search-quick"].missing == ["mqperf-amqp-0-9-1"]
    assert plans["search-quick"].seconds is None
    assert plans["quickstart"].missing == []
    assert [*plans].index("search-quick") > [*plans].index("rabbitmq")


def test_a_shipped_plan_is_taken_by_its_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, root: Path
) -> None:
    """An existing file takes precedence, a folder of that name does not."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sample").mkdir()
    for name in ("smoke", "sample", "amqp-1.0-quick"):
        shipped, in_clone = load_plan(Path(name)), load_plan(root / f"plans/{name}.yaml")
        assert shipped.model_dump() == in_clone.model_dump()
    (tmp_path / "smoke").write_text(PLAN)
    assert load_plan(Path("smoke")).title == "smoke"
    assert plan_file(Path("data/smoke")) == Path("data/smoke")


def test_an_unknown_name_has_a_suggestion() -> None:
    """Names with a suffix are missing files."""
    with pytest.raises(PlanError, match="unknown shipped plan 'smok'; did you mean 'smoke'"):
        load_plan(Path("smok"))
    with pytest.raises(PlanError, match=r"smoke\.yaml: cannot read the plan: No such file"):
        load_plan(Path("smoke.yaml"))


def test_a_shipped_plan_is_printed_to_the_letter(root: Path) -> None:
    """A copy of it can be edited."""
    printed = CliRunner().invoke(app, ["plans", "quickstart"]).output
    assert printed == (root / "plans/quickstart.yaml").read_text()


def test_a_sample_is_taken_by_its_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, root: Path
) -> None:
    """Existing folders take precedence; without samples the error names their package."""
    monkeypatch.chdir(tmp_path)
    for name in ("samples/wan", "data/samples/wan"):
        assert runs_folder(Path(name)) == root / "data/samples/wan"
    assert CliRunner().invoke(app, ["audit", "samples/faults"]).output == "no doubts\n"
    for name in ("samples", "samples/wam"):
        with pytest.raises(TableError, match=rf"{name}: there are samples/.*, samples/wan$"):
            runs_folder(Path(name))
    (tmp_path / "samples/runs").mkdir(parents=True)
    for name in ("samples/runs", "mine/samples/wan"):
        assert runs_folder(Path(name)) == Path(name)
    monkeypatch.setattr(shipped_parts, "PACKAGE", tmp_path / "mqperf")
    with pytest.raises(InstallError, match="not there; recorded runs come with mqperf-samples"):
        runs_folder(Path("samples/wan"))


def test_notebooks_are_shipped_too(root: Path) -> None:
    """In a checkout they are in its top folder."""
    assert shipped("notebooks") == root / "notebooks"
