"""Platforms that packages are built for; with the standard library alone, for use on any host."""

import platform
from dataclasses import dataclass

MUSL = "musl"

BASELINE = "manylinux_2_28"
"""The standard of packages with compiled code for the glibc of another host."""


@dataclass(frozen=True, slots=True)
class Platform:
    """A Python, the processor, and the C library: ``3.11.2``, ``x86_64``, ``glibc 2.36``."""

    python: str
    machine: str
    libc: str

    @property
    def minor(self) -> str:
        """The version of Python that compiled code depends on: ``3.11``."""
        return ".".join(self.python.split(".")[:2])

    @property
    def tag(self) -> str:
        """Its name in uv."""
        libc = "unknown-linux-musl" if self.libc.startswith(MUSL) else BASELINE
        return f"{self.machine}-{libc}"

    def takes_what_is_built_on(self, other: "Platform") -> bool:
        """Whether what was compiled on another platform runs on this one."""
        return (
            (self.minor, self.machine) == (other.minor, other.machine)
            and _name(self.libc) == _name(other.libc)
            and _version(self.libc) >= _version(other.libc)
        )


def here() -> Platform:
    """Return the platform of this Python on this machine."""
    name, version = platform.libc_ver()  # for a file it would return the least version it needs
    return Platform(platform.python_version(), platform.machine(), f"{name or MUSL} {version}")


def _name(libc: str) -> str:
    return libc.partition(" ")[0]


def _version(libc: str) -> tuple[int, ...]:
    return tuple(int(part) for part in libc.partition(" ")[2].split(".") if part.isdecimal())
