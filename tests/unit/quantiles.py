"""Quantiles of histograms, as readers of the histograms compute them."""

import numpy as np

from mqperf.onhost.record.hdr import Histogram, highest_ns


def quantile_s(histogram: Histogram, level: float) -> float:
    """The latency that a share ``level`` does not exceed, to three digits."""
    rank = max(1, int(np.ceil(level * histogram.total)))
    index = np.searchsorted(np.cumsum(histogram.counts), rank)
    return float(highest_ns(np.array([index]))[0]) / 1e9
