"""Fast drawing of the ticks of a panel: a single tick object is moved to each tick position.

matplotlib creates a tick of five artists for each position and measures each repeatedly, which
takes longer than the rest of a figure.
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
    """Replace the ticks of all axes, except of colour bars and of axes with minor ticks."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis) if axes.axison else ():
            has_minor = not isinstance(axis.get_minor_locator(), NullLocator)
            if not has_minor and axes.get_label() != "<colorbar>":
                axes.add_artist(Ticks(axes, axis))
                axis.set_visible(False)


class Ticks(Artist):
    """The ticks and the title of an axis at the bottom or the left of a panel."""

    def __init__(self, axes: Axes, axis: Axis) -> None:
        """Take the position and order of drawing from the axis that is replaced."""
        super().__init__()
        self._panel, self._axis, self._vertical = axes.bbox, axis, axis is axes.yaxis
        self.set(zorder=axis.get_zorder(), clip_on=False)

    @override
    def get_tightbbox(self, renderer: RendererBase | None = None) -> Bbox:
        box, title = self._labels_bbox(renderer), self._axis.label
        room = float(title.get_fontsize()) + self._axis.labelpad if title.get_text() else 0
        return Bbox([box.p0 - ((room, 0) if self._vertical else (0, room)), box.p1])

    @override
    def draw(self, renderer: RendererBase) -> None:
        title = self._axis.label
        renderer.open_group("matplotlib.axis")
        for tick in self._placed_ticks():
            tick.draw(renderer)
        if title.get_text():
            left, low = self._labels_bbox(renderer).p0 - self._axis.labelpad
            title.set(**({"x": left} if self._vertical else {"y": low}))
            title.draw(renderer)
        renderer.close_group("matplotlib.axis")

    def _placed_ticks(self) -> Iterator[Tick]:
        """Yield the one tick, moved in turn to each tick position within the view limits."""
        [tick], values = self._axis.get_major_ticks(1), [*self._axis.get_majorticklocs()]
        low, high = sorted(self._axis.get_view_interval())
        margin, texts = 1e-9 * (high - low), self._axis.get_major_formatter().format_ticks(values)
        for value, text in zip(values, texts, strict=True):
            if low - margin <= value <= high + margin:
                tick.update_position(value)
                tick.label1.set_text(text)
                yield tick

    def _labels_bbox(self, renderer: RendererBase | None) -> Bbox:
        """Return the bounding box of the panel and its visible tick labels."""
        labels = (tick.label1 for tick in self._placed_ticks() if tick.label1.get_visible())
        return Bbox.union([self._panel, *(each.get_window_extent(renderer) for each in labels)])
