"""The long test files, of which each day runs a part."""

from pathlib import Path

from long_tests import PARTS, left_out


def test_each_long_file_is_in_one_part(root: Path) -> None:
    """And exists: another name would run every day."""
    files = [file for part in PARTS for file in part]
    assert len(files) == len({*files})
    assert [file for file in files if not (root / file).is_file()] == []
    assert [*PARTS] == [tuple(sorted(part)) for part in PARTS]


def test_days_in_a_row_run_every_file_once() -> None:
    """All of them at once if asked."""
    files = {file for part in PARTS for file in part}
    run = [
        file for day in range(20_000, 20_000 + len(PARTS)) for file in files - left_out(str(day))
    ]
    assert sorted(run) == sorted(files)
    assert left_out("all") == frozenset()
