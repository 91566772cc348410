"""Settings of hosts: a noise that a toy can be told to make, and which changes nothing."""

from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import BaseModel, Field

from mqperf.hosts import Hosts
from mqperf.lab.systems.settings import HostSettings


class Noise(BaseModel):
    """What a plan may say of it."""

    toy_noise: int | None = Field(default=None, ge=0, description="How loud a toy's hosts are.")


@contextmanager
def applied(_noise: Noise, hosts: Hosts) -> Iterator[Hosts]:
    """Give the hosts as they are."""
    yield hosts


SETTINGS = HostSettings("toy-hosts", Noise, applied)
