"""Settings of hosts: a noise level, which has no effect."""

from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import BaseModel, Field

from mqperf.hosts import Hosts
from mqperf.lab.systems.settings import HostSettings


class Noise(BaseModel):
    """The settings in a plan."""

    toy_noise: int | None = Field(default=None, ge=0, description="How loud a toy's hosts are.")


@contextmanager
def applied(_noise: Noise, hosts: Hosts) -> Iterator[Hosts]:
    """Yield the hosts unchanged."""
    yield hosts


SETTINGS = HostSettings("toy-hosts", Noise, applied)
