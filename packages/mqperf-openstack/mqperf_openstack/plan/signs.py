"""Signs: names of files by which the runner learns that a step of a chain begins."""

import re

AT_STEP = "-at-step"
"""Suffix of the names of actions that begin with a step of a chain."""


def sign_of(step: str) -> str:
    """Return the suffix of the file by which a process reports that a step begins."""
    return f"step-{re.sub('[^a-z0-9]+', '-', step.lower()).strip('-')}"
