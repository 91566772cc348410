"""What commands find of what must be there: a line for each, and the exit code."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import typer

from mqperf.base.terminal import console, print_lines

FAULT = 2
"""Exit code when something is missing; as of everything that was explained."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that mqperf needs, always or for some plans, and a sentence about it."""

    mark: Literal["ok", "MISSING", "FAILED", "optional"]
    text: str

    @property
    def sound(self) -> bool:
        """Whether nothing must be done."""
        return self.mark not in {"MISSING", "FAILED"}


def tell(findings: Iterable[Finding]) -> None:
    """Print a line for each; raises ``typer.Exit`` when something must be done."""
    sound = True
    for finding in findings:
        print_lines(console, f"{finding.mark:<8} {finding.text}")
        sound = sound and finding.sound
    if not sound:
        raise typer.Exit(FAULT)
