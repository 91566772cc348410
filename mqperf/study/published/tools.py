"""Other tools whose runs are read: how each is known, and read."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mqperf.base.errors import TableError
from mqperf.study.published import maestro, quiver
from mqperf.study.published.measurement import Measurement


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool; ``name`` is what runs call their generator.

    ``holds`` tells whether a folder has a run of it, ``read`` reads that, called as it is told.
    """

    name: str
    title: str
    link: str
    holds: Callable[[Path], bool]
    read: Callable[[Path, str], Measurement]


TOOLS = (
    Tool("quiver", "Quiver", "https://github.com/ssorj/quiver", quiver.is_quiver, quiver.read),
    Tool(
        "maestro",
        "Maestro",
        "https://github.com/maestro-performance/maestro-java",
        maestro.is_maestro,
        maestro.read,
    ),
)


def tool_of(folder: Path) -> Tool:
    """The tool whose run the folder holds; raises ``TableError`` where there is none."""
    found = next((one for one in TOOLS if one.holds(folder)), None)
    if found is None:
        raise TableError(
            f"{folder}: holds no run of quiver (sender-summary.json) nor of Maestro"
            " (test.properties); give the folder of one run"
        )
    return found
