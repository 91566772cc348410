"""Records of atop 2.8.1 from a host with three RabbitMQ nodes."""

from pathlib import Path

import pandas as pd
import pytest

from mqperf.base.errors import ProbeError
from mqperf_atop.record import text as atop_text
from mqperf_atop.study import unwatched

BEGIN = 1795226661
BOOT = BEGIN
"""The first block ends here, and counts from the boot on."""


@pytest.fixture
def log(root: Path) -> Path:
    return root / "data/samples/atop/atop-2.8.1.txt"


def read(log: Path, begin: int, seconds: int) -> pd.DataFrame:
    """Rows of a window."""
    return unwatched.read(log, "mq1", (float(begin), float(begin + seconds)))


def own(rows: pd.DataFrame, process: str, scope: str) -> pd.DataFrame:
    """The rows of a process in this scope."""
    return rows[rows["process"].eq(process) & rows["scope"].eq(scope)]


def test_ticks_become_cores(log: Path) -> None:
    """User and system time of all broker processes, counting no thread twice; and the host's."""
    rows = read(log, BEGIN, 1)
    broker, host = (own(rows, name, "interval") for name in ("mq1", "host mq1"))
    assert broker["total_cores"].tolist() == [pytest.approx(0.43)]
    assert broker["sys_cores"].tolist() == [pytest.approx(0.16)]
    assert host["total_cores"].tolist() == [pytest.approx(1.73)]
    assert host["sys_cores"].tolist() == [pytest.approx(0.40)]
    assert set(rows["cores"]) == {2}
    assert set(rows["kind"]) == {"broker", "host"}


def test_the_window_is_the_mean_of_its_seconds(log: Path) -> None:
    """Each second has its rows, and the window has one."""
    rows = read(log, BEGIN, 11)
    seconds = own(rows, "mq1", "interval")
    assert seconds["start_s"].tolist() == list(range(11))
    whole = own(rows, "mq1", "window").iloc[0]
    assert whole["total_cores"] == pytest.approx(seconds["total_cores"].mean())
    assert (whole["start_s"], whole["end_s"]) == (0, 11)


def test_an_incomplete_window_has_no_total(log: Path) -> None:
    """The recorded seconds are kept; for another hour there is nothing."""
    assert set(read(log, BEGIN + 6, 20)["scope"]) == {"interval"}
    assert read(log, BEGIN + 3600, 20).empty


def test_use_since_the_boot_is_no_interval(log: Path) -> None:
    """The first block of a record covers hours, and is skipped."""
    assert read(log, BOOT - 1920, 1920).empty


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no broker in it"),
        (
            "CPU a 5 d t 1 100 2 1 1 0 8 0 0 0 0\nSEP\n",
            "no process is called beam.smp",
        ),
        ("PRC a 5 d t 1 7 (sh) S 100 1 1\nSEP\n", "print it with atop -P PRC,CPU"),
        ("CPU a 5 d t 1 100 2 1 1\n", "print it with atop -P PRC,CPU"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, words: str) -> None:
    """The error names the file and what to do."""
    file = tmp_path / "mq1.txt"
    file.write_text(text)
    with pytest.raises(ProbeError, match=rf"mq1\.txt: .*{words}"):
        unwatched.read(file, "mq1", (0.0, 10.0))


def test_a_record_is_read_in_pieces(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The result is the same wherever a piece ends, so long records need no more memory."""
    expected = read(log, BEGIN, 11)
    for size in (1, 7, 100, 4096):
        monkeypatch.setattr(atop_text, "CHUNK_BYTES", size)
        unwatched.intervals.cache_clear()
        pd.testing.assert_frame_equal(read(log, BEGIN, 11), expected)


def test_a_file_without_separators_is_no_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a file is not read to its end, however long it is."""
    monkeypatch.setattr(atop_text, "BLOCK_LIMIT_BYTES", 1000)
    file = tmp_path / "mq1.txt"
    file.write_text("CPU a 5 d t 1 100 2 1 1 0 8 0 0 0 0\n" * 100)
    with pytest.raises(ProbeError, match="3600 bytes without a line SEP: no record of atop"):
        unwatched.read(file, "mq1", (0.0, 10.0))


def test_a_program_named_like_part_of_a_broker_is_none(tmp_path: Path) -> None:
    """Names may hold brackets and blanks; only the whole name counts."""
    line = "PRC a {} d t 1 7 ({}) S 100 {} 0 0 120 0 0 1 0 7 y 1 () 0 -3 -3\n"
    names = [("beam.smp", 30), ("(beam.smp) x", 50), ("java", 5), ("my (java) ", 7)]
    host = "CPU a {} d t 1 100 2 1 1 0 8 0 0 0 0\n"
    blocks = [
        host.format(end) + "".join(line.format(end, name, ticks) for name, ticks in names)
        for end in (5, 6)
    ]
    file = tmp_path / "mq1.txt"
    file.write_text("SEP\n".join(blocks))
    rows = unwatched.read(file, "mq1", (4.0, 6.0))
    assert own(rows, "mq1", "window")["total_cores"].tolist() == [pytest.approx(0.35)]
