"""The counts at the end of a simulator's log: a second record of those in its JSON."""

import re
from pathlib import Path

from mqperf.base import raw
from mqperf.base.errors import LoadError

SUM = re.compile(
    r"INFO root (?P<stream>client|error|round-trip|server): duration: [\d.]+ count: (?P<count>\d+) "
)


def counts(path: Path) -> dict[str, int]:
    """Return messages by stream: ``client``, ``error``, ``round_trip``, ``server``.

    The result is empty for a log that is missing, or was capped before its end.  Raises
    ``LoadError`` for one that cannot be read.
    """
    try:
        text = raw.content(path).decode(errors="replace")
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise LoadError(f"{path} cannot be read: {error.strerror}.") from None
    return {match["stream"].replace("-", "_"): int(match["count"]) for match in SUM.finditer(text)}
