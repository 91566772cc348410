"""Text in data cannot forge a line of output or send control codes to a terminal."""

import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from mqperf.base.terminal import print_lines
from mqperf.front import api
from mqperf.front.cli import app

pytestmark = pytest.mark.takes_long

ATTACK = "x\nforged\r\x1b[2K\u202eok\x9b2J\u2028forged [red]:100:"
TITLE = "x\nforged\u202e:100:"
SHOWN = "x forged  [2K\ufffdok 2J forged [red]:100:"


def hostile(facts: Any, path: tuple[str, ...] = ()) -> Any:  # noqa: ANN401
    """The facts of a run with every text replaced but codes, times and names of files."""
    if isinstance(facts, dict):
        return {key: hostile(value, (*path, key)) for key, value in facts.items()}
    if isinstance(facts, list):
        return [hostile(value, path) for value in facts]
    codes = {"case", "files", "kinds", "seal", "started", "stopped", "clocks", "parameters"}
    code = path[0] in codes or path[-1] in {"label", "kind", "host", "log", "interface", "roles"}
    return facts if code or not isinstance(facts, str) else f"{ATTACK} {'.'.join(path)}"


@pytest.fixture(scope="module")
def runs(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Recorded runs with hostile text in facts and plan; one has failed, one is unreadable."""
    folder = shutil.copytree(
        root / "data/samples/stress", tmp_path_factory.mktemp("hostile") / "runs"
    )
    files = sorted(folder.glob("*/run.json"))
    for file in files:
        facts = hostile(json.loads(file.read_text()))
        facts["failure"] = ATTACK
        file.write_text(json.dumps(facts))
    files[-1].parent.rename(f"{files[-1].parent}.failed")
    files[0].write_text(json.dumps({"schema": 2, "processes": [{ATTACK: 1}], "hosts": ATTACK}))
    plan = folder / "plan.yaml"
    title = next(line for line in plan.read_text().splitlines() if line.startswith("title:"))
    plan.write_text(plan.read_text().replace(title, f"title: {json.dumps(TITLE)}"))
    return folder


@pytest.mark.starts_programs
@pytest.mark.parametrize(
    "command",
    [
        "audit {runs}",
        "audit {runs} --format json",
        "status {runs}",
        "compare {runs} {samples}",
        "trend {runs} {samples}",
        "plan {runs}/plan.yaml",
    ],
)
def test_no_command_prints_a_line_of_the_data(runs: Path, root: Path, command: str) -> None:
    """Each line is printable, and none begins with the text that the data inject."""
    places = {"runs": runs, "samples": root / "data/samples/stress"}
    done = CliRunner().invoke(app, command.format(**places).split())
    assert done.exit_code == 0, done.output
    lines = done.output.removesuffix("\n").split("\n")
    assert [line for line in lines if not line.isprintable()] == []
    assert [line for line in lines if line.strip().startswith("forged")] == []


def test_a_doubt_says_what_stands_in_the_data(runs: Path) -> None:
    """A doubt shows hostile text with control characters replaced; JSON has it unchanged."""
    text = CliRunner().invoke(app, ["audit", str(runs)]).output
    assert SHOWN in text
    lines = CliRunner().invoke(app, ["audit", str(runs), "--format", "json"]).stdout.splitlines()
    assert any(ATTACK in json.loads(line)["text"] for line in lines)


def test_an_error_of_several_lines_is_indented() -> None:
    """Further lines are indented, so that quoted logs cannot be taken for messages."""
    out = io.StringIO()
    print_lines(Console(file=out, width=20), f"mqperf: {ATTACK}\n  quoted")
    assert out.getvalue().split("\n") == [
        *("mqperf: x", "  forged  [2K\ufffdok 2J forged [red]:100:", "  quoted", "")
    ]


def test_a_comparison_shown_by_python_is_made_of_lines(runs: Path, root: Path) -> None:
    """The repr of a comparison has printable lines only."""
    comparison = api.read(root / "data/samples/stress").compare(api.read(runs))
    assert all(line.isprintable() for line in repr(comparison).split("\n"))
