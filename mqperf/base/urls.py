"""URLs of brokers, parsed so that their passwords are never shown; and URLs of repositories."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self
from urllib.parse import quote, unquote, unquote_to_bytes, urlsplit

from pydantic import SecretStr

HIDDEN = "***"
"""Replacement for a secret."""

FORM = "amqp://USER:${PASSWORD}@HOST:PORT/VHOST"
PUBLIC_OPTIONS = frozenset(
    {
        *("ssl", "ssl_version", "ssl_ca_file", "ssl_cert_file", "ssl_key_file"),
        *("heartbeat", "heartbeat_timeout_threshold", "heartbeat_rate", "connection_attempts"),
        *("frame_max", "channel_max", "socket_timeout", "rpc_conn_pool_size"),
    }
)
"""URL options whose values may be shown; the values of all others are secrets."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_PARTS = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://"
    r"(?P<authority>[^/?#]*)"
    r"(?P<path>/[^?#@]*)?"
    r"(?:\?(?P<query>(?:[\w.-]+=[^#@&]*(?:&|$))*))?"
)
_ADDRESS = re.compile(
    r"(?:\[[0-9A-Fa-f:.]+(?:%\w+)?\]|(?:[\w.-]|\$\{\w+\})+)(?::(?:[0-9]{1,5}|\$\{\w+\}))?"
)
REPOSITORY_FILE = re.compile(
    r"git\+(?P<url>(?:https?://[\w.-]+(?::\d+)?|ssh://(?:[\w.-]+@)?[\w.-]+(?::\d+)?|file://)"
    r"/[^\s?#@]*)@(?P<revision>[^\s?#:@-][^\s?#:@]*)#(?P<path>[^?@]+)"
)
"""A file in a git repository, in a form that cannot contain a secret."""

VARIABLES = re.compile(r"(?:\$\{\w+\})+")
"""A password that is no secret: it only refers to environment variables."""


@dataclass(frozen=True, slots=True)
class BrokerUrl:
    """``scheme://user:password@host:port/vhost?options``; its secrets cannot be printed."""

    scheme: str
    user: str | None
    password: SecretStr | None
    address: str
    path: str
    query: SecretStr | None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a URL, which may contain ``${NAME}`` variables.

        Raises ``ValueError``, whose message never quotes a part of the URL.
        """
        text = text.strip()
        if not text.isprintable():
            raise ValueError("it holds a character that cannot be printed")
        if not _SCHEME.match(text):
            raise ValueError(f"it has no scheme: expected {FORM}")
        parts = _PARTS.fullmatch(text)
        if not parts:
            raise ValueError("write a /, ?, #, & or @ in it as %2F, %3F, %23, %26 or %40")
        userinfo, at, address = parts["authority"].rpartition("@")
        if not _ADDRESS.fullmatch(address):
            raise ValueError(f"its host or port is invalid: expected {FORM}")
        user, colon, password = userinfo.partition(":")
        return cls(
            scheme=parts["scheme"],
            user=user if at else None,
            password=SecretStr(password) if colon else None,
            address=address,
            path=parts["path"] or "",
            query=None if parts["query"] is None else SecretStr(parts["query"]),
        )

    def shown(self, *, variables: bool = False) -> str:
        """Return the URL without secrets; ``variables`` keeps a password of only ``${NAME}``."""
        user = self.user or ""
        if self.password is not None:
            user += f":{_shown(self.password.get_secret_value(), variables=variables)}"
        options = list(self._options(variables=variables))
        query = f"?{'&'.join(options)}" if options else ""
        at = "" if self.user is None else f"{user}@"
        return f"{self.scheme}://{at}{self.address}{self.path}{query}"

    @property
    def vhost(self) -> str | None:
        """The virtual host, decoded; None where the URL has no path."""
        return unquote(self.path.removeprefix("/")) if self.path else None

    def option(self, name: str) -> str | None:
        """Return the value of an option as written in the query; None where it is missing."""
        return dict(self._pairs()).get(name)

    def options_but(self, *names: str) -> str:
        """Return the query without these options, with secrets, every value percent-encoded."""
        return "&".join(
            f"{name}={_encoded(value)}" for name, value in self._pairs() if name not in names
        )

    @property
    def host(self) -> str:
        """Name or address of the host."""
        return urlsplit(f"//{self.address}").hostname or ""

    @property
    def port(self) -> int | None:
        """The port, if one is given; raises ``ValueError`` for one beyond 65535."""
        return urlsplit(f"//{self.address}").port

    @property
    def credentials(self) -> tuple[str, str]:
        """User and password, decoded."""
        password = self.password.get_secret_value() if self.password else ""
        return unquote(self.user or ""), unquote(password)

    def secrets(self) -> set[str]:
        """Return every secret of this URL as written, decoded and encoded, without variables."""
        raw = [self.password.get_secret_value()] if self.password else []
        raw += [value for name, value in self._pairs() if name not in PUBLIC_OPTIONS]
        literal = [part for text in raw for part in VARIABLES.split(text)]
        return {form for text in literal for form in (text, unquote(text), _encoded(text))} - {""}

    def _options(self, *, variables: bool) -> Iterator[str]:
        """Yield the options up to the first secret one: an ``&`` after it may belong to it."""
        for name, value in self._pairs():
            if name in PUBLIC_OPTIONS:
                yield f"{name}={value}"
            else:
                yield f"{name}={_shown(value, variables=variables)}"
                if not variables or not VARIABLES.fullmatch(value):
                    return

    def _pairs(self) -> list[tuple[str, str]]:
        """Return name and value of every option."""
        query = "" if self.query is None else self.query.get_secret_value()
        options = (option.partition("=") for option in query.split("&") if option)
        return [(name, value) for name, _, value in options]


def _shown(secret: str, *, variables: bool) -> str:
    return secret if variables and VARIABLES.fullmatch(secret) else HIDDEN


def _encoded(text: str) -> str:
    return quote(unquote_to_bytes(text), safe="")
