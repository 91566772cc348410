"""Detection of secrets in files to publish: passwords, tokens, private keys."""

import re
from pathlib import Path

from mqperf.base import raw
from mqperf.base.redaction import without_passwords

_NAMED = re.compile(
    r"(?<![A-Za-z])(?:pass|passwd|password|passphrase|secret|token|api[_-]?key)[\"']?\s*[:=]\s*"
    r"(?![\"']?(?:\*\*\*|\$\{\w+\}|null\b|none\b|true\b|false\b))[\"']?[^\s\"',;}\])]",
    re.IGNORECASE,
)
_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----|\bAuthorization: \w+ \S", re.IGNORECASE)


def line_with_secret(file: Path) -> int | None:
    """Return the number of the first line that seems to hold a secret, from 1, or None.

    Lines with NUL bytes are skipped: they are binary data of messages.
    """
    with raw.opened(file, raw.MESSAGES_LIMIT_BYTES) as content:
        for number, line in enumerate(content, 1):
            if b"\0" in line:
                continue
            text = line.decode(errors="replace")
            if without_passwords(text) != text or _NAMED.search(text) or _KEY.search(text):
                return number
    return None
