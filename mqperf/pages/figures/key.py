"""The legend of a panel, laid out faster than by matplotlib.

matplotlib nests entries in boxes, and measures the content of a box again for each outer box.
"""

import numpy as np
from matplotlib.backend_bases import RendererBase
from matplotlib.legend import Legend
from matplotlib.offsetbox import DrawingArea, TextArea, VPacker
from typing_extensions import override

ROW, DESCENT = 1.66, 0.24
"""Height of a row, and the part of it below the baseline, as multiples of the font size."""


class Key(Legend):
    """A legend whose columns start at its lower left corner, placed by adding up their widths."""

    @override
    def draw(self, renderer: RendererBase) -> None:
        size = float(np.asarray(renderer.points_to_pixels(self.prop.get_size_in_points())))
        anchor, pad = self.get_bbox_to_anchor(), (self.borderaxespad + self.borderpad) * size
        x, y = anchor.x0 + pad, anchor.y0 + pad
        text_offset = (self.handlelength + self.handletextpad) * size
        measure, [*columns, _] = renderer.get_text_width_height_descent, self.findobj(VPacker)
        renderer.open_group("legend")
        for column in columns:
            handles, texts = column.findobj(DrawingArea), column.findobj(TextArea)
            for row, boxes in enumerate(zip(handles, texts, strict=True)):
                row_from_bottom = len(columns[0].get_children()) - 1 - row
                for box, left in zip(boxes, (x, x + text_offset), strict=True):
                    box.set_offset((left, y + (DESCENT + row_from_bottom * ROW) * size))
                    box.draw(renderer)
            sizes = (measure(text.get_text(), self.prop, ismath=False) for text in texts)
            x += text_offset + max(width for width, *_ in sizes) + self.columnspacing * size
        renderer.close_group("legend")
