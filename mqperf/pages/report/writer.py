"""Writing of a report's files: templates are rendered at once, drawings together at the end."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from mqperf.base import processes
from mqperf.pages.report import overview, rst
from mqperf.pages.report.drawings import Drawing
from mqperf.pages.report.explorers import Explorers
from mqperf.plan import Plan

MARK = "report.json"
"""The file that identifies a folder as a report, which may be replaced."""

STATIC = Path(__file__).parent / "static"


class Writer:
    """Shared state of all pages of a report: the templates, and the drawings yet to be drawn."""

    def __init__(
        self,
        in_time: Explorers = MappingProxyType({}),
        plan: Plan | None = None,
        *,
        package: str = "mqperf.pages.report",
    ) -> None:
        """Load the templates; those of ``package`` take precedence over mqperf's own.

        ``in_time`` has the runs that are drawn over time.
        """
        self.templates = _templates(package)
        self.in_time = in_time
        self.plan = plan
        self._pending: list[tuple[Drawing, Path]] = []

    def render(self, template: str, file: Path, context: Mapping[str, object]) -> None:
        """Write the file from the template."""
        file.parent.mkdir(parents=True, exist_ok=True)
        text = self.templates.get_template(f"{template}.j2").render(context)
        file.write_text(text.rstrip("\n") + "\n", encoding="utf-8")

    def draw(self, drawing: Drawing, folder: Path) -> Drawing:
        """Queue a drawing, which ``finish`` draws into the folder, and return it."""
        self._pending.append((drawing, folder))
        return drawing

    def furnish(self, out: Path, facts: Mapping[str, object]) -> None:
        """Write the other files that Sphinx needs, and ``MARK`` with these facts.

        They must include the ``title``.
        """
        shutil.copytree(STATIC, out / "_static")
        for file in ("conf.py", "docutils.conf"):
            self.render(file, out / file, {})
        (out / MARK).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")

    def finish(self) -> None:
        """Draw all queued drawings, on all cores where that is safe."""
        processes.shared_out(_draw, self._pending)


def _draw(pending: tuple[Drawing, Path]) -> None:
    drawing, folder = pending
    drawing.write(folder)


def _templates(package: str) -> Environment:
    templates = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("mqperf.pages.report")]),
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
        rounding=overview.ROUNDING,
    )
    templates.filters.update(
        wrap=rst.wrap, bullets=rst.bullets, paragraph=rst.paragraph, name=rst.name
    )
    return templates
