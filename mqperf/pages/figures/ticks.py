"""The ticks of a panel, drawn by one that goes from place to place.

matplotlib makes one of five parts for each place, and asks each for its size again and again, which
takes longer than all else in a figure.
"""

from collections.abc import Iterator

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis, Tick
from matplotlib.backend_bases import RendererBase
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from matplotlib.transforms import Bbox
from typing_extensions import override


def replace_ticks(figure: Figure) -> None:
    """Have all ticks drawn that way but those of colour bars, and of axes that have minor ones."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis) if axes.axison else ():
            minor = not isinstance(axis.get_minor_locator(), NullLocator)
            if not minor and axes.get_label() != "<colorbar>":
                axes.add_artist(Ticks(axes, axis))
                axis.set_visible(False)


class Ticks(Artist):
    """Those of an axis at the bottom or to the left of a panel, and its name."""

    def __init__(self, axes: Axes, axis: Axis) -> None:
        """Stand for the axis."""
        super().__init__()
        self._box, self._axis, self._upright = axes.bbox, axis, axis is axes.yaxis
        self.set(zorder=axis.get_zorder(), clip_on=False)

    @override
    def get_tightbbox(self, renderer: RendererBase | None = None) -> Bbox:
        box, name = self._labelled(renderer), self._axis.label
        room = float(name.get_fontsize()) + self._axis.labelpad if name.get_text() else 0
        return Bbox([box.p0 - ((room, 0) if self._upright else (0, room)), box.p1])

    @override
    def draw(self, renderer: RendererBase) -> None:
        name = self._axis.label
        renderer.open_group("matplotlib.axis")
        for tick in self._each():
            tick.draw(renderer)
        if name.get_text():
            left, low = self._labelled(renderer).p0 - self._axis.labelpad
            name.set(**({"x": left} if self._upright else {"y": low}))
            name.draw(renderer)
        renderer.close_group("matplotlib.axis")

    def _each(self) -> Iterator[Tick]:
        """The tick, at each of its places in sight."""
        [tick], places = self._axis.get_major_ticks(1), [*self._axis.get_majorticklocs()]
        low, high = sorted(self._axis.get_view_interval())
        near, words = 1e-9 * (high - low), self._axis.get_major_formatter().format_ticks(places)
        for place, word in zip(places, words, strict=True):
            if low - near <= place <= high + near:
                tick.update_position(place)
                tick.label1.set_text(word)
                yield tick

    def _labelled(self, renderer: RendererBase | None) -> Bbox:
        """The panel and the labels of its ticks."""
        shown = (tick.label1 for tick in self._each() if tick.label1.get_visible())
        return Bbox.union([self._box, *(label.get_window_extent(renderer) for label in shown)])
