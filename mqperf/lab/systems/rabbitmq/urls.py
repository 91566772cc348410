"""URLs of RabbitMQ nodes that are already there: what a plan may say, and whom they trust."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated
from urllib.parse import quote, unquote

from pydantic import AfterValidator, SecretStr

from mqperf.base.errors import SystemFault
from mqperf.base.problems import Problem
from mqperf.base.urls import FORM, HIDDEN, BrokerUrl
from mqperf.plan.file.reading import UnreadableError, first_bytes

ENCRYPTED = "amqps"
"""The scheme of those that are reached by TLS."""

PORTS = {"amqp": 5672, "rabbit": 5672, ENCRYPTED: 5671}
"""Where nodes listen unless a URL says otherwise, by scheme."""

AUTHORITY = "ssl_ca_file"
"""The option that names a file of certificates in PEM: of who signed those of the nodes."""

MOST_BYTES = 10_000_000
"""Of such a file: all public authorities together have half a million."""

_VARIABLE = re.compile(r"\$\{(\w+)\}")


def _of_a_node(url: SecretStr) -> SecretStr:
    parsed = BrokerUrl.parse(url.get_secret_value())
    if parsed.scheme not in PORTS:
        raise ValueError(f"its scheme must be {', '.join(PORTS)}: expected {FORM}")
    if parsed.password is not None and parsed.password.get_secret_value() == HIDDEN:
        raise ValueError(f"its password was removed when the plan was copied: expected {FORM}")
    if parsed.scheme == ENCRYPTED and parsed.option(AUTHORITY) is None:
        raise ValueError(
            f"it does not say who signed the certificate: add ?{AUTHORITY}=/PATH/TO/FILE.pem"
        )
    return url


NodeUrl = Annotated[SecretStr, AfterValidator(_of_a_node)]


def unset(urls: Sequence[str]) -> list[Problem]:
    """The variables that the URLs name and the environment lacks."""
    return [
        Problem(("urls", index), f"the environment variable {name} is not set: export it")
        for index, url in enumerate(urls)
        for name in dict.fromkeys(_VARIABLE.findall(url))
        if name not in os.environ
    ]


def with_environment(url: str) -> str:
    """The URL with the environment's values in it."""
    return _VARIABLE.sub(lambda match: quote(os.environ[match[1]], safe=""), url)


def unusable(urls: Sequence[str]) -> list[Problem]:
    """The URLs that are none, with all values in them, or name no certificates."""
    problems = []
    for index, url in enumerate(urls):
        try:
            parsed = BrokerUrl.parse(url)
            parsed.port  # noqa: B018 (it checks)
            authority(parsed)
        except (ValueError, SystemFault) as error:
            problems.append(Problem(("urls", index), str(error)))
    return problems


def address(url: BrokerUrl) -> str:
    """Host and port, which is the scheme's own where the URL has none."""
    return url.address if url.port else f"{url.address}:{PORTS[url.scheme]}"


def authority(url: BrokerUrl) -> str:
    """Certificates in PEM of whom to trust; empty for a URL in the clear.

    Raises ``SystemFault`` when the file cannot be read, or has none.
    """
    if url.scheme != ENCRYPTED:
        return ""
    import ssl

    name = unquote(url.option(AUTHORITY) or "")
    if not Path(name).is_absolute():
        raise SystemFault(f"{AUTHORITY} of it is no absolute path: {name}")
    try:
        text = first_bytes(Path(name), MOST_BYTES).decode()
        ssl.create_default_context(cadata=text or "-")  # nothing at all would be taken
    except UnreadableError as error:
        raise SystemFault(f"{name}: cannot be read: {error}") from None
    except (ValueError, ssl.SSLError):
        raise SystemFault(f"{name}: holds no certificates in PEM") from None
    return text
