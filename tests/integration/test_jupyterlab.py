"""JupyterLab in a browser: a run is watched below its cell, and interrupted there.

A run in the background outlives its cell and its kernel, and can be attached again.  Drop-downs
choose what is shown of results.
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
"""The kernel was killed and has restarted, and the message about that is closed."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the notebook; sweeps of failed tests are ended afterwards."""
    root = tmp_path_factory.mktemp("lab")
    yield root
    for runs, process in processes.running().items():
        if runs.is_relative_to(root):
            processes.end(process)


@pytest.fixture(scope="module")
def lab(place: Path) -> Iterator[str]:
    """The address of a notebook in a JupyterLab on loopback, in the folder of its plans."""
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
    """The notebook in a browser tab."""

    def output(self, cell: int) -> str:
        """The output of a cell."""
        area = f"document.querySelectorAll('.jp-CodeCell')[{cell}]?.querySelector('.jp-OutputArea')"
        return str(self.js(f"{area}?.innerText ?? ''"))

    def run(self, cell: int) -> None:
        """Run a cell with its keyboard shortcut."""
        self.js(f"document.querySelectorAll('.jp-CodeCell .cm-content')[{cell}].focus()")
        self.press("Enter", 13, SHIFT)

    def choose(self, cell: int, place: int, words: str) -> None:
        """Choose an entry by its text in one of the drop-downs below a cell."""
        self.js(CHOSEN % (cell, place, json.dumps(words)))

    def drawing(self, cell: int) -> str:
        """The drawing that a cell shows."""
        return str(self.js(DRAWN % cell))

    def interrupt(self) -> None:
        """Interrupt the kernel with its keyboard shortcut."""
        self.press("Escape", 27)
        for _ in range(2):
            self.press("i", 73)


@pytest.fixture(scope="module")
def tab(lab: str, browser: str) -> Iterator[Notebook]:
    """The open notebook, with a ready kernel."""
    with tab_of(browser, Notebook) as tab:
        tab.show(lab)
        assert eventually(lambda: tab.js(READY), PATIENCE_S)
        yield tab


def shows(tab: Notebook, cell: int, words: str) -> Callable[[], bool]:
    """A function that returns whether a cell shows these words."""
    return lambda: words in tab.output(cell)


def test_a_run_is_watched_below_its_cell(tab: Notebook) -> None:
    """The output is live during the run; plain lines remain, and the next cell has the answer."""
    tab.run(0)
    assert eventually(shows(tab, 0, " of 8 s"), PATIENCE_S)
    assert eventually(shows(tab, 0, "CPU cores:"), PATIENCE_S)
    assert eventually(shows(tab, 0, "done: zeromq"), PATIENCE_S)
    assert eventually(lambda: "CPU cores:" not in tab.output(0))
    lines = tab.output(0).strip().splitlines()
    assert [line.split()[0] for line in lines] == ["1", "getting", "starting", "done:"]
    tab.run(1)
    assert eventually(shows(tab, 1, "raw maximum"), PATIENCE_S)


def test_a_run_is_interrupted_like_any_cell(tab: Notebook) -> None:
    """By the usual keys; the notebook remains usable, and an error is one line."""
    tab.run(2)
    assert eventually(shows(tab, 2, "measuring"), PATIENCE_S)
    tab.interrupt()
    assert eventually(shows(tab, 2, "interrupted"), PATIENCE_S)
    assert "Traceback" not in tab.output(2)
    tab.run(3)
    assert eventually(shows(tab, 3, "no-such.yaml: cannot read the plan"), PATIENCE_S)
    assert "Traceback" not in tab.output(3)


def test_an_interrupt_ends_the_watching_and_not_the_sweep(tab: Notebook, place: Path) -> None:
    """The interrupted sweep is resumed; an interrupt ends the watching, ``stop`` ends the sweep."""
    tab.run(4)
    assert eventually(shows(tab, 4, "CPU cores:"), PATIENCE_S)
    tab.interrupt()
    assert eventually(shows(tab, 4, "no longer watched; running"), PATIENCE_S)
    process = processes.running()[place / "long"]
    family = [process, *process.children(recursive=True)]
    assert len(family) > 3
    tab.run(5)
    assert eventually(shows(tab, 5, "the last one: it was stopped"), PATIENCE_S)
    assert eventually(lambda: not any(map(psutil.Process.is_running, family)))
    assert statuses(place / "long") == ["interrupted", "interrupted"]


def test_a_sweep_outlives_its_kernel(tab: Notebook, place: Path) -> None:
    """After its kernel is killed, the next kernel attaches to it and gets its results."""
    tab.run(6)
    assert eventually(shows(tab, 6, " of 20 s"), PATIENCE_S)
    process = processes.running()[place / "kept"]
    kernel = process.parent()
    assert kernel is not None
    kernel.kill()
    assert eventually(lambda: tab.js("document.querySelector('.jp-Dialog') !== null"), PATIENCE_S)
    assert process.is_running()
    tab.press("Enter", 13)
    assert eventually(lambda: tab.js(REVIVED), PATIENCE_S)
    tab.run(7)
    assert eventually(shows(tab, 7, "raw maximum"), PATIENCE_S)
    assert statuses(place / "kept") == ["done"]


def test_what_is_shown_is_chosen(tab: Notebook, place: Path) -> None:
    """Another x axis, then one run in time; the choice is saved, and exported with the notebook."""
    tab.run(8)
    assert eventually(lambda: "against offered rate and payload" in tab.drawing(8), PATIENCE_S)
    tab.choose(8, 2, "payload")
    assert eventually(lambda: "against payload and offered rate" in tab.drawing(8), PATIENCE_S)
    tab.choose(8, 1, "One run in time")
    assert eventually(shows(tab, 8, "in time, with"), PATIENCE_S)
    tab.choose(8, 3, "4 threads, payload 4096 bytes, offered rate 2000")
    words = "with 4 threads, payload 4096 bytes, offered rate 2000 msg/sec"
    assert eventually(shows(tab, 8, words), PATIENCE_S)
    assert "Run rabbitmq-single" in tab.drawing(8)
    saved = place / "watched.ipynb"
    tab.press("s", 83, CTRL)
    assert eventually(lambda: words in saved.read_text(), PATIENCE_S)
    page, _ = HTMLExporter().from_filename(str(saved))
    assert re.search(f"{ELSEWHERE}.*{words}.*<object ", page, re.DOTALL)
