"""A picture of a toy."""

from collections.abc import Sequence

from mqperf.pages.report.pictures.topology import Picture
from mqperf.pages.report.words import Layout


def draw(layout: Layout, nodes: Sequence[str]) -> str | None:
    """Draw a title, for the toy system only."""
    if layout.system != "toy":
        return None
    title = f"<title>A picture of {len(nodes)} toy</title>"
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">{title}</svg>'


PICTURE = Picture("toys", draw)
