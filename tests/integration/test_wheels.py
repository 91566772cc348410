"""Wheels, installed in an environment of their own: what a person has without a clone."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from uv import find_uv_bin

from mqperf.plan.file import load_plan

pytestmark = pytest.mark.needs_rabbitmq

PROJECTS = (".", "packages/mqperf-projects", "packages/mqperf-samples")
"""What the smoke plan needs, what lists it, and recorded runs."""

Mqperf = Callable[..., str]


def called(argv: list[str], folder: Path) -> str:
    """What a command prints, which knows nothing of this environment."""
    ours = {"PYTHONPATH", "VIRTUAL_ENV"}
    env = {name: value for name, value in os.environ.items() if name not in ours}
    done = subprocess.run(
        argv, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def mqperf(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Mqperf:
    """The command of an environment that has the wheels and what they need, and no extras."""
    folder, uv = tmp_path_factory.mktemp("wheels"), find_uv_bin()
    build = f"build --quiet --wheel --no-build-isolation --python {sys.executable} --out-dir"
    for project in PROJECTS:
        called([uv, *build.split(), str(folder / "dist"), str(root / project)], folder)
    called([uv, "venv", "--quiet", "--python", sys.executable, "env"], folder)
    wheels = [str(file) for file in (folder / "dist").glob("*.whl")]
    lock = str(root / "requirements/dev.txt")
    install = [uv, "pip", "install", "--quiet", "--python", "env", "--constraint", lock]
    called([*install, *wheels], folder)
    program = str(folder / "env/bin/mqperf")

    def run(*words: str) -> str:
        return called([program, *words], folder)

    return run


def test_plans_come_with_the_wheel(mqperf: Mqperf, root: Path) -> None:
    """All of them, to the letter; those that need other packages say so."""
    listed = mqperf("plans")
    for file in root.glob("plans/*.yaml"):
        assert f"\n{file.stem} " in f"\n{listed}"
    assert "Needs mqperf-zeromq." in " ".join(listed.split())
    assert mqperf("plans", "wan-quick") == (root / "plans/wan-quick.yaml").read_text()


def test_recorded_runs_come_with_a_wheel_of_their_own(mqperf: Mqperf, root: Path) -> None:
    """They are read as those of a clone are."""
    points = ("points", "--format", "json")
    shown = mqperf("show", "samples/runs", *points)
    assert shown == mqperf("show", str(root / "data/samples/runs"), *points)
    assert "Throughput counts replies" in shown


def test_the_smoke_plan_runs_outside_a_clone(mqperf: Mqperf) -> None:
    """A case of it, by the plan's name, with a RabbitMQ of its own, up to the answer."""
    case = load_plan(Path("smoke")).cases()[0]
    said = mqperf("run", "smoke", "--only", case.id)
    assert "1 run recorded in data/runs/smoke" in said
    assert "Measured: 1 run of 3 s" in said


def test_an_extra_that_is_missing_is_told(mqperf: Mqperf) -> None:
    """Jupyter and Sphinx are not there, and neither is needed for what was called before."""
    with pytest.raises(AssertionError, match=r"sphinx, furo: not installed: pip install 'mqperf\["):
        mqperf("report", "data/runs/smoke", "--out", "report")
