"""Completions in shells: commands, options, plans and runs folders, without starting Python."""

import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mqperf.front.cli import app
from mqperf_projects.front.completion import SHELLS, commands

BASH = """
. ./script
COMP_LINE=$1
current=${COMP_LINE##* } before=${COMP_LINE% *}
_mqperf mqperf "$current" "${before##* }"
printf '%s\\n' "${COMPREPLY[@]}"
"""
PRINTING = {
    "bash": ("bash", "-c", BASH, "bash"),
    "fish": ("fish", "--no-config", "-c", "source script; complete -C $argv[1]"),
}
"""The command by which a shell prints its completions."""


def completed(shell: str, line: str, folder: Path) -> set[str]:
    """The completions of the shell at the end of the line, without their descriptions."""
    (folder / "script").write_text(CliRunner().invoke(app, ["completion", shell]).output)
    argv = [*PRINTING[shell], line]
    # without PATH, so that completion cannot start a program
    program = shutil.which(shell)
    done = subprocess.run(
        argv,
        executable=program,
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "", "HOME": str(folder)},
    )
    assert done.stderr == ""
    return {words.partition("\t")[0].rstrip("/") for words in done.stdout.splitlines()}


def test_every_command_is_completed() -> None:
    """It has its options, the choices of options, and the kind of its arguments."""
    known = commands()
    assert {"run", "plans", "hosts"} <= {*known[""].words}
    assert {*known["hosts"].words} == {"check", "prepare"}
    assert known["run"].kind == known["plan"].kind == "plans"
    assert {known[name].kind for name in ("status", "audit", "report", "compare")} == {"folders"}
    assert known["tables"].choices["--format"] == ["csv", "parquet"]
    assert known["completion"].words == [*SHELLS]
    assert [name for name, it in known.items() if "--help" not in it.options and not it.words] == []


@pytest.mark.starts_programs
@pytest.mark.parametrize("shell", ["bash", pytest.param("fish", marks=pytest.mark.needs_fish)])
@pytest.mark.parametrize(
    ("line", "among", "never"),
    [
        ("mqperf ru", {"run"}, {"plan"}),
        ("mqperf hosts ", {"check", "prepare"}, {"run"}),
        ("mqperf run smo", {"smoke"}, {"sample"}),
        ("mqperf run --li", {"--live"}, {"--hosts"}),
        ("mqperf tables --format ", {"csv", "parquet"}, {"data"}),
        ("mqperf status data/runs/", {"data/runs/first"}, {"smoke"}),
        ("mqperf plan mine", {"mine.yaml"}, {"smoke"}),
        ("mqperf completion ", {"bash", "zsh", "fish"}, {"data"}),
    ],
    ids=["command", "group", "plan", "option", "value", "folder", "file", "word"],
)
def test_a_shell_completes(
    shell: str, line: str, among: set[str], never: set[str], tmp_path: Path
) -> None:
    """It offers what begins so and fits there, and nothing else."""
    (tmp_path / "data/runs/first").mkdir(parents=True)
    (tmp_path / "mine.yaml").touch()
    offered = completed(shell, line, tmp_path)
    assert among <= offered
    assert offered & never == set()


def test_zsh_takes_the_function_of_bash() -> None:
    """bashcompinit, a module of zsh, makes that possible."""
    script = SHELLS["zsh"]()
    assert "bashcompinit" in script
    assert script.endswith(SHELLS["bash"]())
