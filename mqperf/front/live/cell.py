"""Live view of a sweep in the output of a notebook cell, while the cell runs."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape

from mqperf.front.live import panel
from mqperf.lab.pulse import PERIOD_S, Pulse

SESSION = "JPY_SESSION_NAME"
"""Variable with the notebook's name in kernels of Jupyter; batch execution does not set it."""


def watched() -> bool:
    """Return whether a user sees the output of a cell while it runs."""
    return SESSION in os.environ


@contextmanager
def shown(pulse: Pulse) -> Iterator[None]:
    """Show the pulse below the cell, updated every second, and remove it at the end."""
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
    """Return the output of the cell as HTML."""
    lines = [pulse.doing, *(panel.lines(pulse.scene) if pulse.scene else ())]
    return f"<pre>{escape(chr(10).join(lines))}</pre>"
