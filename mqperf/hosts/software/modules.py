"""The ``onhost`` packages: code that is copied whole to hosts, where mqperf is not installed."""

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
IMPORTED = re.compile(r"^from (\w+)\.onhost\b", re.MULTILINE)


@cache
def sources(package: str = OURS) -> dict[str, str]:
    """Return the source of every ``onhost`` module of a package, by path from an import folder.

    The package itself has no ``__init__.py`` there.
    """
    onhost = Path(str(import_module(f"{package}.onhost").__file__)).parent
    files = sorted(onhost.rglob("*.py"))
    return {str(file.relative_to(onhost.parents[1])): file.read_text("utf-8") for file in files}


def programs(package: str = OURS) -> Path:
    """Return an import folder with only the ``onhost`` modules of a package, from the cache.

    It is byte-compiled, since no process may write into it.  Raises ``HostError`` when the cache
    cannot be written.
    """
    texts = sources(package)
    digest = hashlib.sha256(repr((sys.implementation.cache_tag, texts)).encode()).hexdigest()
    home = kept.place() / "modules" / digest[:12]
    kept.make(home, lambda: _write(texts, home))
    return home


def path_of(program: str, machine: Machine) -> tuple[Path, ...]:
    """Return the import folders of a program on a host: ``onhost`` of mqperf and of packages."""
    packages = dependencies(program.partition(".")[0])
    return tuple(machine.copied(programs(package)) for package in packages)


@cache
def dependencies(package: str) -> tuple[str, ...]:
    """Return the packages whose ``onhost`` is needed: mqperf, imported packages, the package."""
    text = "\n".join(sources(package).values())
    imported = sorted({*IMPORTED.findall(text)} - {OURS, package})
    names = [OURS, *(name for other in imported for name in dependencies(other)), package]
    return tuple(dict.fromkeys(names))


def _write(texts: dict[str, str], home: Path) -> None:
    for name, text in texts.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        # without a check of modification times, which differ in copies on hosts
        py_compile.compile(
            str(path), doraise=True, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
        )
