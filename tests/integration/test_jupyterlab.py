"""JupyterLab as somebody has it open: a run is watched below its cell, and interrupted there.

One in the background goes on without its cell and without its kernel, and is found again.  What is
shown of results is chosen by drop-downs.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import urlopen

import nbformat
import psutil
import pytest
import websocket
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
QUIET = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--remote-debugging-port=0", "--remote-allow-origins=*", "--window-size=1200,900"),
)
PATIENCE_S = 120
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


@contextmanager
def running(*command: str, cwd: Path, **env: str) -> Iterator[None]:
    """A program beside the test; ended with it."""
    nowhere = subprocess.DEVNULL
    with subprocess.Popen(
        command, cwd=cwd, env={**os.environ, **env}, stdout=nowhere, stderr=nowhere
    ) as process:
        try:
            yield
        finally:
            process.terminate()


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
    for name, seconds in (("short", "4"), ("middle", "20"), ("long", "60")):
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


class Tab:
    """A tab of the browser, driven by what its developer tools offer."""

    def __init__(self, line: websocket.WebSocket) -> None:
        self.line, self.asked = line, 0

    def ask(self, method: str, **params: object) -> dict[str, Any]:
        """Have it do something; gives its answer."""
        self.asked += 1
        self.line.send(json.dumps({"id": self.asked, "method": method, "params": params}))
        while (reply := json.loads(self.line.recv())).get("id") != self.asked:
            pass
        answer: dict[str, Any] = reply["result"]
        return answer

    def look(self, script: str) -> object:
        """The value of an expression on the page."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        return answer["result"].get("value")

    def press(self, key: str, code: int, modifiers: int = 0) -> None:
        """A key, down and up."""
        named = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, **named)

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
def tab(lab: str, browser: str) -> Iterator[Tab]:
    """The notebook, open, its kernel ready."""
    with (
        # a browser that is told to end leaves temporary files; the path of its socket must be short
        TemporaryDirectory(ignore_cleanup_errors=True) as home,
        running(
            browser, *QUIET, f"--user-data-dir={home}", "about:blank", cwd=Path(home), TMPDIR=home
        ),
    ):
        port_file = Path(home, "DevToolsActivePort")
        assert eventually(port_file.exists, PATIENCE_S)
        port = port_file.read_text().split()[0]
        with urlopen(f"http://127.0.0.1:{port}/json") as answer:
            [page] = [target for target in json.load(answer) if target["type"] == "page"]
        line = websocket.create_connection(page["webSocketDebuggerUrl"], timeout=PATIENCE_S)
        with closing(line):
            tab = Tab(line)
            tab.ask("Page.navigate", url=lab)
            assert eventually(lambda: tab.look(READY), PATIENCE_S)
            yield tab


def sooner(tab: Tab, cell: int, words: str) -> Callable[[], bool]:
    """Whether a cell shows these words."""
    return lambda: words in tab.shown(cell)


def test_a_run_is_watched_below_its_cell(tab: Tab) -> None:
    """It moves while it runs; what stays are plain lines, and the answer in the next cell."""
    tab.run(0)
    assert eventually(sooner(tab, 0, " of 4 s"), PATIENCE_S)
    assert eventually(sooner(tab, 0, "CPU cores:"), PATIENCE_S)
    assert eventually(sooner(tab, 0, "done: zeromq"), PATIENCE_S)
    assert eventually(lambda: "CPU cores:" not in tab.shown(0))
    lines = tab.shown(0).strip().splitlines()
    assert [line.split()[0] for line in lines] == ["1", "getting", "starting", "done:"]
    tab.run(1)
    assert eventually(sooner(tab, 1, "raw maximum"), PATIENCE_S)


def test_a_run_is_interrupted_as_any_cell(tab: Tab) -> None:
    """By the keys that everybody knows; the notebook goes on, and a mistake is one line."""
    tab.run(2)
    assert eventually(sooner(tab, 2, "measuring"), PATIENCE_S)
    tab.interrupt()
    assert eventually(sooner(tab, 2, "interrupted"), PATIENCE_S)
    assert "Traceback" not in tab.shown(2)
    tab.run(3)
    assert eventually(sooner(tab, 3, "no-such.yaml: cannot read the plan"), PATIENCE_S)
    assert "Traceback" not in tab.shown(3)


def test_who_looks_on_ends_no_sweep(tab: Tab, place: Path) -> None:
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


def test_a_sweep_outlives_its_kernel(tab: Tab, place: Path) -> None:
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


def test_what_is_shown_is_chosen(tab: Tab, place: Path) -> None:
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
