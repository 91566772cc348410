"""The packages under examples/: installed as users do, and used."""

import json
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from test_toys import PLAN, TOYS, mqperf

from mqperf.plan.file import load_plan

pytestmark = pytest.mark.starts_programs

EXAMPLES = Path(__file__).parents[2] / "examples"
HOG = PLAN.replace("do: poke, node: Toy, at_s: 2, for_s: 0.5", "do: hog, host: local, HOG")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    """Where Python finds the package, and the toys."""
    place = tmp_path_factory.mktemp("installed")
    uv = Path(sys.executable).with_name("uv")
    alone = ("--no-deps", "--no-build-isolation", "--offline", "--python", sys.executable)
    words = (uv, "pip", "install", "--quiet", *alone, "--target", place, EXAMPLES / "mqperf-hog")
    subprocess.run(words, check=True)
    return place, TOYS, TOYS / "installed"


def test_an_action_of_a_package_is_done_and_undone(tmp_path: Path, path: tuple[Path, ...]) -> None:
    """It is previewed, done at its time, recorded, and leaves no process."""
    assert "hog" in HOG
    (tmp_path / "hog.yaml").write_text(HOG.replace("HOG", "at_s: 1, for_s: 1, cores: 2"))
    assert "hog local, 1 to 2 s" in mqperf(tmp_path, "plan", "hog.yaml", path=path)
    assert "done: toy direct none, toy-echo" in mqperf(tmp_path, "run", "hog.yaml", path=path)
    [events] = (tmp_path / "data" / "runs" / "hog").glob("*/events.jsonl")
    records = [json.loads(line) for line in events.read_text().splitlines()]
    [ended] = [entry for entry in records if entry["what"] == "action-ended"]
    assert ended["action"] == "hog"
    assert ended["busy"] == 2
    running = psutil.process_iter(["cmdline"])
    assert not any("while :; do :; done" in (entry.info["cmdline"] or []) for entry in running)


def test_keys_of_the_action_are_checked(tmp_path: Path, path: tuple[Path, ...]) -> None:
    """Its own model checks them; the error has the place in the plan."""
    (tmp_path / "hog.yaml").write_text(HOG.replace("HOG", "at_s: 1, for_s: 2, cores: 0"))
    output = mqperf(tmp_path, "plan", "hog.yaml", path=path)
    assert "hog.yaml:4: actions entry 1.cores: expected at least 1, got 0" in output


def test_its_plan_is_sound() -> None:
    """As far as it can be checked without the package."""
    plan = load_plan(EXAMPLES / "mqperf-hog" / "hog.yaml")
    assert [condition.name for condition in plan.surroundings] == ["undisturbed", "neighbour"]
