"""Samples of k6 become runs, and their contradictions doubts.

The sample is real output; faults are planted into copies.
"""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_imported_peers import doubts, imported

from mqperf.base.errors import TableError
from mqperf_imported.study.k6 import is_k6

pytestmark = pytest.mark.takes_long

SAMPLE = Path(__file__).parents[2] / "data/samples/k6/publish.gz"
Sample = dict[str, Any]


def changed(folder: Path, change: Callable[[Sample], Sample | None]) -> Path:
    """A copy of the sample, unpacked, whose lines are changed or left out."""
    lines = (json.loads(line) for line in gzip.decompress(SAMPLE.read_bytes()).splitlines())
    kept = (sample for line in lines if (sample := change(line)) is not None)
    file = folder / "run.json"
    file.write_text("".join(f"{json.dumps(each, separators=(',', ':'))}\n" for each in kept))
    return file


def of_metric(name: str, sample: Sample) -> bool:
    return bool(sample["type"] == "Point" and sample["metric"] == name)


def test_samples_of_k6_are_a_run(tmp_path: Path) -> None:
    """Whole seconds after the first; packed or not."""
    read = imported(SAMPLE)
    message, latency = read["messages"].iloc[0], read["latency"].iloc[0]
    inside = read["intervals"].query("stream == 'round-trip' and phase == 'window'")["count"]
    assert message["sent"] == message["round_trip"] > inside.sum()
    assert message["throughput_msg_s"] == pytest.approx(inside.mean())
    assert len(inside) == read["runs"]["window_s"][0]
    assert 0 < latency["latency_p50_s"] <= latency["latency_max_s"] < 1
    again = imported(changed(tmp_path, lambda sample: sample))
    assert again["messages"]["throughput_msg_s"][0] == message["throughput_msg_s"]


def test_sound_samples_raise_no_doubt() -> None:
    """But that their latency counts from the sending, if a rate is offered."""
    assert doubts(SAMPLE) == {}
    assert {*doubts(SAMPLE, {"rate_msg_s": 100.0})} == {"service-time"}


def test_contradictions_are_doubted(tmp_path: Path) -> None:
    """A missing count; iterations that take longer than all virtual users have."""
    first = iter([True])

    def without_one(sample: Sample) -> Sample | None:
        return None if of_metric("iterations", sample) and next(first, False) else sample

    text = doubts(changed(tmp_path, without_one))["record-disagrees"]
    assert "iterations: the counter has" in text

    def slower(sample: Sample) -> Sample:
        if of_metric("iteration_duration", sample):
            sample["data"]["value"] = 900.0
        return sample

    text = doubts(changed(tmp_path, slower))["record-disagrees"]
    assert "virtual users busy" in text


def test_dropped_iterations_and_failed_checks_are_notes(tmp_path: Path) -> None:
    """Less was offered than the script says; not all did what it checks."""

    def worse(sample: Sample) -> Sample:
        if of_metric("checks", sample):
            sample["data"]["value"] = 0
        if of_metric("vus", sample):
            sample |= {"metric": "dropped_iterations"}
        return sample

    texts = " ".join(imported(changed(tmp_path, worse))["doubts"]["text"])
    assert "iterations were dropped" in texts
    assert "checks of the script failed" in texts


def test_damaged_samples_are_refused(tmp_path: Path) -> None:
    """By file and line."""
    file = changed(tmp_path, lambda sample: sample)
    whole = file.read_text()
    file.write_text(whole[:-20])
    with pytest.raises(TableError, match=r"run.json:\d+: is no sample of k6, or is cut short"):
        imported(file)
    file.write_text(whole.replace('"value":', '"value":-', 1))
    with pytest.raises(TableError, match="has an invalid value or time"):
        imported(file)

    def of_others(sample: Sample) -> Sample:
        if of_metric("iteration_duration", sample) and sample["data"]["value"] > 1:
            sample["data"]["tags"]["scenario"] = "other"
        return sample

    with pytest.raises(TableError, match=r"several scenarios \(other, \w+\): run each"):
        imported(changed(tmp_path, of_others))
    short = changed(tmp_path, lambda each: None if of_metric("iteration_duration", each) else each)
    with pytest.raises(TableError, match="has iterations in 0 s: a run takes 3 or more"):
        imported(short)


def test_other_files_are_none_of_k6(tmp_path: Path) -> None:
    """Whatever their names."""
    (other := tmp_path / "other.json").write_text("{}")
    (packed := tmp_path / "other.gz").write_bytes(b"no gzip")
    assert not is_k6(other)
    assert not is_k6(packed)
    assert not is_k6(tmp_path / "missing.json")
