"""What single notebooks show; what all of them call is in ``mqperf.pages.notebook``."""

from mqperf.pages.views import hosts, latency

__all__ = ["hosts", "latency"]
