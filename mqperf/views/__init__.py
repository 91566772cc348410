"""What single notebooks show; what all of them call is in ``mqperf.notebook``."""

from mqperf.views import conditions, faults, hosts, latency, stress

__all__ = ["conditions", "faults", "hosts", "latency", "stress"]
