"""What runs on hosts, where mqperf is not installed: the room ``onhost`` is taken there whole."""

import hashlib
from functools import cache
from pathlib import Path

from mqperf import onhost
from mqperf.base import cache as kept

ROOM = Path(onhost.__file__).parent


@cache
def sources() -> dict[str, str]:
    """The text of every module of the room, by its path in a folder that a Python imports from.

    ``mqperf`` itself is a bare name there.
    """
    package = ROOM.parents[1]
    files = sorted(ROOM.rglob("*.py"))
    return {str(file.relative_to(package)): file.read_text(encoding="utf-8") for file in files}


def programs() -> Path:
    """A folder for the path of a Python, with the room and no other module of ours; in the cache.

    Raises ``HostError`` when the cache cannot be written.
    """
    digest = hashlib.sha256(repr(sources()).encode()).hexdigest()[:12]
    home = kept.place() / "modules" / digest
    kept.make(home, lambda: _write(home))
    return home


def _write(home: Path) -> None:
    for name, text in sources().items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
