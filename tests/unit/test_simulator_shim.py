"""Parts of the shim that can be tested without the simulator."""

import io
import random
import string
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from mqperf.onhost.load.capped_log import CappedLog
from mqperf.onhost.load.control import Control
from mqperf.onhost.load.random_text import letters
from mqperf.onhost.load.repairs import repair


def test_letters_are_equally_likely() -> None:
    """Chi-squared of the 26 letters' counts stays below its 99.9 % bound."""
    random.seed(1)
    counts = Counter(letters(260_000))
    assert set(counts) == set(string.ascii_lowercase)
    assert sum((count - 10_000) ** 2 / 10_000 for count in counts.values()) < 52.6


@pytest.mark.parametrize("count", [0, 1, 26, 5_000])
def test_bodies_have_the_length_asked_for(count: int) -> None:
    """The simulator's distribution of lengths is unchanged."""
    assert len(letters(count)) == count


def test_equal_seeds_give_equal_letters() -> None:
    """A run can be repeated with the same bodies."""
    random.seed(5)
    first = letters(1000)
    random.seed(5)
    assert letters(1000) == first


def test_a_short_log_is_left_alone() -> None:
    """Nothing is added if nothing was dropped."""
    stream = io.StringIO()
    log = CappedLog(stream, 100)
    log.write("all is well\n")
    log.finish()
    assert stream.getvalue() == "all is well\n"


def test_a_long_log_is_capped_and_keeps_its_end() -> None:
    """It stops at its limit, says how much is missing, and ends with the last entries."""
    stream = io.StringIO()
    log = CappedLog(stream, 1000)
    for number in range(10_000):
        log.write(f"entry {number:5}\n")
    log.finish()
    text = stream.getvalue()
    assert len(text) < 2000
    assert text.startswith("entry     0\n")
    assert "[log capped: 118992 bytes dropped; the last of them:]" in text
    assert text.endswith("entry  9998\nentry  9999\n")


def test_the_traceback_that_ends_a_process_gets_through() -> None:
    """Text written after a capped log ended explains why the process died."""
    stream = io.StringIO()
    log = CappedLog(stream, 1)
    log.write("one\ntwo\n")
    log.write("three\n")
    log.finish()
    log.write("Traceback\n")
    assert stream.getvalue().endswith("three\nTraceback\n")


def test_a_process_waits_for_the_agreed_start(tmp_path: Path) -> None:
    """It starts at the instant in the runner's file; a signal ends the wait without a start."""
    control = Control(tmp_path, "client-1")
    control.say("ready")
    assert (tmp_path / "client-1.ready").exists()
    (tmp_path / "start").write_text('{"start": 1795226394}')
    assert control.wait_for_start() == 1795226394
    control.stopping = True
    assert control.wait_for_start() is None
    control.wait_for_stop()


def test_an_unknown_repair_is_refused() -> None:
    """A release that needs an unknown repair does not run without it."""
    with pytest.raises(AttributeError, match="no attribute 'absent'"):
        repair(ModuleType("simulator"), ["mqperf.onhost.load.repairs:absent"])
