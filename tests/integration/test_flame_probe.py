"""The probe ``flame`` beside a real RabbitMQ: where its CPU time goes, and how it is checked."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from patience import eventually

from mqperf.lab.runner import Silent, sweep
from mqperf.pages.figures.svg import as_svg
from mqperf.pages.sections import shown
from mqperf.plan.file import parse_plan
from mqperf.record import Run, as_whole, runs
from mqperf.study import stats, tables
from mqperf_flame.study import compared

pytestmark = [pytest.mark.needs_rabbitmq, pytest.mark.needs_perf]

PLAN = """\
systems: {rabbitmq: {topologies: [single]}}
test_cases: [publish]
probes: [flame]
load:
  generator: amqp-0-9-1
  green_threads: 1
  rate_msg_s: 4000
  duration_s: 6
  warmup_s: 1
  cooldown_s: 1
"""
ERLANG_FUNCTION = re.compile(r"\w+:\w+/\d+_\[j\]")


def names_for_perf() -> set[Path]:
    """The files in which Erlang, Java and Python name their compiled code for perf."""
    return {file for name in ("jit-*.dump", "perf-*.map") for file in Path("/tmp").glob(name)}  # noqa: S108


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run with the probe and its own broker; it leaves no files for perf behind."""
    folder, before = tmp_path_factory.mktemp("flame"), names_for_perf()
    outcome = sweep(parse_plan(PLAN, Path("flame.yaml")), PLAN, folder, Silent())
    assert outcome.failed == ()
    assert eventually(lambda: names_for_perf() <= before)
    [run] = runs(folder)
    return run


def test_functions_of_erlang_have_their_names(sound: Run) -> None:
    """Callers are named too; shares refer to a process, and the page draws the functions."""
    complete = stats.complete(tables.read(sound.path.parent))
    functions = complete["hot_functions"].set_index(["process", "function"])
    node = functions.xs("Broker")
    assert len({*filter(ERLANG_FUNCTION.fullmatch, node.index)}) >= 5
    assert node["function_share"].sum() <= 1.001
    assert (node["function_called_share"] >= node["function_share"] - 1e-9).all()
    stacks = complete["stacks"].set_index("process")["stack"]
    assert max(stack.count(";") for stack in stacks["Broker"]) > 5
    [(_, content)] = shown(complete, "flame")
    assert content.drawing is not None
    drawn = as_svg(content.drawing.figure(), "flame", title="t", description="d").decode()
    titles = re.findall(r"<title>(\w+:\w+/\d+)\n[\d.]+ % of Broker", drawn)
    assert titles


def test_the_record_is_of_processes_of_the_run_alone(sound: Run) -> None:
    """It has labels of the run's processes, and no path of the machine."""
    folder = sound.path / "probes" / "local"
    assert {path.name for path in folder.iterdir()} >= {"flame.folded", "flame.json"}
    assert not [*folder.glob("*.data")]
    lines = (folder / "flame.folded").read_text().splitlines()
    labels = {line.split(";")[1].split(" ")[0] for line in lines}
    assert {"Broker"} <= labels <= {"Broker", "client-1", "server-1"}
    assert not [line for line in lines if re.search(r"/(tmp|usr|root)/", line)]
    assert json.loads((folder / "flame.json").read_text())["period_ns"] == 10101010


def test_samples_are_the_cpu_that_psutil_counted(sound: Run) -> None:
    """The samples of a sound run agree with psutil."""
    assert [*compared.disagreements(as_whole(sound, sound.facts()))] == []


def tripled(line: str) -> str:
    stack, _, samples = line.rpartition(" ")
    return f"{stack} {3 * int(samples)}\n"


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (lambda lines: [*map(tripled, lines)], r"flame\.folded: Broker was seen for [\d.]+ s of"),
        (
            lambda _: [],
            r"flame\.folded: Broker was seen for 0\.00 s of CPU in 8 s of",
        ),
    ],
    ids=["tripled", "lost"],
)
def test_another_cpu_than_psutil_counted_is_doubted(
    sound: Run, tmp_path: Path, fault: Callable[[list[str]], list[str]], words: str
) -> None:
    """The doubt has both figures."""
    shutil.copytree(sound.path, tmp_path / sound.id)
    copy = Run(tmp_path / sound.id, sound.id, "done")
    file = copy.path / "probes" / "local" / "flame.folded"
    file.write_text("".join(fault(file.read_text().splitlines())))
    doubts = [*compared.disagreements(as_whole(copy, copy.facts()))]
    assert any(re.search(words, doubt) for doubt in doubts), doubts
    description = file.with_suffix(".json")
    description.write_text(description.read_text().replace('"seconds": 8', '"seconds": 4'))
    file.write_text("1;Slave 7;main 1\n")
    assert [*compared.disagreements(as_whole(copy, copy.facts()))] == [
        "probes/local/flame.folded: it has Slave 7, and the run has not",
        "probes/local/flame.folded: it has 4 s of a load of 8 s",
    ]
