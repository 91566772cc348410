"""What runs on hosts, where nothing of ours is installed: rooms ``onhost``, taken there whole."""

import hashlib
import py_compile
import re
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

from mqperf.base import cache as kept
from mqperf.hosts.software.machine import Machine

OURS = "mqperf"
NAMED = re.compile(r"^from (\w+)\.onhost\b", re.MULTILINE)


@cache
def sources(package: str = OURS) -> dict[str, str]:
    """The text of every module of a package's room, by its path in a folder of imports.

    The package itself is a bare name there.
    """
    room = Path(str(import_module(f"{package}.onhost").__file__)).parent
    files = sorted(room.rglob("*.py"))
    return {str(file.relative_to(room.parents[1])): file.read_text("utf-8") for file in files}


def programs(package: str = OURS) -> Path:
    """A folder for the path of a Python, with the room of a package and no other module; cached.

    It is byte-compiled, as no process that starts there may write anything.  Raises ``HostError``
    when the cache cannot be written.
    """
    texts = sources(package)
    digest = hashlib.sha256(repr((sys.implementation.cache_tag, texts)).encode()).hexdigest()
    home = kept.place() / "modules" / digest[:12]
    kept.make(home, lambda: _write(texts, home))
    return home


def path_of(program: str, machine: Machine) -> tuple[Path, ...]:
    """The folders on a host from which a program imports: rooms of mqperf and of packages."""
    packages = needed(program.partition(".")[0])
    return tuple(machine.copied(programs(package)) for package in packages)


@cache
def needed(package: str) -> tuple[str, ...]:
    """Whose rooms that of a package needs: mqperf's, those of its imports, its own."""
    text = "\n".join(sources(package).values())
    others = sorted({*NAMED.findall(text)} - {OURS, package})
    names = [OURS, *(name for other in others for name in needed(other)), package]
    return tuple(dict.fromkeys(names))


def _write(texts: dict[str, str], home: Path) -> None:
    for name, text in texts.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        # by no time of a file, since copies on hosts have another
        py_compile.compile(
            str(path), doraise=True, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
        )
