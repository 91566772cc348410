"""Jars of a broker without an archive: those of a project file, and all their dependencies.

Maven resolves them; their names and SHA-512 sums are pinned, so that no other file is ever run.
"""

import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path

from mqperf.base import cache
from mqperf.base.errors import SystemFault
from mqperf_java.hosts import maven


@dataclass(frozen=True, slots=True)
class Jars:
    """The jars of a project file ``pom``; ``sums`` is the output of ``sha512sum *.jar`` for it."""

    title: str
    pom: Path
    sums: Path

    @property
    def pinned(self) -> dict[str, str]:
        """The SHA-512 of every jar by its name."""
        lines = (line.split() for line in self.sums.read_text("utf-8").splitlines())
        return {name: digest for digest, name in lines}

    def home(self, folder: Path | None = None) -> Path:
        """Return their folder in the cache; ``folder`` is the cache, the user's by default."""
        digest = hashlib.sha512(self.sums.read_bytes()).hexdigest()
        root = cache.place() if folder is None else folder
        return root / "unpacked" / f"{self.sums.stem}-{digest[:12]}"

    def available(self) -> None:
        """Raise ``SystemFault`` if they are not in the cache, and Maven is not installed."""
        if not cache.intact(self.home()):
            maven.maven(self.title)

    def fetched(self, folder: Path | None = None) -> Path:
        """Return the folder of the jars; fetch them first if it is missing or damaged.

        Concurrent processes fetch them only once.  Raises ``SystemFault`` if Maven is missing or
        fails, or a jar is not the pinned one, and ``HostError`` if the cache cannot be written.
        """
        home = self.home(folder)
        cache.make(home, lambda: self._install(home))
        return home

    def _install(self, home: Path) -> None:
        with tempfile.TemporaryDirectory(dir=home.parent) as draft:
            content = Path(draft) / home.name
            options = ["-f", str(self.pom), "-DincludeScope=runtime"]
            options += [f"-DoutputDirectory={content}"]
            maven.run("copy-dependencies", options, self.title, self.title)
            self.verify(content)
            content.rename(home)

    def verify(self, folder: Path) -> None:
        """Raise ``SystemFault`` unless the folder holds the pinned jars, and no other file."""
        digests = {
            jar.name: hashlib.sha512(jar.read_bytes()).hexdigest() for jar in folder.iterdir()
        }
        pinned = self.pinned
        wrong = sorted(
            name for name in pinned.keys() | digests.keys() if pinned.get(name) != digests.get(name)
        )
        if wrong:
            raise SystemFault(
                f"{', '.join(wrong)} of {self.title}: not what {self.sums} pins; delete the folder"
                " of each below ~/.m2/repository, and repeat the command to fetch it again"
            )
