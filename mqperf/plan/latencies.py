"""The figures of latency that a plan may limit, which are columns of tables, too."""

from collections.abc import Mapping

PERCENTILES: Mapping[str, float] = {
    "latency_p50_s": 0.5,
    "latency_p90_s": 0.9,
    "latency_p95_s": 0.95,
    "latency_p99_s": 0.99,
    "latency_p999_s": 0.999,
}
"""The share of messages that take no longer."""

LATENCIES: Mapping[str, str] = {
    "latency_mean_s": "mean latency",
    **{name: f"p{share * 100:g}" for name, share in PERCENTILES.items()},
}
"""What each is called in a sentence."""
