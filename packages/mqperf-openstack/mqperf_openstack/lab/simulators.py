"""The releases of oslo.messaging in former releases of OpenStack, each with its simulator.

Which series of oslo.messaging belongs to which release of OpenStack: the repository
openstack/releases, files ``deliverables/NAME/oslo.messaging.yaml``.
"""

from dataclasses import replace
from pathlib import Path

from mqperf.lab.load.launcher import Launcher
from mqperf.lab.load.oslo.releases import RABBITMQ, Release
from mqperf.lab.load.simulator import LAUNCHER
from mqperf_openstack.plan import simulators

LOCKS = Path(__file__).with_name("locks")
WAITS = "a CALL whose reply has not come at once waits for 0.5 s (Launchpad bug 2035113)"

SDISTS = {
    "14.7.3": "9d48bbbfe6d3c7c008a9fb5c08b922f07c84cf952ece4b6a2cab6e4000ec0cf4",
    "16.1.2": "78716bab5492cca46a21b0f29a40f880f2961e6a628220acc199e07d8ba07b2d",
    "17.3.2": "d71a1b0fb727ce35dc6ea1ce57d7f9a9194a7bcc808cd849ebebd8d07525a866",
}
"""Version -> SHA-256 of the source distribution, which contains the simulator."""


def _release(openstack: str, version: str, why: str) -> Release:
    return replace(
        RABBITMQ,
        name=f"rabbitmq-{openstack}",
        version=version,
        lock=LOCKS / f"openstack-{openstack}.txt",
        sdist_sha256=SDISTS[version],
        repairs=(),
        why=f"of OpenStack {openstack}; {why}",
    )


RELEASE_2024_1 = _release("2024.1", "14.7.3", "without Launchpad bug 2035113")
RELEASE_2025_1 = _release("2025.1", "16.1.2", WAITS)
RELEASE_2026_1 = _release("2026.1", "17.3.2", WAITS)


def _launcher(name: str, release: Release) -> Launcher:
    return replace(LAUNCHER, name=name, drivers={"rabbitmq": release.name})


LAUNCHER_2024_1 = _launcher(simulators.OF_2024_1.name, RELEASE_2024_1)
LAUNCHER_2025_1 = _launcher(simulators.OF_2025_1.name, RELEASE_2025_1)
LAUNCHER_2026_1 = _launcher(simulators.OF_2026_1.name, RELEASE_2026_1)
