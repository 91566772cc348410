"""Modules of ours for programs that run where mqperf is not installed."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from mqperf.base import cache

PACKAGE = Path(__file__).parent.parent


def modules_in(folder: Path) -> list[str]:
    """The names of all modules in a folder of ours."""
    files = sorted(folder.relative_to(PACKAGE) / file.stem for file in folder.glob("*.py"))
    return [file.as_posix() for file in files if file.stem != "__init__"]


def sources(names: Iterable[str]) -> dict[str, str]:
    """The text of modules by their paths; packages have none of their own there."""
    paths = (f"{name}.py" for name in names)
    return {f"mqperf/{path}": (PACKAGE / path).read_text(encoding="utf-8") for path in paths}


def modules(names: Iterable[str]) -> Path:
    """A folder for the path of a Python, with these modules and no other; kept in the cache.

    Raises ``HostError`` when the cache cannot be written.
    """
    files = sources(names)
    digest = hashlib.sha256(repr(files).encode()).hexdigest()[:12]
    home = cache.place() / "modules" / digest
    cache.make(home, lambda: _write(files, home))
    return home


def _write(files: dict[str, str], home: Path) -> None:
    for name, text in files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
