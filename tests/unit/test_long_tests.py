"""The long test files, of which each day runs a part."""

from pathlib import Path

from long_tests import DAYS, left_out


def test_each_long_file_has_one_turn(root: Path) -> None:
    """And exists: another name would run every day."""
    files = [file for turn in DAYS.values() for file in turn]
    assert len(files) == len({*files})
    assert [file for file in files if not (root / file).is_file()] == []
    assert [*DAYS.values()] == [tuple(sorted(turn)) for turn in DAYS.values()]


def test_all_days_together_run_every_file() -> None:
    """Each on one of them; all of them at once if asked."""
    of_days = [{*left_out(str(day))} for day in DAYS]
    assert set.intersection(*of_days) == set()
    others = len(DAYS) - 1
    assert all(sum(file in of_day for of_day in of_days) == others for file in set.union(*of_days))
    assert left_out("all") == frozenset()
