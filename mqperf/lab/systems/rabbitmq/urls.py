"""URLs of existing RabbitMQ nodes: validation, variables, and certificates."""

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
"""The scheme of URLs with TLS."""

PORTS = {"amqp": 5672, "rabbit": 5672, ENCRYPTED: 5671}
"""Default ports by scheme."""

AUTHORITY = "ssl_ca_file"
"""The option that names a PEM file of the authorities which signed the nodes' certificates."""

MOST_BYTES = 10_000_000
"""Maximum size of such a file; all public authorities together take half a million bytes."""

_VARIABLE = re.compile(r"\$\{(\w+)\}")


def _check_node_url(url: SecretStr) -> SecretStr:
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


NodeUrl = Annotated[SecretStr, AfterValidator(_check_node_url)]


def unset(urls: Sequence[str]) -> list[Problem]:
    """Return a problem for each variable of the URLs that is not set in the environment."""
    return [
        Problem(("urls", index), f"the environment variable {name} is not set: export it")
        for index, url in enumerate(urls)
        for name in dict.fromkeys(_VARIABLE.findall(url))
        if name not in os.environ
    ]


def with_environment(url: str) -> str:
    """Return the URL with the values of its environment variables, quoted."""
    return _VARIABLE.sub(lambda match: quote(os.environ[match[1]], safe=""), url)


def unusable(urls: Sequence[str]) -> list[Problem]:
    """Return a problem for each complete URL that is invalid, or whose certificates are."""
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
    """Return host and port, by default the port of the scheme."""
    return url.address if url.port else f"{url.address}:{PORTS[url.scheme]}"


def authority(url: BrokerUrl) -> str:
    """Return the trusted certificates in PEM; empty for a URL without TLS.

    Raises ``SystemFault`` when the file cannot be read, or has no certificates.
    """
    if url.scheme != ENCRYPTED:
        return ""
    import ssl

    name = unquote(url.option(AUTHORITY) or "")
    if not Path(name).is_absolute():
        raise SystemFault(f"{AUTHORITY} in it is not an absolute path: {name}")
    try:
        text = first_bytes(Path(name), MOST_BYTES).decode()
        ssl.create_default_context(cadata=text or "-")  # empty cadata would be accepted
    except UnreadableError as error:
        raise SystemFault(f"{name}: cannot be read: {error}") from None
    except (ValueError, ssl.SSLError):
        raise SystemFault(f"{name}: holds no certificates in PEM") from None
    return text
