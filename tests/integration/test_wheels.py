"""Wheels in a separate environment: what users have without a clone."""

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
"""The packages for the smoke plan, for the list of plans, and for recorded runs."""

Mqperf = Callable[..., str]


def output_of(argv: list[str], folder: Path) -> str:
    """The output of a command, which does not see this environment."""
    ours = {"PYTHONPATH", "VIRTUAL_ENV"}
    env = {name: value for name, value in os.environ.items() if name not in ours}
    done = subprocess.run(
        argv, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def mqperf(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Mqperf:
    """The command of an environment with the wheels and their requirements, without extras."""
    folder, uv = tmp_path_factory.mktemp("wheels"), find_uv_bin()
    build = f"build --quiet --wheel --no-build-isolation --python {sys.executable} --out-dir"
    for project in PROJECTS:
        output_of([uv, *build.split(), str(folder / "dist"), str(root / project)], folder)
    output_of([uv, "venv", "--quiet", "--python", sys.executable, "env"], folder)
    wheels = [str(file) for file in (folder / "dist").glob("*.whl")]
    lock = str(root / "requirements/dev.txt")
    install = [uv, "pip", "install", "--quiet", "--python", "env", "--constraint", lock]
    output_of([*install, *wheels], folder)
    program = str(folder / "env/bin/mqperf")

    def run(*words: str) -> str:
        return output_of([program, *words], folder)

    return run


def test_plans_come_with_the_wheel(mqperf: Mqperf, root: Path) -> None:
    """All plans are included unchanged; those that need other packages say so."""
    listed = mqperf("plans")
    for file in root.glob("plans/*.yaml"):
        assert f"\n{file.stem} " in f"\n{listed}"
    assert "Needs mqperf-zeromq." in " ".join(listed.split())
    assert mqperf("plans", "wan-quick") == (root / "plans/wan-quick.yaml").read_text()


def test_recorded_runs_come_with_a_wheel_of_their_own(mqperf: Mqperf, root: Path) -> None:
    """They are read like those of a clone."""
    points = ("points", "--format", "json")
    shown = mqperf("show", "samples/runs", *points)
    assert shown == mqperf("show", str(root / "data/samples/runs"), *points)
    assert "Throughput counts replies" in shown


def test_the_smoke_plan_runs_outside_a_clone(mqperf: Mqperf) -> None:
    """One case, by the plan's name, with a private RabbitMQ, up to the answer."""
    case = load_plan(Path("smoke")).cases()[0]
    output = mqperf("run", "smoke", "--only", case.id)
    assert "1 run recorded in data/runs/smoke" in output
    assert "Measured: 1 run of 3 s" in output


def test_a_missing_extra_is_reported(mqperf: Mqperf) -> None:
    """Jupyter and Sphinx are missing; the commands above do not need them."""
    with pytest.raises(AssertionError, match=r"sphinx, furo: not installed: pip install 'mqperf\["):
        mqperf("report", "data/runs/smoke", "--out", "report")
