"""Live view of a run in two lines of text."""

from collections.abc import Iterator, Sequence

from mqperf.lab.pulse import Beat, Scene
from mqperf.record.logs.psutil_log import WHOLE_HOST

BLOCKS = "▁▂▃▄▅▆▇█"
TREND = 12
"""Number of latest beats whose throughput is drawn."""

UNIT_S = 1e-3
SHOWN_CORES = 0.02


def lines(scene: Scene) -> list[str]:
    """Return time, throughput and latency, then cores by process; empty before the first beat."""
    if (beat := scene.last) is None:
        return []
    words = [f"{min(max(0.0, beat.at_s), scene.window_s):.0f} of {scene.window_s:.0f} s"]
    if beat.rate_msg_s is not None:
        words.append(f"{beat.rate_msg_s:,.0f} {scene.unit}/sec {_trend(scene)}")
    if beat.one_way_s is not None:
        words.append(f"{scene.heard} {beat.one_way_s / UNIT_S:,.1f} ms")
    return ["  ".join(words), "  ".join(("CPU cores:", *_cores(beat)))]


def _trend(scene: Scene) -> str:
    """Return the latest throughputs as a row of blocks, scaled to the largest of them."""
    rates = [beat.rate_msg_s or 0.0 for beat in [*scene.beats][-TREND:]]
    return blocks(rates)


def blocks(values: Sequence[float]) -> str:
    """Return values as blocks, the largest as a full block."""
    largest = max(values, default=0.0)
    if not largest:
        return BLOCKS[0] * len(values)
    return "".join(BLOCKS[round(value / largest * (len(BLOCKS) - 1))] for value in values)


def _cores(beat: Beat) -> Iterator[str]:
    """Yield cores of whole hosts, then of processes that use at least ``SHOWN_CORES``."""
    hosts = [label for label in beat.cores if label.startswith(WHOLE_HOST)]
    busy = [label for label, cores in beat.cores.items() if cores >= SHOWN_CORES]
    for label in dict.fromkeys([*hosts, *busy]):
        yield f"{label} {beat.cores[label]:.2f}"
