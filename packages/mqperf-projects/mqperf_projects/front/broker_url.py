"""The URL of a broker on a command line: it has a user and no password, which comes otherwise."""

import dataclasses
import getpass
import os
from pathlib import Path

from mqperf.base.errors import MqperfError
from mqperf.base.urls import BrokerUrl
from mqperf.plan.file.reading import UnreadableError, first_bytes

VARIABLE = "MQPERF_PASSWORD"
"""The variable of the environment that plans of these URLs name."""

FORM = "amqp://USER@HOST:PORT/VHOST"
MOST_BYTES = 10_000


def with_password(text: str, file: Path | None, *, ask: bool) -> str:
    """The URL as a plan has it, with the variable for its password; the variable is set.

    The password is that of the file, or stands in the variable already, or is asked for.  Processes
    that mqperf starts do not inherit it.  Raises ``MqperfError``, without a part of the URL, for
    what is no URL of a user, or has a password itself; and where nobody gives one.
    """
    url = _parsed(text)
    if file is not None:
        os.environ[VARIABLE] = _content(file)
    elif VARIABLE not in os.environ:
        if not ask:
            raise MqperfError(
                f"no password of {url.user}: export {VARIABLE}, or give --password-file FILE"
            )
        os.environ[VARIABLE] = getpass.getpass(f"password of {url.user}: ")
    bare = dataclasses.replace(url, path="" if url.path == "/" else url.path)
    return bare.shown().replace("@", f":${{{VARIABLE}}}@", 1)


def _parsed(text: str) -> BrokerUrl:
    try:
        url = BrokerUrl.parse(text)
    except ValueError as error:
        raise MqperfError(f"the URL: {str(error).replace(':${PASSWORD}', '')}") from None
    if url.password is not None:
        raise MqperfError(
            "the URL has a password, which every user of this machine can read there: change it;"
            f" write {FORM}, and export {VARIABLE}, or be asked for it"
        )
    if not url.user:
        raise MqperfError(f"the URL has no user: write {FORM}")
    if url.secrets():
        raise MqperfError("the URL has options that may be secrets: leave them out")
    return url


def _content(file: Path) -> str:
    """The text of a file, without the end of its line."""
    try:
        return first_bytes(file, MOST_BYTES).decode().rstrip("\r\n")
    except (UnreadableError, UnicodeDecodeError) as error:
        raise MqperfError(f"{file}: cannot read the password: {error}") from None
