"""Secrets are never text: what is shown or written down goes through one of these functions."""

import re
from collections.abc import Mapping
from typing import TypeVar

from pydantic import JsonValue, SecretStr

from mqperf.base.urls import HIDDEN, REPOSITORY_FILE, VARIABLES, BrokerUrl

T = TypeVar("T")

_WORD = re.compile(r"\S*://\S*")
_SECRET_OPTION = re.compile(
    r"([?&][\w.-]*(?:pass|pwd|secret|token|key|auth)[\w.-]*=)\S*", re.IGNORECASE
)
_PLAIN = re.compile(r"\w(?:[\w .,+-]{0,38}\w)?")


def redacted(text: str, *, variables: bool = False) -> str:
    """A value that may be a URL, with ``***`` for its secrets; a value that is none as it is.

    What looks like a URL with a password and cannot be taken apart is hidden altogether.  With
    ``variables`` a password that is only ``${NAME}`` stays.
    """
    if not suspicious(text) or REPOSITORY_FILE.fullmatch(text):
        return text
    try:
        return BrokerUrl.parse(text).shown(variables=variables)
    except ValueError:
        return HIDDEN


def suspicious(text: str) -> bool:
    """Whether a password may stand in the value: a URL, ``user:password@`` or ``?option=``."""
    before, at, _ = text.rpartition("@")
    _, question, options = text.partition("?")
    return "://" in text or bool(at and ":" in before) or bool(question and "=" in options)


def secrets_of(text: str) -> set[str]:
    """The passwords that stand in a value, in every form in which they could be found again."""
    try:
        return BrokerUrl.parse(text).secrets()
    except ValueError:
        return set()


def redacted_value(value: object, *, variables: bool = False) -> JsonValue:
    """A setting as files may hold it: numbers, lists and mappings with every text redacted."""
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
    return value  # type: ignore[return-value]  # a number, a truth value or None


def hidden(value: T) -> T:
    """The same setting, every text that holds a password as a type that cannot be printed."""
    if isinstance(value, str):
        return value if redacted(value, variables=True) == value else SecretStr(value)  # type: ignore[return-value]
    if isinstance(value, list | tuple):
        return [hidden(entry) for entry in value]  # type: ignore[return-value]
    if isinstance(value, Mapping):
        return {key: hidden(entry) for key, entry in value.items()}  # type: ignore[return-value]
    return value


def without_passwords(text: str) -> str:
    """A stranger's text (a log, an error) with the password of every URL in it as ``***``."""
    return _SECRET_OPTION.sub(rf"\1{HIDDEN}", _WORD.sub(_without_password, text))


def scrubbed(value: T) -> T:
    """Facts with every text in them without passwords of URLs."""
    if isinstance(value, str):
        return without_passwords(value)  # type: ignore[return-value]
    if isinstance(value, list | tuple):
        return [scrubbed(entry) for entry in value]  # type: ignore[return-value]
    if isinstance(value, Mapping):
        return {key: scrubbed(entry) for key, entry in value.items()}  # type: ignore[return-value]
    return value


def shown(value: object) -> str:
    """What an error says it got: numbers and plain words as they are, of all else the kind.

    What is not a plain word may be a password, or long.
    """
    if isinstance(value, str):
        if _PLAIN.fullmatch(value):
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
    """The word, of whose first URL all between the user and the last ``@`` is replaced."""
    if REPOSITORY_FILE.fullmatch(word[0]):
        return word[0]
    scheme, _, rest = word[0].partition("://")
    userinfo, at, tail = rest.rpartition("@")
    user, colon, password = userinfo.partition(":")
    secret = at and colon and not VARIABLES.fullmatch(password)
    return f"{scheme}://{user}:{HIDDEN}@{tail}" if secret else word[0]
