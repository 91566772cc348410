"""The legend of a panel.

matplotlib packs its entries into boxes, and measures all that is in a box for each box around it.
"""

import numpy as np
from matplotlib.backend_bases import RendererBase
from matplotlib.legend import Legend
from matplotlib.offsetbox import DrawingArea, TextArea, VPacker
from typing_extensions import override

ROW, DESCENT = 1.66, 0.24
"""Height of a row, and what of it is below letters, in sizes of the font."""


class Key(Legend):
    """One whose columns begin at its lower left corner; places are sums of widths."""

    @override
    def draw(self, renderer: RendererBase) -> None:
        size = float(np.asarray(renderer.points_to_pixels(self.prop.get_size_in_points())))
        anchor, pad = self.get_bbox_to_anchor(), (self.borderaxespad + self.borderpad) * size
        x, y = anchor.x0 + pad, anchor.y0 + pad
        away = (self.handlelength + self.handletextpad) * size
        measured, [*columns, _] = renderer.get_text_width_height_descent, self.findobj(VPacker)
        renderer.open_group("legend")
        for column in columns:
            handles, texts = column.findobj(DrawingArea), column.findobj(TextArea)
            for row, boxes in enumerate(zip(handles, texts, strict=True)):
                above = len(columns[0].get_children()) - 1 - row
                for box, begin in zip(boxes, (x, x + away), strict=True):
                    box.set_offset((begin, y + (DESCENT + above * ROW) * size))
                    box.draw(renderer)
            sizes = (measured(text.get_text(), self.prop, ismath=False) for text in texts)
            x += away + max(width for width, *_ in sizes) + self.columnspacing * size
        renderer.close_group("legend")
