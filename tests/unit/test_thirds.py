"""The long test files, of which each day runs a third."""

from pathlib import Path

from thirds import THIRDS, left_out


def test_each_long_file_is_in_one_third(root: Path) -> None:
    """And exists: another name would run every day."""
    files = [file for third in THIRDS for file in third]
    assert len(files) == len({*files})
    assert [file for file in files if not (root / file).is_file()] == []
    assert [*THIRDS] == [tuple(sorted(third)) for third in THIRDS]


def test_three_days_run_every_file() -> None:
    """Each on one of them; all of them at once if asked."""
    of_days = [{*left_out(str(day))} for day in (1, 2, 3)]
    assert set.intersection(*of_days) == set()
    assert all(sum(file in others for others in of_days) == 2 for file in set.union(*of_days))
    assert left_out("all") == frozenset()
