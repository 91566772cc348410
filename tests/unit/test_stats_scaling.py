"""The knee of a sweep, tried on curves of which the peak is known."""

import numpy as np
import pandas as pd
import pytest

from mqperf.stats.scaling import fit, knee, knees
from mqperf.tables import conform, empty

COUNTS = (1, 2, 5, 10, 20, 50, 100)


def law(threads: np.ndarray, alpha: float, beta: float) -> np.ndarray:
    """The Universal Scalability Law as its author writes it."""
    return np.asarray(120 * threads / (1 + alpha * (threads - 1) + beta * threads * (threads - 1)))


def sweep(
    alpha: float, beta: float, counts: tuple[int, ...] = COUNTS, *, noise: float = 0.03, seed: int
) -> pd.DataFrame:
    threads = np.repeat(np.array(counts, dtype=float), 3)
    blur = np.exp(noise * np.random.default_rng(seed).normal(size=len(threads)))
    return pd.DataFrame({"threads": threads, "throughput_msg_s": law(threads, alpha, beta) * blur})


def test_an_exact_curve_gives_its_parameters() -> None:
    """Without noise, the peak is that of the formula."""
    exact = sweep(0.05, 0.0005, noise=0, seed=0)
    fitted = fit(exact["threads"].to_numpy(), exact["throughput_msg_s"].to_numpy())
    assert fitted.peak == pytest.approx(np.sqrt(0.95 / 0.0005))
    assert fitted.single_s == pytest.approx(1 / 120)
    assert fitted.shared / fitted.single_s == pytest.approx(0.05)


def test_the_interval_holds_the_peak() -> None:
    """About 95 in 100 intervals hold the true peak."""
    truth, held = np.sqrt(0.95 / 0.0005), 0
    for seed in range(60):
        row = knee(sweep(0.05, 0.0005, seed=seed))
        assert row["peak_lies"] == "inside"
        low, high = row["peak_threads_low"], row["peak_threads_high"]
        assert isinstance(low, float)
        assert isinstance(high, float)
        held += low < truth < high
    assert held >= 53


def test_a_peak_outside_is_said_to_be_outside() -> None:
    """A curve that still rises, and one that only falls."""
    rising = knee(sweep(0.02, 0.00001, seed=1))
    assert rising["peak_lies"] == "beyond"
    assert str(rising["text"]).startswith("The peak lies beyond the sweep, above 100 threads")
    assert rising["peak_threads_high"] is None
    falling = knee(sweep(0.3, 0.02, (50, 100, 150, 200), seed=1))
    assert falling["peak_lies"] == "below"


def test_a_knee_that_cannot_be_told() -> None:
    """Three thread counts, or a sweep that no such law describes."""
    few = knee(sweep(0.05, 0.0005, (1, 10, 50), seed=1))
    assert few["peak_lies"] == "cannot tell"
    assert "3 thread counts were measured" in str(few["text"])
    zigzag = sweep(0.05, 0.0005, seed=1)
    zigzag.loc[::2, "throughput_msg_s"] /= 4
    assert knee(zigzag)["peak_lies"] == "cannot tell"


def test_bounds_cross_where_one_thread_meets_the_top() -> None:
    """With a single queueing place, the knee is the best throughput times the lone latency."""
    threads = np.array([1.0, 2, 4, 8, 16])
    row = knee(pd.DataFrame({"threads": threads, "throughput_msg_s": np.minimum(threads, 4) * 50}))
    assert row["knee_threads"] == pytest.approx(4, rel=0.2)


def test_one_row_per_sweep() -> None:
    """Knees are told apart by system, topology, queues and test case; failed runs do not count."""
    keys = {"system": "rabbitmq", "topology": "cmsm", "queues": "classic", "status": "done"}
    both = []
    for test_case in ("rpc-call", "notify"):
        curve = sweep(0.05, 0.0005, seed=2).assign(test_case=test_case, **keys)
        both.append(curve.assign(run=[f"{test_case}-{n}" for n in range(len(curve))]))
    runs = pd.concat(both, ignore_index=True).assign(point="p")
    tables = {
        "runs": conform("runs", runs.drop(columns="throughput_msg_s")),
        "messages": conform("messages", runs.drop(columns="status")),
        "latency": empty("latency"),
        "cpu": empty("cpu"),
    }
    found = knees(tables)
    assert list(found["test_case"]) == ["rpc-call", "notify"]
    assert found["peak_threads"].between(35, 55).all()
    assert knees({name: empty(name) for name in tables}).empty
