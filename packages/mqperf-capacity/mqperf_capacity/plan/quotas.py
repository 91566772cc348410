"""Quotas in a plan: settings of any system, which may also be axes of a sweep."""

from typing import Annotated

from pydantic import BaseModel, Field

from mqperf.plan.columns import BYTES
from mqperf.plan.columns.parameters import Unit, column_of

Cores = Annotated[float, Field(ge=0.05, le=1024, allow_inf_nan=False), Unit("cores")]
Memory = Annotated[int, Field(ge=16 * 2**20, le=2**50, strict=True), BYTES]


class Quotas(BaseModel, frozen=True, extra="ignore", hide_input_in_errors=True):
    """CPU and memory that each role may use; without a value, all that its host has.

    Each node of the brokers has its own quota.  All clients on a host share one, and all servers.
    Other settings of a system are ignored.
    """

    broker_cores: Cores | None = Field(
        None,
        title="CPU quota of a broker node",
        description="Cores that each node of the brokers may use.",
    )
    broker_memory_bytes: Memory | None = Field(
        None,
        title="memory quota of a broker node",
        description="Memory that each node of the brokers may use; beyond it the kernel ends"
        " processes of the node.",
    )
    client_cores: Cores | None = Field(
        None,
        title="CPU quota of clients",
        description="Cores that all clients on a host may use together.",
    )
    client_memory_bytes: Memory | None = Field(
        None,
        title="memory quota of clients",
        description="Memory that all clients on a host may use together.",
    )
    server_cores: Cores | None = Field(
        None,
        title="CPU quota of servers",
        description="Cores that all servers on a host may use together.",
    )
    server_memory_bytes: Memory | None = Field(
        None,
        title="memory quota of servers",
        description="Memory that all servers on a host may use together.",
    )

    def of(self, role: str) -> dict[str, float]:
        """The quotas of a role by resource: ``cores``, ``memory_bytes``; without unlimited ones."""
        names = {name: f"{role}_{name}" for name in ("cores", "memory_bytes")}
        values = {name: getattr(self, field, None) for name, field in names.items()}
        return {name: value for name, value in values.items() if value is not None}


BROKER_CORES, BROKER_MEMORY, CLIENT_CORES, CLIENT_MEMORY, SERVER_CORES, SERVER_MEMORY = (
    column_of(name, field) for name, field in Quotas.model_fields.items()
)
"""The columns of these settings, which make them axes when a plan has lists of values."""
