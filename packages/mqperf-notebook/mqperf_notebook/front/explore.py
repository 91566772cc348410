"""Drop-downs below a cell that choose which results are shown: ``mqperf.explore``."""

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from IPython.display import display

from mqperf.base.errors import MqperfError
from mqperf.front.api import Results, StrPath, read
from mqperf.front.live import cell
from mqperf_notebook.pages.choices import IN_TIME, Choices, choices
from mqperf_notebook.pages.shown import Shown

ELSEWHERE = "Drop-downs choose what is shown, where this notebook runs."
"""Replaces the drop-downs in pages that are made from a notebook."""


def explore(what: Results | StrPath) -> None:
    """Show drop-downs below the cell that choose any section, drawing or run of results.

    They choose the layout with its test case, the section, the axis on x, and the run that is drawn
    over time.  The last choice stays in the notebook.  In a batch, or without ``ipywidgets``, only
    the first section is shown.  ``what`` is results, or the path of their folder.  Raises
    ``MqperfError`` if nothing was measured.
    """
    results = what if isinstance(what, Results) else read(what)
    offered = choices(results, results.source)
    if not offered:
        raise MqperfError(f"{results.source}: no measured data to show")
    if cell.watched() and find_spec("ipywidgets"):
        controls = Controls(offered)
        display(controls.bundle(), raw=True)
        controls.show = display(controls.shown(), display_id=True).update
        return
    display(offered[0].shown(next(iter(offered[0].sections))))
    if cell.watched():
        print("to choose what is shown: pip install 'mqperf[notebook]'")


class Controls:
    """Drop-downs for a layout, a section of it, the axis on x, and a run.

    ``show`` is called with the chosen output whenever the choice changes.
    """

    def __init__(self, offered: Sequence[Choices]) -> None:
        """Offer these choices, and select the first of each."""
        from ipywidgets import Dropdown

        self.show: Callable[[Shown], object] = lambda _: None
        self.layout, self.section, self.x, self.run = self._all = [
            Dropdown(description=label, layout={"width": "max-content", "max_width": "100%"})
            for label in ("layout", "section", "on x", "run")
        ]
        self._layouts = offered
        self.layout.options = [(each.title, number) for number, each in enumerate(offered)]
        self.layout.value = 0
        self._offer()
        for control in self._all:
            control.observe(self._chosen, "value")

    def shown(self) -> Shown:
        """Return the chosen output, or the reason why it cannot be shown."""
        try:
            return self._current.shown(self.section.value, self.x.value, self.run.value)
        except MqperfError as error:
            return Shown.of_error(error)

    def bundle(self) -> Mapping[str, object]:
        """Return the drop-downs as the output of a cell."""
        from ipywidgets import VBox

        return {**VBox(self._all)._repr_mimebundle_(), "text/plain": ELSEWHERE}

    def _offer(self) -> None:
        """Offer the choices of the layout; selections of another layout stay, if they exist."""
        current: Choices = self._layouts[self.layout.value]
        sections, axes, runs = current.sections, current.axes, current.runs
        for control, labels in (self.section, sections), (self.x, axes), (self.run, runs):
            previous = control.value
            control.options = [(label, name) for name, label in labels.items()]
            control.value = previous if previous in labels else next(iter(labels), None)
        self._current = current
        self._disable_unused()

    def _disable_unused(self) -> None:
        """Disable the drop-downs that do not change what is shown."""
        self.x.disabled = self.section.value == IN_TIME
        self.run.disabled = not self.x.disabled

    def _chosen(self, change: Mapping[str, Any]) -> None:
        """Show the choice; of a new layout only after all its choices are offered."""
        if change["owner"] is self.layout:
            self._offer()
        elif self._current is not self._layouts[self.layout.value]:
            return
        self._disable_unused()
        self.show(self.shown())
