"""Errors in a node's log about settings that it refuses."""

import re
from collections.abc import Sequence

from mqperf.base.problems import Where

_REASON = re.compile(r"^(?:.*\[error\] <[\d.]+> +)?- (.+)$", re.MULTILINE)
"""A reason, one of the lines that follow ``Error preparing configuration``."""

_NO_TERMS = "Failed to load advanced configuration file"

SHOWN = 300
"""Characters of the reasons that are shown, at most."""


def refused(log: str, places: Sequence[Where]) -> tuple[Where, str] | None:
    """Return the place of the key that a node refuses, and its reasons; None without a reason.

    ``places`` are the paths, within the settings of the plan, of every key that it sets.
    """
    if _NO_TERMS in log:
        return ("advanced",), "a value is no Erlang term"
    _, _, after = log.partition("Error preparing configuration")
    reasons = dict.fromkeys(reason.strip() for reason in _REASON.findall(after))
    text = "; ".join(reasons)[:SHOWN]
    named = [where for where in places if _names(text, str(where[-1]))]
    where = max(named, key=lambda where: len(str(where[-1])), default=("config",))
    return (where, text) if text else None


def _names(text: str, key: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(key)}(?![\w.])", text) is not None
