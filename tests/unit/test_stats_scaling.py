"""The saturation point of a sweep, on curves with a known peak."""

import numpy as np
import pandas as pd
import pytest

from mqperf.study.stats.law import fit
from mqperf.study.stats.scaling import saturation_point, saturation_points
from mqperf.study.tables import Tables, conform, empty

COUNTS = (1, 2, 5, 10, 20, 50, 100)


def law(threads: np.ndarray, alpha: float, beta: float) -> np.ndarray:
    """The Universal Scalability Law as its author writes it."""
    return np.asarray(120 * threads / (1 + alpha * (threads - 1) + beta * threads * (threads - 1)))


def sweep(
    alpha: float, beta: float, counts: tuple[int, ...] = COUNTS, *, noise: float = 0.03, seed: int
) -> pd.DataFrame:
    threads = np.repeat(np.array(counts, dtype=float), 3)
    return noisy(threads, law(threads, alpha, beta), seed, noise)


def noisy(threads: np.ndarray, rates: np.ndarray, seed: int, noise: float = 0.03) -> pd.DataFrame:
    """Runs with these throughputs and multiplicative noise."""
    blur = np.exp(noise * np.random.default_rng(seed).normal(size=len(threads)))
    return pd.DataFrame({"threads": threads, "throughput_msg_s": rates * blur})


def test_an_exact_curve_gives_its_parameters() -> None:
    """Without noise, the peak is that of the formula."""
    exact = sweep(0.05, 0.0005, noise=0, seed=0)
    fitted = fit(exact["threads"].to_numpy(), exact["throughput_msg_s"].to_numpy())
    assert fitted.peak == pytest.approx(np.sqrt(0.95 / 0.0005))
    assert fitted.single_s == pytest.approx(1 / 120)
    assert fitted.shared / fitted.single_s == pytest.approx(0.05)


def test_the_interval_holds_the_peak() -> None:
    """Nearly every interval contains the true peak, of a curve of the law and of any other."""
    truth = np.sqrt(0.95 / 0.0005)
    rows = pd.DataFrame([saturation_point(sweep(0.05, 0.0005, seed=seed)) for seed in range(12)])
    assert set(rows["peak_lies"]) == {"inside"}
    held = (rows["peak_threads_low"] < truth) & (rows["peak_threads_high"] > truth)
    assert sum(held) >= 11
    counts = np.repeat(COUNTS, 3)
    collapse = 50 * np.minimum(counts, 8) * np.minimum(1, (20 / counts) ** 0.5)
    rows = pd.DataFrame([saturation_point(noisy(counts, collapse, seed)) for seed in range(40)])
    assert sum((rows["peak_threads_low"] < 8) & (rows["peak_threads_high"] > 8)) >= 37
    assert "peak_threads" not in rows


@pytest.mark.parametrize("top", [4, 30])
def test_a_plateau_is_no_peak(top: int) -> None:
    """Throughput that rises and stays level has none; at most one in twenty is given one."""
    counts = np.repeat(COUNTS, 3)
    rows = [
        saturation_point(noisy(counts, np.minimum(counts, top) * 50, seed)) for seed in range(40)
    ]
    assert [row["peak_lies"] for row in rows].count("plateau") >= 35
    assert all(
        "no fall after that is clear" in str(r["text"]) for r in rows if r["peak_lies"] == "plateau"
    )


def test_a_law_that_repeats_refute_gives_no_saturation_point() -> None:
    """A sharp corner does not follow the law, which three repeats show."""
    counts = np.repeat(COUNTS, 3)
    row = saturation_point(noisy(counts, np.minimum(counts, 4) * 50, seed=1))
    assert row.get("saturation_threads") is None
    assert "misses the runs" in str(row["text"])


def test_single_runs_of_few_counts_tell_no_peak() -> None:
    """With four or five single runs a decline may be chance, and there is no interval."""
    row = saturation_point(sweep(0.5, 0.0036, (1, 4, 12, 30, 60), seed=1).iloc[::3])
    assert row["peak_lies"] == "cannot tell"
    assert "5 runs do not tell a fall from chance" in str(row["text"])
    assert row.get("saturation_threads_low") is None
    assert row["saturation_threads"] is not None


def test_a_peak_outside_is_said_to_be_outside() -> None:
    """It is outside for a curve that only rises, and for one that only falls."""
    rising = saturation_point(sweep(0.02, 0.00001, seed=1))
    assert rising["peak_lies"] == "beyond"
    assert str(rising["text"]).startswith("Throughput still rises at 100 threads")
    assert (rising["peak_threads_low"], rising.get("peak_threads_high")) == (50, None)
    falling = saturation_point(sweep(0.3, 0.02, (50, 100, 150, 200), seed=1))
    assert falling["peak_lies"] == "below"
    assert (falling.get("peak_threads_low"), falling["peak_threads_high"]) == (None, 100)


def test_a_saturation_point_that_cannot_be_told() -> None:
    """There are only three thread counts, or repeats vary as much as the points."""
    few = saturation_point(sweep(0.05, 0.0005, (1, 10, 50), seed=1))
    assert few["peak_lies"] == "cannot tell"
    assert "3 thread counts were measured" in str(few["text"])
    zigzag = sweep(0.05, 0.0005, seed=1)
    zigzag.loc[::2, "throughput_msg_s"] /= 40
    assert saturation_point(zigzag)["peak_lies"] == "cannot tell"


def test_bounds_cross_where_one_thread_meets_the_top() -> None:
    """With one queueing centre it is the best throughput times the latency of one thread."""
    row = saturation_point(sweep(0.2, 0.0, seed=3))
    assert row["saturation_threads"] == pytest.approx(100 / (1 + 0.2 * 99), rel=0.1)
    assert (
        float(row["saturation_threads_low"] or 0) < 4.8 < float(row["saturation_threads_high"] or 0)
    )


def test_one_row_per_sweep() -> None:
    """Sweeps differ by system, topology, queues and test case; failed runs do not count."""
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
    saturations = saturation_points(tables)
    assert list(saturations["test_case"]) == ["rpc-call", "notify"]
    assert saturations["peak_threads"].between(35, 55).all()
    assert saturation_points({name: empty(name) for name in tables}).empty


def test_numbers_of_processes_are_curves_of_their_own() -> None:
    """Each row names its number of processes, and equals the row of that sweep alone."""
    keys = {"system": "rabbitmq", "topology": "cmsm", "queues": "classic", "test_case": "notify"}
    both = []
    for processes, shared in ((1, 0.05), (2, 0.5)):
        curve = sweep(shared, 0.0005, seed=2).assign(processes=processes, status="done", **keys)
        curve["green_threads"] = curve["threads"].astype(int)
        curve["threads"] = curve["green_threads"] * processes
        curve["point"] = [f"{count}x{processes}" for count in curve["green_threads"]]
        both.append(curve.assign(run=[f"{processes}-{n}" for n in range(len(curve))]))

    def tables(parts: list[pd.DataFrame]) -> Tables:
        runs = pd.concat(parts, ignore_index=True)
        measured = runs.drop(columns=["status", "processes", "green_threads"])
        return {
            "runs": conform("runs", runs.drop(columns="throughput_msg_s")),
            "messages": conform("messages", measured),
            "latency": empty("latency"),
            "cpu": empty("cpu"),
        }

    saturations = saturation_points(tables(both))
    assert list(saturations["processes"]) == [1, 2]
    sentences = saturations["text"].str.partition(": ")
    assert sentences[0].tolist() == ["With 1 client process", "With 2 client processes"]
    for number, part in enumerate(both):
        (alone,) = saturation_points(tables([part])).to_dict("records")
        assert alone["text"] == sentences[2][number]
        assert alone["saturation_threads"] == saturations["saturation_threads"][number]
        assert pd.isna(alone["processes"])
