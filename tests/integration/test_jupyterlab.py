"""JupyterLab as somebody has it open: a run is watched below its cell, and interrupted there.

One in the background goes on without its cell and without its kernel, and is found again.  What is
shown of results is chosen by drop-downs.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import psutil
import pytest
from browsing import PATIENCE_S, Tab, running, tab_of
from nbconvert import HTMLExporter
from patience import eventually
from sweeps import statuses

from mqperf_notebook.front import processes
from mqperf_notebook.front.explore import ELSEWHERE

pytestmark = [pytest.mark.needs_browser, pytest.mark.needs_redis]

SAMPLE = Path(__file__).parents[2] / "data/samples/capacity"
PLAN = """\
systems: {zeromq: {topologies: [direct], queues: [none]}}
test_cases: [rpc-call]
load: {green_threads: 2, pause_s: 0.02, duration_s: SECONDS, warmup_s: 1}
"""
CELLS = (
    "import mqperf\nresults = mqperf.run('short.yaml', 'runs')",
    "results",
    "mqperf.run('long.yaml', 'long')",
    "mqperf.run('no-such.yaml')",
    "sweep = mqperf.start('long.yaml', 'long')\nsweep.watch()",
    "sweep.stop()",
    "kept = mqperf.start('middle.yaml', 'kept')\nkept.watch()",
    "import mqperf\nmqperf.attach('kept')",
    "import mqperf\nmqperf.explore('recorded')",
)
SHIFT, CTRL = 8, 2
CHOSEN = """{
const list = document.querySelectorAll(".jp-CodeCell")[%d].querySelectorAll("select")[%d];
const words = [...list.options].map((option) => option.text.replaceAll("\u00a0", " "));
list.selectedIndex = words.findIndex((text) => text.startsWith(%s));
list.dispatchEvent(new Event("change", { bubbles: true }));
}"""
DRAWN = """{
const shown = document.querySelectorAll(".jp-CodeCell")[%d].querySelector("object");
shown?.clientHeight > 100 ? atob(shown.data.split(",")[1]) : "";
}"""
READY = (
    "document.querySelector('[data-status=idle]') !== null"
    " && document.querySelector('.jp-KernelName')?.innerText.includes('ipykernel')"
)
REVIVED = (
    "document.querySelector('.jp-Dialog') === null"
    " && document.querySelector('[data-status=starting], [data-status=idle]') !== null"
)
"""A kernel that was killed and begun anew, of which that was said and read."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the notebook; no sweep of a failed test is left."""
    root = tmp_path_factory.mktemp("lab")
    yield root
    for runs, process in processes.running().items():
        if runs.is_relative_to(root):
            processes.end(process)


@pytest.fixture(scope="module")
def lab(place: Path) -> Iterator[str]:
    """The address of a notebook in a JupyterLab of our own, on loopback, beside its plans."""
    root = place
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, root / "watched.ipynb")
    (root / "recorded").symlink_to(SAMPLE)
    for name, seconds in (("short", "8"), ("middle", "20"), ("long", "60")):
        (root / f"{name}.yaml").write_text(PLAN.replace("SECONDS", seconds))
    dirs = {f"JUPYTER_{kind}_DIR": str(root / f".{kind}") for kind in ("CONFIG", "DATA", "RUNTIME")}
    options = ("--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0", "--port-retries=50")
    command = (sys.executable, "-m", "jupyter", "lab", *options)
    with running(*command, cwd=root, **dirs, PYTHONPATH=os.pathsep.join(sys.path)):
        matching = (root / ".RUNTIME").glob
        assert eventually(lambda: [*matching("jpserver-*.json")], PATIENCE_S)
        [server] = matching("jpserver-*.json")
        assert eventually(lambda: server.read_text().endswith("}"), PATIENCE_S)
        facts = json.loads(server.read_text())
        yield f"{facts['url']}lab/tree/watched.ipynb?token={facts['token']}"


class Notebook(Tab):
    """The notebook in a tab."""

    def shown(self, cell: int) -> str:
        """What a cell shows below it."""
        area = f"document.querySelectorAll('.jp-CodeCell')[{cell}]?.querySelector('.jp-OutputArea')"
        return str(self.look(f"{area}?.innerText ?? ''"))

    def run(self, cell: int) -> None:
        """Run a cell by its keys."""
        self.look(f"document.querySelectorAll('.jp-CodeCell .cm-content')[{cell}].focus()")
        self.press("Enter", 13, SHIFT)

    def choose(self, cell: int, place: int, words: str) -> None:
        """Choose by words in the drop-down at a place below a cell."""
        self.look(CHOSEN % (cell, place, json.dumps(words)))

    def drawn(self, cell: int) -> str:
        """The drawing that a cell shows."""
        return str(self.look(DRAWN % cell))

    def interrupt(self) -> None:
        """Interrupt the kernel by its keys."""
        self.press("Escape", 27)
        for _ in range(2):
            self.press("i", 73)


@pytest.fixture(scope="module")
def tab(lab: str, browser: str) -> Iterator[Notebook]:
    """The notebook, open, its kernel ready."""
    with tab_of(browser, Notebook) as tab:
        tab.show(lab)
        assert eventually(lambda: tab.look(READY), PATIENCE_S)
        yield tab


def sooner(tab: Notebook, cell: int, words: str) -> Callable[[], bool]:
    """Whether a cell shows these words."""
    return lambda: words in tab.shown(cell)


def test_a_run_is_watched_below_its_cell(tab: Notebook) -> None:
    """It moves while it runs; what stays are plain lines, and the answer in the next cell."""
    tab.run(0)
    assert eventually(sooner(tab, 0, " of 8 s"), PATIENCE_S)
    assert eventually(sooner(tab, 0, "CPU cores:"), PATIENCE_S)
    assert eventually(sooner(tab, 0, "done: zeromq"), PATIENCE_S)
    assert eventually(lambda: "CPU cores:" not in tab.shown(0))
    lines = tab.shown(0).strip().splitlines()
    assert [line.split()[0] for line in lines] == ["1", "getting", "starting", "done:"]
    tab.run(1)
    assert eventually(sooner(tab, 1, "raw maximum"), PATIENCE_S)


def test_a_run_is_interrupted_as_any_cell(tab: Notebook) -> None:
    """By the keys that everybody knows; the notebook goes on, and a mistake is one line."""
    tab.run(2)
    assert eventually(sooner(tab, 2, "measuring"), PATIENCE_S)
    tab.interrupt()
    assert eventually(sooner(tab, 2, "interrupted"), PATIENCE_S)
    assert "Traceback" not in tab.shown(2)
    tab.run(3)
    assert eventually(sooner(tab, 3, "no-such.yaml: cannot read the plan"), PATIENCE_S)
    assert "Traceback" not in tab.shown(3)


def test_who_looks_on_ends_no_sweep(tab: Notebook, place: Path) -> None:
    """What the cell before left is resumed; an interruption ends the watching, ``stop`` all."""
    tab.run(4)
    assert eventually(sooner(tab, 4, "CPU cores:"), PATIENCE_S)
    tab.interrupt()
    assert eventually(sooner(tab, 4, "no longer watched; running"), PATIENCE_S)
    process = processes.running()[place / "long"]
    family = [process, *process.children(recursive=True)]
    assert len(family) > 3
    tab.run(5)
    assert eventually(sooner(tab, 5, "the last one: it was stopped"), PATIENCE_S)
    assert eventually(lambda: not any(map(psutil.Process.is_running, family)))
    assert statuses(place / "long") == ["interrupted", "interrupted"]


def test_a_sweep_outlives_its_kernel(tab: Notebook, place: Path) -> None:
    """Which is killed; in the next one it is found, watched, and its results are given."""
    tab.run(6)
    assert eventually(sooner(tab, 6, " of 20 s"), PATIENCE_S)
    process = processes.running()[place / "kept"]
    kernel = process.parent()
    assert kernel is not None
    kernel.kill()
    assert eventually(lambda: tab.look("document.querySelector('.jp-Dialog') !== null"), PATIENCE_S)
    assert process.is_running()
    tab.press("Enter", 13)
    assert eventually(lambda: tab.look(REVIVED), PATIENCE_S)
    tab.run(7)
    assert eventually(sooner(tab, 7, "raw maximum"), PATIENCE_S)
    assert statuses(place / "kept") == ["done"]


def test_what_is_shown_is_chosen(tab: Notebook, place: Path) -> None:
    """Another axis on x, then a run in time; that stays in the notebook, and in pages of it."""
    tab.run(8)
    assert eventually(lambda: "against offered rate and payload" in tab.drawn(8), PATIENCE_S)
    tab.choose(8, 2, "payload")
    assert eventually(lambda: "against payload and offered rate" in tab.drawn(8), PATIENCE_S)
    tab.choose(8, 1, "One run in time")
    assert eventually(sooner(tab, 8, "in time, with"), PATIENCE_S)
    tab.choose(8, 3, "4 threads, payload 4096 bytes, offered rate 2000")
    words = "with 4 threads, payload 4096 bytes, offered rate 2000 msg/sec"
    assert eventually(sooner(tab, 8, words), PATIENCE_S)
    assert "Run rabbitmq-single" in tab.drawn(8)
    saved = place / "watched.ipynb"
    tab.press("s", 83, CTRL)
    assert eventually(lambda: words in saved.read_text(), PATIENCE_S)
    page, _ = HTMLExporter().from_filename(str(saved))
    assert re.search(f"{ELSEWHERE}.*{words}.*<object ", page, re.DOTALL)
