"""Drop-downs below a cell choose what is shown of results: ``mqperf.explore``."""

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
"""What stands in their place in pages that are made of a notebook."""


def explore(what: Results | StrPath) -> None:
    """Show below the cell any section, drawing or run of what was measured, by drop-downs.

    They choose the layout with its test case, the section, the axis on x, and the run that is shown
    in time.  What was chosen last stays in the notebook.  Where nobody can choose, as in a batch or
    without ``ipywidgets``, it is the first section.  ``what`` is results, or the path of their
    folder.  Raises ``MqperfError`` where nothing was measured.
    """
    results = what if isinstance(what, Results) else read(what)
    offered = choices(results, results.source)
    if not offered:
        raise MqperfError(f"{results.source}: nothing was measured that could be shown")
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

    ``show`` gets what is chosen, whenever that changes.
    """

    def __init__(self, offered: Sequence[Choices]) -> None:
        """Offer these, and choose the first of each."""
        from ipywidgets import Dropdown

        self.show: Callable[[Shown], object] = lambda _: None
        self.layout, self.section, self.x, self.run = self._all = [
            Dropdown(description=label, layout={"width": "max-content", "max_width": "100%"})
            for label in ("layout", "section", "on x", "run")
        ]
        self._layouts = offered
        self.layout.options = [(of.title, place) for place, of in enumerate(offered)]
        self.layout.value = 0
        self._offer()
        for control in self._all:
            control.observe(self._chosen, "value")

    def shown(self) -> Shown:
        """What is chosen, or why it cannot be shown."""
        try:
            return self._of.shown(self.section.value, self.x.value, self.run.value)
        except MqperfError as error:
            return Shown.of_error(error)

    def bundle(self) -> Mapping[str, object]:
        """The drop-downs as the output of a cell."""
        from ipywidgets import VBox

        return {**VBox(self._all)._repr_mimebundle_(), "text/plain": ELSEWHERE}

    def _offer(self) -> None:
        """Offer what there is of the layout; what was chosen of another stays, where it can."""
        of: Choices = self._layouts[self.layout.value]
        offers = (self.section, of.sections), (self.x, of.axes), (self.run, of.runs)
        for control, words in offers:
            kept = control.value
            control.options = [(word, name) for name, word in words.items()]
            control.value = kept if kept in words else next(iter(words), None)
        self._of = of
        self._allow()

    def _allow(self) -> None:
        """Let only that be chosen which changes what is shown."""
        self.x.disabled = self.section.value == IN_TIME
        self.run.disabled = not self.x.disabled

    def _chosen(self, change: Mapping[str, Any]) -> None:
        """Show what is chosen, in another layout when all that it has is offered."""
        if change["owner"] is self.layout:
            self._offer()
        elif self._of is not self._layouts[self.layout.value]:
            return
        self._allow()
        self.show(self.shown())
