"""The state that all trials of one deployment share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mqperf.base.errors import HostLost, SystemFault
from mqperf.hosts import Hosts
from mqperf.lab.load import Tool
from mqperf.lab.probes import Probe, chosen
from mqperf.lab.runner.watch import FreezeMonitor
from mqperf.lab.systems import Deployment


@dataclass(frozen=True, slots=True)
class Bench:
    """The hosts of trials, and the deployment under test.

    ``tools`` are those of the load generators, by the generator's name and the host's.  ``probes``
    observe every host.  ``faults`` are errors of failed clean-ups: after any, the deployment is not
    measured again.  ``files`` are the contents of the files that cases name.
    """

    hosts: Hosts
    deployment: Deployment
    tools: Mapping[str, Mapping[str, Tool]]
    facts: Mapping[str, Any]
    probes: Sequence[Probe] = field(default_factory=lambda: chosen(()))
    faults: list[str] = field(default_factory=list)
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    def versions(self, generator: str) -> dict[str, str]:
        """Return the versions of a load generator, on the first client host."""
        return dict(self.tools[generator][self.hosts.client[0].name].versions)

    def check(self) -> None:
        """Raise ``MqperfError`` when no further case may be measured on this deployment."""
        if self.faults:
            raise SystemFault(f"cleaning up after a run failed: {self.faults[0]}")
        try:
            self.hosts.check()
        except HostLost as lost:
            raise SystemFault(str(lost)) from None
        self.deployment.check()
        FreezeMonitor(self.deployment).check()
