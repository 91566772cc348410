"""Load generators: what each needs from a system, and the commands it gives back.

A generator is pure where it meets the rest: a resolved case and an `Access` go in, `Command`s come
out, and its files are read back into tables. It starts, stops and signals nothing itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Access", "Command"]


@dataclass(frozen=True, slots=True)
class Access:
    """What a system grants one run: transport URLs and extra oslo.config options by section.

    The URLs carry passwords, so they are left out of `repr` and are only ever written to files
    that nobody else can read.
    """

    client_url: str = field(repr=False)
    server_url: str = field(repr=False)
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Command:
    """One process of a load generator: its label in the run, its role and its argument list."""

    label: str
    kind: Literal["client", "server"]
    argv: tuple[str, ...]
    env: Mapping[str, str]
