"""SVG that reads by itself wherever it is shown, on light pages and on dark ones.

Text stays text, nothing in it depends on the day or the machine, and its own style sheet swaps the
colours of the palette where the reader prefers dark.
"""

import re
import warnings
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import matplotlib as mpl
from matplotlib.figure import Figure

from mqperf.figures.palette import SHADES, Shade
from mqperf.one_line import one_line

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Segoe UI", "Helvetica", "Arial"],
}
_FINE = re.compile(r"(-?\d+\.\d\d)\d+")


def write_svg(figure: Figure, path: Path, *, title: str, description: str) -> Path:
    """Write the figure; ``title`` and ``description`` are what a screen reader says of it."""
    drawn = BytesIO()
    with mpl.rc_context(_SETTINGS | {"svg.hashsalt": path.name}), warnings.catch_warnings():
        # text stays text, so it is the reader's fonts that must have the glyph
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure.savefig(drawn, format="svg", metadata=dict.fromkeys(("Date", "Creator")))
    ET.register_namespace("", SVG)
    ET.register_namespace("xlink", XLINK)
    root = ET.fromstring(drawn.getvalue())  # noqa: S314 (our own drawing)
    _shorten(root)
    root.attrib.update({"role": "img", "aria-labelledby": "title desc"})
    for position, (tag, text) in enumerate({"title": title, "desc": description}.items()):
        element = ET.Element(f"{{{SVG}}}{tag}", {"id": tag})
        element.text = one_line(text)
        root.insert(position, element)
    style = ET.Element(f"{{{SVG}}}style")
    style.text = dark_style(drawn.getvalue().decode())
    root.insert(2, style)
    path.write_bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n")
    return path


def dark_style(drawn: str) -> str:
    """Rules that swap the colours which occur in the drawing, for readers who prefer dark."""
    rules = "".join(_swap(shade) for shade in SHADES if shade.light in drawn)
    return f"@media (prefers-color-scheme: dark) {{{rules}}}"


def _swap(shade: Shade) -> str:
    return "".join(
        f'[style*="{name}: {shade.light}"]{{{name}:{shade.dark}!important}}'
        for name in ("fill", "stroke")
    )


def _shorten(root: ET.Element) -> None:
    """Drop the metadata, and digits that no screen can show."""
    for metadata in root.findall(f"{{{SVG}}}metadata"):
        root.remove(metadata)
    for element in root.iter():
        for name in {"d", "x", "y", "transform"} & element.attrib.keys():
            element.set(name, _FINE.sub(r"\1", element.attrib[name]))
