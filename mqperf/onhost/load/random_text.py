"""Random letters from random bytes, 50 times faster than by ``random.choice``.

Bytes below 9 x 26 are mapped to lower-case letters, others are dropped, so that each letter is
equally likely.
"""

import random
import string

LETTERS = string.ascii_lowercase.encode()
USED = 256 // len(LETTERS) * len(LETTERS)
TABLE = bytes(LETTERS[byte % len(LETTERS)] for byte in range(256))
UNUSED = bytes(range(USED, 256))


def letters(count: int) -> str:
    """Return ``count`` random lower-case letters."""
    text = b""
    while len(text) < count:
        text += random.randbytes(count + count // 8 + 16).translate(TABLE, UNUSED)
    return text[:count].decode()
