"""The pulse of a sweep in the output of a notebook cell, for as long as the cell runs."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape

from mqperf.front.live import panel
from mqperf.lab.pulse import PERIOD_S, Pulse

SESSION = "JPY_SESSION_NAME"
"""Jupyter names the notebook to its kernels by this variable; who executes files does not."""


def watched() -> bool:
    """Whether somebody sees what a cell shows meanwhile."""
    return SESSION in os.environ


@contextmanager
def shown(pulse: Pulse) -> Iterator[None]:
    """Show it below the cell, anew every second; nothing of it stays."""
    from IPython.display import HTML, display

    handle = display(HTML(""), display_id=True)
    stop = threading.Event()

    def follow() -> None:
        while not stop.wait(PERIOD_S):
            handle.update(HTML(markup(pulse)))

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        handle.update(HTML(""))


def markup(pulse: Pulse) -> str:
    """What the cell shows."""
    lines = [pulse.doing, *(panel.lines(pulse.scene) if pulse.scene else ())]
    return f"<pre>{escape(chr(10).join(lines))}</pre>"
