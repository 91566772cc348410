"""Clock offsets of the hosts of a run, measured before and after its load."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from mqperf.hosts import Host, Offset

AT_ONCE = 16


@dataclass(slots=True)
class Clocks:
    """The offset of each host, by name; empty until it is measured."""

    hosts: Sequence[Host]
    before: Mapping[str, Offset] = field(default_factory=dict)
    after: Mapping[str, Offset] = field(default_factory=dict)

    def measure_before(self) -> None:
        """Measure all hosts in parallel; raises ``HostLost``."""
        self.before = self._measured()

    def measure_after(self) -> None:
        """Measure all hosts again."""
        self.after = self._measured()

    def facts(self) -> dict[str, dict[str, dict[str, float]]]:
        """Return offset and bound of each host, before and after, as far as they were measured."""
        facts: dict[str, dict[str, dict[str, float]]] = {}
        for when, offsets in (("before", self.before), ("after", self.after)):
            for name, offset in offsets.items():
                measured = {"offset_s": offset.offset_s, "bound_s": offset.bound_s}
                facts.setdefault(name, {})[when] = measured
        return facts

    def _measured(self) -> dict[str, Offset]:
        names = [host.name for host in self.hosts]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            offsets = pool.map(lambda host: host.clock(), self.hosts)
            return dict(zip(names, offsets, strict=True))
