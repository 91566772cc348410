"""Findings of checks of the installation: a line for each, and the exit code."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import typer

from mqperf.base.terminal import console, print_lines

FAULT = 2
"""Exit code when something is missing, as for all explained errors."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The state of something that mqperf needs, always or for some plans, and a sentence on it."""

    mark: Literal["ok", "MISSING", "FAILED", "optional"]
    text: str

    @property
    def sound(self) -> bool:
        """Whether no action is required."""
        return self.mark not in {"MISSING", "FAILED"}


def tell(findings: Iterable[Finding]) -> None:
    """Print a line for each finding; raises ``typer.Exit`` if any requires action."""
    sound = True
    for finding in findings:
        print_lines(console, f"{finding.mark:<8} {finding.text}")
        sound = sound and finding.sound
    if not sound:
        raise typer.Exit(FAULT)
