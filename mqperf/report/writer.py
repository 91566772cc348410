"""Writing a report's files: templates filled at once, drawings gathered and drawn together."""

import multiprocessing
import os
import threading
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from mqperf import guarded
from mqperf.report import rst, verdicts
from mqperf.report.drawings import Drawing


class Writer:
    """What all pages of a report share: the templates, and the drawings still to be drawn."""

    def __init__(self) -> None:
        """Load the templates."""
        self.templates = _templates()
        self._waiting: list[tuple[Drawing, Path]] = []

    def render(self, template: str, file: Path, context: Mapping[str, object]) -> None:
        """Write the file from the template."""
        file.parent.mkdir(parents=True, exist_ok=True)
        text = self.templates.get_template(f"{template}.j2").render(context)
        file.write_text(text.rstrip("\n") + "\n", encoding="utf-8")

    def draw(self, drawing: Drawing, folder: Path) -> Drawing:
        """Have it drawn into the folder when ``finish`` is called; gives it back."""
        self._waiting.append((drawing, folder))
        return drawing

    def finish(self) -> None:
        """Draw all that waits, with a process for each core where that is safe.

        A process that has threads must not be forked, and one that starts anew would import for
        longer than it draws: within a notebook's kernel one process draws all.
        """
        workers = min(os.cpu_count() or 1, len(self._waiting))
        if workers < 2 or threading.active_count() > 1:
            for drawing, folder in self._waiting:
                drawing.write(folder)
            return
        tie = guarded.end_with_parent, (os.getpid(),)
        with ProcessPoolExecutor(workers, multiprocessing.get_context("fork"), *tie) as pool:
            # results are asked for, so that what went wrong in a worker is heard of
            list(pool.map(Drawing.write, *zip(*self._waiting, strict=True), chunksize=2))


def _templates() -> Environment:
    templates = Environment(
        loader=PackageLoader("mqperf.report"),
        autoescape=False,  # noqa: S701 (RST, not HTML: every value is escaped as that)
        finalize=rst.escape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.globals.update(
        title=rst.title,
        image=rst.image,
        table=rst.table,
        download=rst.download,
        rounding=verdicts.ROUNDING,
    )
    templates.filters.update(
        wrap=rst.wrap, bullets=rst.bullets, paragraph=rst.paragraph, name=rst.name
    )
    return templates
