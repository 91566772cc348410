"""The URL of a broker on a command line: it has a user, but its password comes from elsewhere."""

import dataclasses
import getpass
import os
from pathlib import Path

from mqperf.base.errors import MqperfError
from mqperf.base.urls import BrokerUrl
from mqperf.plan.file.reading import UnreadableError, first_bytes

VARIABLE = "MQPERF_PASSWORD"
"""The environment variable for the password, which plans with such URLs name."""

FORM = "amqp://USER@HOST:PORT/VHOST"
MOST_BYTES = 10_000


def with_password(text: str, file: Path | None, *, ask: bool) -> str:
    """Return the URL for a plan, with the variable instead of the password; set the variable.

    The password is that of the file, or is in the variable already, or is prompted for.  Processes
    that mqperf starts do not inherit it.  Raise ``MqperfError``, which never quotes the URL, for
    one that is invalid, without a user or with a password, and where no password is given.
    """
    url = _parsed(text)
    if file is not None:
        os.environ[VARIABLE] = _content(file)
    elif VARIABLE not in os.environ:
        if not ask:
            raise MqperfError(
                f"no password for {url.user}: export {VARIABLE}, or give --password-file FILE"
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
    """Return the text of a file without its newline."""
    try:
        return first_bytes(file, MOST_BYTES).decode().rstrip("\r\n")
    except (UnreadableError, UnicodeDecodeError) as error:
        raise MqperfError(f"{file}: cannot read the password: {error}") from None
