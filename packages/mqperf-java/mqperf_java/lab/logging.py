"""Logging of Java servers: everything to the output of the process, and nowhere else."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PATTERN = "%d %-5p %m%n"


@dataclass(frozen=True, slots=True)
class Logging:
    """A configuration file, and the Java property by which the library finds it."""

    file: str
    option: str
    text: str

    def properties(self, folder: Path) -> dict[str, object]:
        """The property, for a server whose files are in ``folder``."""
        return {self.option: (folder / self.file).as_uri()}

    @property
    def files(self) -> dict[str, str]:
        """The file."""
        return {self.file: self.text}


def log4j2(levels: Mapping[str, str]) -> Logging:
    """For Log4j 2, with levels of packages that shall not log INFO."""
    lines = [
        "rootLogger.level = INFO",
        "rootLogger.appenderRef.console.ref = console",
        "appender.console.type = Console",
        "appender.console.name = console",
        "appender.console.layout.type = PatternLayout",
        f"appender.console.layout.pattern = {PATTERN}",
    ]
    for number, (package, level) in enumerate(levels.items()):
        lines += [f"logger.l{number}.name = {package}", f"logger.l{number}.level = {level}"]
    return Logging("log4j2.properties", "log4j2.configurationFile", "\n".join(lines) + "\n")
