"""Signs: what a step of a chain is called where the runner waits for its beginning."""

import re

AT_STEP = "-at-step"
"""How the names of actions end that begin with a step of a chain."""


def sign_of(step: str) -> str:
    """The end of the name of the file by which a process says that a step begins."""
    return f"step-{re.sub('[^a-z0-9]+', '-', step.lower()).strip('-')}"
