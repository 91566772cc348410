"""The simulators of former releases of OpenStack, as load generators beside the current one.

They are those of every second release of OpenStack; each can be upgraded to the next directly.
"""

from dataclasses import replace

from mqperf.plan.load.generator import Generator
from mqperf.plan.load.simulator import GENERATOR, Paced


def _of(release: str) -> Generator:
    """Return the simulator of another release, whose driver options differ."""
    return replace(
        GENERATOR,
        name=f"simulator-{release}",
        title=f"{GENERATOR.title} in OpenStack {release}",
        protocol=f"simulator of OpenStack {release}",
        parameters=Paced,
    )


OF_2024_1, OF_2025_1, OF_2026_1 = map(_of, ("2024.1", "2025.1", "2026.1"))
