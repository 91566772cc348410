"""Self-contained SVG for light and dark pages.

Text stays text, the output is reproducible on any day and machine, and an embedded style sheet
swaps the colours of the palette if the reader prefers dark.  As an ``img`` it is static; opened by
itself, or in a frame, marks have tooltips, and a script zooms, reads values, and hides series.
"""

import base64
import json
import re
import warnings
from collections.abc import Iterator
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import matplotlib as mpl
from matplotlib.axis import Axis
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import ScalarFormatter

from mqperf.base.one_line import one_line
from mqperf.pages.figures.marks import as_shown, plain
from mqperf.pages.figures.palette import INK, PAPER, SHADES, Shade
from mqperf.pages.figures.ticks import replace_ticks
from mqperf.pages.figures.told import CELLS, PREFIX, tell

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "path.simplify": False,  # the script reads the value at each vertex of a line
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Segoe UI", "Helvetica", "Arial"],
}
EXPLORE = "".join(
    Path(__file__).with_name(name).read_text(encoding="utf-8")
    for name in ("explore.js", "panels.js")
)
_STYLE = (
    ".zoom{fill:#80808040;stroke:#808080}"
    "[role=button]{cursor:pointer}[aria-pressed=false]{opacity:0.4}"
    ".now{stroke:#808080;fill:none;pointer-events:none}"
    f".read{{fill:{INK.light};stroke:{PAPER.light};stroke-width:3px;paint-order:stroke;"
    "font:8px sans-serif;pointer-events:none}"
)
_STYLE_IN_TIME = "svg{touch-action:pan-y}"
_EXCESS_DIGITS = re.compile(r"(-?\d+\.\d\d)\d+| (?= )")


def write_svg(figure: Figure, path: Path, *, title: str, description: str) -> Path:
    """Write the figure; ``title`` and ``description`` are for screen readers."""
    path.write_bytes(as_svg(figure, path.name, title=title, description=description))
    return path


def as_svg(figure: Figure, name: str, *, title: str, description: str) -> bytes:
    """Return the figure as SVG; ``name`` is the salt of its ids."""
    for number, axes in enumerate(figure.axes, 1):
        axes.set_gid(f"axes_{number}")
        for line in axes.lines:
            if line.get_gid() is None and not str(line.get_label()).startswith("_"):
                tell(line, [as_shown(str(line.get_label()))])
    drawn = _matplotlib_svg(figure, name)
    ET.register_namespace("", SVG)
    ET.register_namespace("xlink", XLINK)
    root = ET.fromstring(drawn)  # noqa: S314 (our own drawing)
    _shorten(root)
    _add_tooltips(root)
    root.attrib.update({"role": "img", "aria-labelledby": "title desc"})
    for position, (tag, text) in enumerate({"title": title, "desc": description}.items()):
        element = ET.Element(f"{{{SVG}}}{tag}", {"id": tag})
        element.text = one_line(text)
        root.insert(position, element)
    style = ET.Element(f"{{{SVG}}}style")
    root.set("data-panels", json.dumps([*_panels(figure)], separators=(",", ":")))
    css = _STYLE
    if in_time := str(figure.get_label()):
        root.set("data-time", in_time)
        css += _STYLE_IN_TIME
    style.text = css + dark_style(drawn.decode())
    root.insert(2, style)
    ET.SubElement(root, f"{{{SVG}}}script").text = EXPLORE
    written: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def as_picture(figure: Figure, alt: str = "figure") -> str:
    """Return the figure as an ``img`` element with a data URL: static, on light paper.

    In a notebook that is not trusted, Jupyter shows vector graphics only as ``img``.
    """
    data = base64.b64encode(_matplotlib_svg(figure, "picture")).decode()
    return f'<img alt="{escape(alt)}" src="data:image/svg+xml;base64,{data}">'


def _matplotlib_svg(figure: Figure, name: str) -> bytes:
    """Return the SVG of matplotlib; ``name`` is the salt of its ids."""
    drawn = BytesIO()
    replace_ticks(figure)
    with mpl.rc_context(_SETTINGS | {"svg.hashsalt": name}), warnings.catch_warnings():
        # text stays text: glyphs come from the reader's fonts, not from those of this machine
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        _lay_out(figure)
        figure.savefig(drawn, format="svg", metadata=dict.fromkeys(("Date", "Creator")))
    return drawn.getvalue()


def _lay_out(figure: Figure) -> None:
    """Run the layout engine here: ``savefig`` would draw the whole figure once more for it."""
    if (layout := figure.get_layout_engine()) is not None:
        FigureCanvasSVG(figure)
        figure.dpi = 72
        layout.execute(figure)
        figure.set_layout_engine(None)  # with one, even "none", all is drawn twice


def dark_style(drawn: str) -> str:
    """Return CSS that swaps the palette colours in the drawing, for readers who prefer dark."""
    rules = "".join(_swap(shade) for shade in SHADES if shade.light in drawn)
    if CELLS in drawn:
        rules += f'[data-series*="{CELLS}"]{{filter:invert(1) hue-rotate(180deg)}}'
    rules += f".read{{fill:{INK.dark};stroke:{PAPER.dark}}}"
    return f"@media (prefers-color-scheme: dark) {{{rules}}}"


def _swap(shade: Shade) -> str:
    return "".join(
        f'[style*="{name}: {shade.light}"]{{{name}:{shade.dark}!important}}'
        for name in ("fill", "stroke")
    )


def _add_tooltips(root: ET.Element) -> None:
    """Move what ``tell`` stored in group ids to ``data-series``, and to ``title`` of the marks."""
    for group in root.iter(f"{{{SVG}}}g"):
        group_id = group.get("id", "")
        if not group_id.startswith(PREFIX):
            continue
        del group.attrib["id"]
        series, tooltips = json.loads(group_id.removeprefix(PREFIX))
        group.set("data-series", json.dumps(series, ensure_ascii=False))
        marks = list(group.iter(f"{{{SVG}}}use")) or [group]
        if len(marks) == len(tooltips):
            for mark, text in zip(marks, tooltips, strict=True):
                title = ET.Element(f"{{{SVG}}}title")
                title.text = text
                mark.insert(0, title)


def _panels(figure: Figure) -> Iterator[dict[str, object]]:
    """Yield position and axes of each panel in SVG points; the figure must have been drawn."""
    scale, height = 72 / figure.dpi, figure.get_figheight() * 72
    for axes in figure.axes:
        if axes.get_visible() and axes.get_label() != "<colorbar>":
            left, low, right, top = (float(end) * scale for end in axes.bbox.extents)
            box = (left, height - top, right - left, top - low)
            yield {
                "id": axes.get_gid(),
                "box": [round(number, 2) for number in box],
                "x": _axis(axes.xaxis, axes.get_xlim()),
                "y": _axis(axes.yaxis, axes.get_ylim()),
            }


def _axis(axis: Axis, limits: tuple[float, float]) -> list[object]:
    """Return both limits of an axis, its scale, and whether its tick labels are numbers."""
    formatter = axis.get_major_formatter()
    numbers = isinstance(formatter, ScalarFormatter) or getattr(formatter, "func", None) is plain
    return [*(float(end) for end in limits), axis.get_scale(), numbers]


def _shorten(root: ET.Element) -> None:
    """Drop metadata, indentation, invisible digits, and attributes that a group can hold."""
    for metadata in root.findall(f"{{{SVG}}}metadata"):
        root.remove(metadata)
    for element in root.iter():
        if element.tail and not element.tail.strip():
            element.tail = "\n"
        if len(element) and element.text and not element.text.strip():
            element.text = "\n"
        for name in {"d", "x", "y", "transform"} & element.attrib.keys():
            element.set(name, _EXCESS_DIGITS.sub(r"\1", element.attrib[name]))
    for group in root.iter(f"{{{SVG}}}g"):
        _merge_marks(group)


def _merge_marks(group: ET.Element) -> None:
    """Move the common style of markers to their group, and merge paths of equal attributes."""
    marks = group.findall(f"{{{SVG}}}use")
    styles = {mark.get("style", "") for mark in marks}
    if len(marks) == len(group) and len(styles) == 1:
        group.set("style", styles.pop())
        for mark in marks:
            mark.attrib.pop("style", None)
    by_attributes: dict[tuple[tuple[str, str], ...], ET.Element] = {}
    for path in group.findall(f"{{{SVG}}}path[@clip-path]"):
        data = path.attrib.pop("d", "")  # a line that is outside the drawing has none
        first = by_attributes.setdefault(tuple(path.attrib.items()), path)
        if first is not path:
            group.remove(path)
        first.set("d", first.get("d", "") + data)
