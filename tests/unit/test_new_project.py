"""A new project: a plan with the requested values, and notebooks for its runs."""

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from mqperf.base.errors import MqperfError
from mqperf.front.cli import app
from mqperf.lab.systems.in_plans import problems_of
from mqperf.plan.file import load_plan, parse_plan
from mqperf.plan.questions import QUESTIONS
from mqperf_projects.front.questions import TEMPLATES, plan_text

each_question = pytest.mark.parametrize("question", TEMPLATES)


def create(folder: Path, *words: str) -> None:
    if error := CliRunner().invoke(app, ["new", str(folder), *words]).exception:
        raise error


def test_every_question_has_a_template() -> None:
    """Questions of packages have none; the help lists all templates."""
    assert {*TEMPLATES} == {*QUESTIONS.own}
    text = " ".join(
        CliRunner().invoke(app, ["new", "--help"], env={"COLUMNS": "400"}).output.split()
    )
    assert [name for name in TEMPLATES if name not in text] == []


@each_question
def test_a_project_has_a_plan_of_its_question(question: str, tmp_path: Path) -> None:
    """A plan of at most 12 lines, folders, README, CI workflow and notebooks."""
    create(tmp_path / "ours", "--question", question)
    file = tmp_path / f"ours/{question}.yaml"
    assert load_plan(file, problems_of).question == (question,)
    assert len(file.read_text().splitlines()) <= 12
    for name in ("data", "reports", ".gitignore", ".github/workflows/measure.yml"):
        assert (tmp_path / "ours" / name).exists()
    assert (tmp_path / "ours/README.md").read_text().startswith("# ours\n")
    texts = [path.read_text() for path in (tmp_path / "ours").rglob("*") if path.is_file()]
    assert not any("@QUESTION@" in text for text in texts)
    notebooks = [*(tmp_path / "ours/notebooks").glob("*.ipynb")]
    assert notebooks
    for notebook in notebooks:
        cells = json.loads(notebook.read_text())["cells"]
        [parameters] = [cell for cell in cells if "parameters" in cell["metadata"].get("tags", [])]
        assert f'runs = "data/runs/{question}"' in "".join(parameters["source"])


def test_what_is_asked_for_is_in_the_plan() -> None:
    """A system's own topology and queues are used if the default does not exist."""
    plan = parse_plan(plan_text("scaling", "zeromq", "notify", "2, 4"), Path("scaling.yaml"))
    assert [case.test_case for case in plan.cases()] == ["notify"] * 6
    assert plan.load.green_threads == (2, 4)
    assert plan.systems["zeromq"].queues == ("none",)
    plan = parse_plan(plan_text("comparison", "rabbitmq", "rpc-call", "quorum,classic"), Path("c"))
    assert plan.systems["rabbitmq"].queues == ("quorum", "classic")


def test_a_terminal_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """For values that no option gives; an empty answer takes the default."""
    monkeypatch.setattr("mqperf_projects.front.command._is_terminal", lambda: True)
    words = ["new", str(tmp_path / "p"), "--question", "scaling"]
    done = CliRunner().invoke(app, words, input="\nnotify\n1, 7\n")
    assert "test case [rpc-call]" in done.output
    plan = load_plan(tmp_path / "p/scaling.yaml")
    assert (plan.test_cases, plan.load.green_threads) == (("notify",), (1, 7))
    done = CliRunner().invoke(app, [*words, "--system", "rabbitmq"], input="")
    assert isinstance(done.exception, MqperfError)
    assert "not empty" in str(done.exception)


def test_nothing_is_written_over(tmp_path: Path) -> None:
    """Files and folders that are not empty are refused and left unchanged."""
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path, tmp_path / "file"):
        with pytest.raises(MqperfError, match="it is not empty"):
            create(place)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--question", "scalin"], "unknown question 'scalin'; did you mean 'scaling'"),
        (["--question", "scaling", "--values", "1, b"], r"scaling.yaml:6: load.green_threads ent"),
        (["--question", "scaling", "--values", ","], "no value to vary: name numbers of threads"),
        (["--question", "sustained", "--values", "7"], "the limit 7: expected a duration"),
        (["--system", "rabitmq"], "unknown system 'rabitmq'; did you mean 'rabbitmq'"),
        (["--test-case", "rpc-cal"], "unknown test case 'rpc-cal'"),
    ],
    ids=["question", "value", "no value", "duration", "system", "test case"],
)
def test_an_invalid_plan_makes_no_project(words: list[str], message: str, tmp_path: Path) -> None:
    """The error names the mistake, and no folder is created."""
    with pytest.raises(MqperfError, match=message):
        create(tmp_path / "p", *words)
    assert not (tmp_path / "p").exists()


def test_its_workflow_is_yaml(tmp_path: Path) -> None:
    """It runs the plan."""
    create(tmp_path / "p")
    workflow = yaml.safe_load((tmp_path / "p/.github/workflows/measure.yml").read_text())
    runs = [step["run"] for step in workflow["jobs"]["measure"]["steps"] if "run" in step]
    assert "mqperf run saturation.yaml" in runs
