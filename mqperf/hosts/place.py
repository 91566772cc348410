"""The address of a remote host, and the parameters to connect to it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A host as an inventory describes it; None leaves a value to the user's ssh configuration.

    ``address`` is the destination for ssh, ``folder`` the location of temporary files, ``python``
    the interpreter, ``ssh_args`` more options of ssh, ``groups`` the roles of the host.
    ``listens`` is the address for measured traffic, if that uses another network than ssh.
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
