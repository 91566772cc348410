"""What shells complete: commands, options, shipped plans and runs folders, without any Python."""

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
ASKED = {
    "bash": ("bash", "-c", BASH, "bash"),
    "fish": ("fish", "--no-config", "-c", "source script; complete -C $argv[1]"),
}
"""How a shell is asked what it completes."""


def completed(shell: str, line: str, folder: Path) -> set[str]:
    """What the shell offers at the end of the line, without what it says of it."""
    (folder / "script").write_text(CliRunner().invoke(app, ["completion", shell]).output)
    argv = [*ASKED[shell], line]
    # no PATH: what starts no program needs none
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
    """With its options, the values of those that are one of several, and what its words are."""
    known = commands()
    assert {"run", "plans", "hosts"} <= {*known[""].words}
    assert {*known["hosts"].words} == {"check", "prepare"}
    assert known["run"].kind == known["plan"].kind == "plans"
    assert {known[name].kind for name in ("status", "audit", "report", "compare")} == {"folders"}
    assert known["tables"].choices["--format"] == ["csv", "parquet"]
    assert known["completion"].words == [*SHELLS]
    assert [name for name, of in known.items() if "--help" not in of.options and not of.words] == []


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
    """What begins so, and nothing that does not fit there."""
    (tmp_path / "data/runs/first").mkdir(parents=True)
    (tmp_path / "mine.yaml").touch()
    offered = completed(shell, line, tmp_path)
    assert among <= offered
    assert offered & never == set()


def test_zsh_takes_the_function_of_bash() -> None:
    """By the module that zsh has for it."""
    script = SHELLS["zsh"]()
    assert "bashcompinit" in script
    assert script.endswith(SHELLS["bash"]())
