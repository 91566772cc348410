"""Redaction: whatever is printed or written to a file goes through one of these functions."""

import re
from collections.abc import Mapping
from typing import TypeVar

from pydantic import JsonValue, SecretStr

from mqperf.base.urls import HIDDEN, REPOSITORY_FILE, VARIABLES, BrokerUrl

T = TypeVar("T")

_URL = re.compile(r"\S*://\S*")
_SECRET_OPTION = re.compile(
    r"([?&][\w.-]*(?:pass|pwd|secret|token|key|auth)[\w.-]*=)\S*", re.IGNORECASE
)
_PLAIN_TEXT = re.compile(r"\w(?:[\w .,+-]{0,38}\w)?")


def redacted(text: str, *, variables: bool = False) -> str:
    """Replace the secrets of a URL by ``***``; other text is returned as it is.

    A text that looks like a URL with a password but cannot be parsed is hidden altogether.  With
    ``variables`` a password that is only ``${NAME}`` stays.
    """
    if not suspicious(text) or REPOSITORY_FILE.fullmatch(text):
        return text
    try:
        return BrokerUrl.parse(text).shown(variables=variables)
    except ValueError:
        return HIDDEN


def suspicious(text: str) -> bool:
    """Whether the text may contain a password: a URL, ``user:password@`` or ``?option=``."""
    before, at, _ = text.rpartition("@")
    _, question, options = text.partition("?")
    return "://" in text or bool(at and ":" in before) or bool(question and "=" in options)


def secrets_of(text: str) -> set[str]:
    """Return the secrets of a URL, both as written and percent-decoded and -encoded."""
    try:
        return BrokerUrl.parse(text).secrets()
    except ValueError:
        return set()


def redacted_value(value: object, *, variables: bool = False) -> JsonValue:
    """Return a setting as JSON data with every text in it redacted."""
    if isinstance(value, SecretStr):
        return redacted(value.get_secret_value(), variables=variables)
    if isinstance(value, str):
        return redacted(value, variables=variables)
    if isinstance(value, list | tuple):
        return [redacted_value(entry, variables=variables) for entry in value]
    if isinstance(value, Mapping):
        return {
            redacted(str(key)): redacted_value(entry, variables=variables)
            for key, entry in value.items()
        }
    return value  # type: ignore[return-value]  # a number, a boolean or None


def hidden(value: T) -> T:
    """Return the setting with every text that contains a password as a ``SecretStr``."""
    if isinstance(value, str):
        return value if redacted(value, variables=True) == value else SecretStr(value)  # type: ignore[return-value]
    if isinstance(value, list | tuple):
        return [hidden(entry) for entry in value]  # type: ignore[return-value]
    if isinstance(value, Mapping):
        return {key: hidden(entry) for key, entry in value.items()}  # type: ignore[return-value]
    return value


def without_passwords(text: str) -> str:
    """Replace the password of every URL in free text, such as a log or an error, by ``***``."""
    return _SECRET_OPTION.sub(rf"\1{HIDDEN}", _URL.sub(_without_password, text))


def scrubbed(value: T) -> T:
    """Apply ``without_passwords`` to every text in nested data."""
    if isinstance(value, str):
        return without_passwords(value)  # type: ignore[return-value]
    if isinstance(value, list | tuple):
        return [scrubbed(entry) for entry in value]  # type: ignore[return-value]
    if isinstance(value, Mapping):
        return {key: scrubbed(entry) for key, entry in value.items()}  # type: ignore[return-value]
    return value


def shown(value: object) -> str:
    """Format a rejected value for an error: numbers and plain short text as is, else its kind.

    Any other text may be a password, or long.
    """
    if isinstance(value, str):
        if _PLAIN_TEXT.fullmatch(value):
            return repr(value)
        return "a text that is not repeated here" if value else "an empty text"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(value)
    if value is None:
        return "nothing"
    return "a list" if isinstance(value, list | tuple) else "a mapping"


def _without_password(word: re.Match[str]) -> str:
    """Replace all between the first URL's user and the last ``@`` of the word."""
    if REPOSITORY_FILE.fullmatch(word[0]):
        return word[0]
    scheme, _, rest = word[0].partition("://")
    userinfo, at, tail = rest.rpartition("@")
    user, colon, password = userinfo.partition(":")
    secret = at and colon and not VARIABLES.fullmatch(password)
    return f"{scheme}://{user}:{HIDDEN}@{tail}" if secret else word[0]
