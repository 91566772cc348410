"""What single notebooks show; what all of them call is in ``mqperf.pages.notebook``."""

from mqperf.pages.views import conditions, faults, hosts, latency, stress

__all__ = ["conditions", "faults", "hosts", "latency", "stress"]
