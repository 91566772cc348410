"""Systems under test, one module each."""

from mqperf.systems import rabbitmq
from mqperf.systems.system import Deployment, Node, System

__all__ = ["SYSTEMS", "Deployment", "Node", "System"]

SYSTEMS: dict[str, System] = {system.name: system for system in (rabbitmq.SYSTEM,)}
