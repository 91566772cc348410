"""The clocks of the hosts of a run, against ours: before and after its load."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from mqperf.hosts import Host, Offset

AT_ONCE = 16


@dataclass(slots=True)
class Clocks:
    """What was found of each host, by its name; empty until it was measured."""

    hosts: Sequence[Host]
    before: Mapping[str, Offset] = field(default_factory=dict)
    after: Mapping[str, Offset] = field(default_factory=dict)

    def measure_before(self) -> None:
        """Ask all hosts at the same time; raises ``HostLost``."""
        self.before = self._measured()

    def measure_after(self) -> None:
        """Ask them again."""
        self.after = self._measured()

    def facts(self) -> dict[str, dict[str, dict[str, float]]]:
        """Offset and bound of each host, before and after, as far as they were measured."""
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
