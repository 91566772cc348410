"""An external package extends mqperf at every extension point, without changing a file of it."""

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from patience import DOUBTS_OF_A_BUSY_MACHINE

from mqperf.base.errors import PluginError
from mqperf.base.registry import Registry
from mqperf.plan.test_cases import TEST_CASES

pytestmark = pytest.mark.starts_programs

TOYS = Path(__file__).parents[1] / "toys"
MQPERF = Path(sys.executable).with_name("mqperf")
PLAN = """\
systems: {toy: {topologies: [direct], queues: [none]}}
test_cases: [toy-echo]
load: {generator: replay, green_threads: [1], duration_s: 4, warmup_s: 1}
actions: [{do: poke, node: Toy, at_s: 2, for_s: 0.5}]
probes: [toy-clock]
question: how-often
"""


def mqperf(folder: Path, *words: str, path: tuple[Path, ...] = (TOYS, TOYS / "installed")) -> str:
    """The output of a command with the toys installed."""
    env = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, path))}
    done = subprocess.run(
        [MQPERF, *words], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def test_a_package_adds_to_every_seam(tmp_path: Path) -> None:
    """Its system, generator, test case, probe, action and host are run, audited and reported."""
    (tmp_path / "toy.yaml").write_text(PLAN)
    assert "poke Toy, 2 to 2.5 s" in mqperf(tmp_path, "plan", "toy.yaml")
    output = mqperf(tmp_path, "run", "toy.yaml", "--hosts", "toy-corner")
    assert "done: toy direct none, toy-echo" in output
    assert "How often?\n  1 runs were recorded." in output
    audit = mqperf(tmp_path, "audit", "data/runs/toy", "--format", "json")
    kinds = {json.loads(line)["kind"] for line in audit.splitlines()}
    assert kinds <= {"not-recovered", "littles-law"} | DOUBTS_OF_A_BUSY_MACHINE
    reported = mqperf(tmp_path, "report", "data/runs/toy", "--out", "r", "--no-notebooks")
    assert "index.html" in reported
    page = (tmp_path / "r" / "html" / "toy" / "direct" / "index.html").read_text()
    for words in ("Test Case 90: Echo Throughput Test", "poke", "Replay"):
        assert words in page
    [picture] = (tmp_path / "r" / "toy").rglob("topology_direct.svg")
    assert "A picture of 1 toy" in picture.read_text()
    mqperf(tmp_path, "tables", "data/runs/toy", "--out", "t")
    assert "toy-corner" in (tmp_path / "t" / "cpu.csv").read_text()
    assert "toy-clock" in (tmp_path / "t" / "events.csv").read_text()
    [clock] = pd.read_csv(tmp_path / "t" / "toy_clock.csv").to_dict("records")
    assert (clock["host"], clock["test_case"]) == ("toy-corner", "toy-echo")
    assert -2 < clock["toy_clock_s"] < 0


def test_a_package_adds_a_form_of_plans(tmp_path: Path) -> None:
    """A file with its suffix is read as the plan that it represents."""
    (tmp_path / "toy.backwards").write_text("\n".join(reversed(PLAN.splitlines())))
    assert "poke Toy, 2 to 2.5 s" in mqperf(tmp_path, "plan", "toy.backwards")


def test_a_package_adds_a_command() -> None:
    """It has help and arguments, and is listed after mqperf's own."""
    assert mqperf(TOYS, "toy-hello", "Ada") == "Hello Ada!\n"
    assert "Greet somebody." in mqperf(TOYS, "toy-hello", "--help")
    listed = mqperf(TOYS, "--help")
    assert listed.index("toy-hello") > listed.index("report")
    assert "toy-hello" in mqperf(TOYS, "toy-hello", path=()).partition("No such command")[2]


def test_a_package_adds_a_function(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is called like those of mqperf."""
    monkeypatch.syspath_prepend(TOYS / "installed")
    library: Any = import_module("mqperf")
    library.toy_hello("Ada")
    assert capsys.readouterr().out == "Hello Ada!\n"


def test_a_package_adds_topologies(tmp_path: Path) -> None:
    """They have fixed names, or a prefix with a number that the package validates."""
    (tmp_path / "toy.yaml").write_text(PLAN.replace("[direct]", "[direct, toy-alone, toys-3]"))
    output = mqperf(tmp_path, "plan", "toy.yaml")
    assert all(name in output for name in ("toy-alone", "toys-3"))
    (tmp_path / "toy.yaml").write_text(PLAN.replace("[direct]", "[toys-0]"))
    output = mqperf(tmp_path, "plan", "toy.yaml")
    assert "toy.yaml:1: systems.toy.topologies entry 1: toys-0: expected toys-NUMBER" in output


def test_a_package_adds_an_axis(tmp_path: Path) -> None:
    """A list of values of its parameter is swept, and separates rows in tables and on the page."""
    swept = PLAN.replace("duration_s: 4", "duration_s: 3, thinning: [1, 4]").split("actions:")[0]
    (tmp_path / "toy.yaml").write_text(swept)
    assert "1 thread, thinning 4" in mqperf(tmp_path, "plan", "toy.yaml")
    assert "done: toy direct none, toy-echo, 1 thread, thinning 4" in mqperf(
        tmp_path, "run", "toy.yaml"
    )
    assert "How long each run was measured." in mqperf(tmp_path, "show", "data/runs/toy", "windows")
    mqperf(tmp_path, "tables", "data/runs/toy", "--out", "t")
    runs, messages = (pd.read_csv(tmp_path / "t" / f"{name}.csv") for name in ("runs", "messages"))
    rate = runs[["run", "thinning"]].merge(messages).set_index("thinning")["throughput_msg_s"]
    assert rate[1] == pytest.approx(4 * rate[4], rel=0.1)


def test_a_package_makes_links(tmp_path: Path) -> None:
    """Its backend is used, named, and measured before and after the load."""
    linked = PLAN.split("actions:", maxsplit=1)[0] + "link: {delay_s: [0, 0.01]}\n"
    (tmp_path / "toy.yaml").write_text(linked)
    assert "link between client and broker: delay_s 0.01" in mqperf(tmp_path, "plan", "toy.yaml")
    output = mqperf(tmp_path, "run", "toy.yaml")
    assert output.count("done: toy direct none, toy-echo, 1 thread") == 2
    mqperf(tmp_path, "tables", "data/runs/toy", "--out", "t")
    links = pd.read_csv(tmp_path / "t" / "links.csv")
    assert links["backend"].tolist() == ["toy-wire"] * 2
    assert sorted(links["delay_after_s"]) == pytest.approx([0.0001, 0.0101])


def test_a_package_imports_what_its_tool_measured(tmp_path: Path) -> None:
    """Its file format becomes tables; without the package the file is not recognized."""
    (tmp_path / "tuesday.toy").write_text("3\n5\n")
    mqperf(tmp_path, "import", "tuesday.toy", "--out", "p", "--system", "toy")
    mqperf(tmp_path, "tables", "p", "--out", "t")
    runs, messages = (pd.read_csv(tmp_path / "t" / f"{name}.csv") for name in ("runs", "messages"))
    assert runs["generator"].tolist() == ["toy-notes"]
    assert messages["throughput_msg_s"].tolist() == [4.0]
    output = mqperf(tmp_path, "import", "tuesday.toy", "--out", "p", path=())
    assert "tuesday.toy: can import .rst and .csv, not .toy" in output


def test_a_link_that_nobody_can_make_is_told(tmp_path: Path) -> None:
    """The error has each backend's reason, before anything is started."""
    linked = PLAN.split("actions:", maxsplit=1)[0] + "link: {loss_share: 0.1}\n"
    (tmp_path / "toy.yaml").write_text(linked)
    output = mqperf(tmp_path, "run", "toy.yaml")
    assert "no link can be made between client and broker: " in output
    assert "userspace packet relay (TUN): " in output
    assert "local is at both ends: it needs hosts: laboratory" in output
    assert "Toy wire: it cannot lose packets; " in output
    assert "starting" not in output


def test_a_value_that_a_generator_refuses_is_told_with_its_place(tmp_path: Path) -> None:
    """The error has the line of the plan; an unknown key gives one too."""
    faulty = PLAN.replace("duration_s: 4", "duration_s: 4, thinning: [1, 400], thinnning: 2")
    (tmp_path / "toy.yaml").write_text(faulty)
    output = mqperf(tmp_path, "plan", "toy.yaml")
    assert "toy.yaml:3: load.thinning entry 2: expected at most 100, got 400" in output
    assert "toy.yaml:3: load.thinnning: unknown key; did you mean 'thinning'?" in output


def test_a_name_of_a_package_that_is_gone_is_an_error(tmp_path: Path) -> None:
    """The error has the missing name and the existing ones."""
    (tmp_path / "toy.yaml").write_text(PLAN)
    output = mqperf(tmp_path, "plan", "toy.yaml", path=())
    assert "unknown test case 'toy-echo'" in output
    assert "Traceback" not in output


def test_a_broken_package_is_named(tmp_path: Path) -> None:
    """Whatever its fault, the error is one sentence that names the package.

    A plan that does not use it is not affected.
    """
    folder = tmp_path / "broken-2.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 2.0\n")
    points = "[mqperf.actions]\nsmash = no_such_module:ACTION\n"
    (folder / "entry_points.txt").write_text(points)
    (tmp_path / "toy.yaml").write_text(PLAN)
    path = (TOYS, TOYS / "installed", tmp_path)
    assert "poke Toy, 2 to 2.5 s" in mqperf(tmp_path, "plan", "toy.yaml", path=path)
    (tmp_path / "toy.yaml").write_text(PLAN.replace("do: poke", "do: smash"))
    output = mqperf(tmp_path, "plan", "toy.yaml", path=path)
    assert "package broken 2.0, entry point smash of mqperf.actions" in output
    assert "No module named 'no_such_module'; repair or uninstall the package" in output
    assert "Traceback" not in output


def test_hosts_get_what_the_system_of_a_package_needs(tmp_path: Path) -> None:
    """Its system lists the packages, and the services that installing them would start."""
    program = "from mqperf_hosts.front import installation;"
    program += "from mqperf_hosts.front.host_check import needed;"
    program += "from mqperf.hosts.place import Place; tools = needed(['toy']);"
    program += "place = Place('b1', 'b1', groups=('broker',));"
    program += "print(*installation._packages(place, tools), '|', *installation._services()['toy'])"
    env = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (TOYS, TOYS / "installed")))}
    output = subprocess.check_output([sys.executable, "-c", program], env=env, cwd=tmp_path)
    assert output.decode().split() == [
        "toy",
        "toy-data",
        "util-linux",
        "atop",
        "openssl",
        "|",
        "toyd",
    ]


def test_a_name_belongs_to_one_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package cannot replace a value of mqperf."""
    monkeypatch.syspath_prepend(str(TOYS / "installed"))
    echo = next(iter(TEST_CASES.values()))
    twice = Registry("test_cases", [_Named("toy-echo")])
    assert echo.name in TEST_CASES
    with pytest.raises(PluginError, match="there is 'toy-echo' in"):
        len(twice)


class _Named:
    def __init__(self, name: str) -> None:
        self.name = name


def test_a_package_adds_a_document_beside_the_live_page() -> None:
    """It is served by its name, like the page's state."""
    program = "from mqperf.front.live import Pulse; from mqperf_live.front.page import DOCUMENTS;"
    program += "print(*DOCUMENTS, DOCUMENTS['toy-case'].content(Pulse()))"
    env = os.environ | {"PYTHONPATH": f"{TOYS}{os.pathsep}{TOYS / 'installed'}"}
    argv = [sys.executable, "-c", program]
    listed = subprocess.run(argv, env=env, capture_output=True, text=True, check=True).stdout
    assert listed.split()[0] == "now.json"
    assert {"metrics", "toy-case"} < {*listed.split()}
    assert listed.split()[-1] == "none"
