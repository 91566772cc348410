"""Logging of Java servers to the output of the process only."""

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
        """Return the property for a server with its files in ``folder``."""
        return {self.option: (folder / self.file).as_uri()}

    @property
    def files(self) -> dict[str, str]:
        """The configuration file, by its name."""
        return {self.file: self.text}


def log4j2(levels: Mapping[str, str]) -> Logging:
    """Return the logging of Log4j 2; ``levels`` are those of packages that do not log INFO."""
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
