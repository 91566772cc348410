"""The control folders of a run: every host gets the start in time, by its own clock."""

import json
import time
from pathlib import Path

import pytest
from typing_extensions import override

from mqperf.base.errors import HostError
from mqperf.hosts import LocalHost, Offset
from mqperf.lab.runner.control import ControlFolders, Station, next_start


class Far(LocalHost):
    """This machine under another name, reached over a slow connection."""

    name = "far"

    def __init__(self, way_s: float) -> None:
        self.way_s = way_s

    @override
    def write(self, path: Path, text: str, mode: int = 0o600) -> None:
        time.sleep(self.way_s)
        super().write(path, text, mode)


def started(tmp_path: Path, way_s: float) -> tuple[int, dict[str, float]]:
    """The agreed start, and the start that each host got."""
    stations = [Station(host, tmp_path / host.name) for host in (LocalHost(), Far(way_s))]
    start = next_start()
    clocks = {"local": Offset(0.0, 0.0), "far": Offset(-12.5, 0.001)}
    ControlFolders(stations).start(start, clocks)
    files = {station.host.name: station.folder / "start" for station in stations}
    return start, {name: json.loads(file.read_text())["start"] for name, file in files.items()}


def test_every_host_gets_the_start_by_its_own_clock(tmp_path: Path) -> None:
    """For a clock that is behind, the start is earlier by the offset."""
    start, starts = started(tmp_path, way_s=0)
    assert starts == {"local": start, "far": start - 12.5}


def test_a_host_that_gets_the_start_too_late_is_named(tmp_path: Path) -> None:
    """Its processes could not begin with the others."""
    with pytest.raises(HostError, match=r"far: learned of the start less than 0\.2 s before"):
        started(tmp_path, way_s=2)
