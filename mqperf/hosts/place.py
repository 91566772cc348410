"""Where a host is, and how to get there."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A host as somebody told of it; what is None is left to the user's own ssh.

    ``address`` is what ssh is called with, ``folder`` where temporary files go, ``python`` the
    interpreter, ``ssh_args`` more options of ssh, ``groups`` the roles of the host.  ``listens`` is
    the address for what is measured, where that is another network than the one of ssh.
    """

    name: str
    address: str
    user: str | None = None
    port: int | None = None
    key: str | None = None
    python: str | None = None
    folder: str | None = None
    ssh_args: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    listens: str | None = None
