"""The answer in a few lines: what a person reads when a sweep is over."""

from pathlib import Path

from mqperf import answer
from mqperf.record import runs

SAMPLES = "data/samples/runs"


def test_the_best_points_stand_in_one_table(root: Path) -> None:
    """A line per layout and test case, columns aligned, then the commands that come next."""
    lines = list(answer.of_runs(root / SAMPLES))
    table, rest = lines[: lines.index("")], lines[lines.index("") + 1 :]
    assert len(table) == 1 + 2 * 2 * 3
    assert len({line.find("CALL") for line in table if "CALL" in line}) == 1
    row = next(line for line in table if "Client -> Master, Server -> Master  " in line)
    assert row.split() == [
        *("rabbitmq", "Client", "->", "Master,", "Server", "->", "Master"),
        *("CALL", "1407.0", "5", "6.1", "none", "none"),
    ]
    assert rest == [
        f"15 doubts: mqperf audit {root / SAMPLES}",
        f"pages to publish: mqperf report {root / SAMPLES} --out reports/runs",
    ]


def test_a_run_tells_throughput_and_slowest_hundredth(root: Path) -> None:
    """The figures are those of the tables."""
    run = next(run for run in runs(root / SAMPLES) if "cmsm-classic-rpc-call-t0005" in run.id)
    assert answer.of_run_if_sound(run) == "1407.0 msg/sec, p99 6.1 ms"


def test_a_run_that_cannot_be_read_is_told(root: Path, tmp_path: Path) -> None:
    """What was recorded stays recorded: a sweep goes on whatever its last run is like."""
    sample = next(runs(root / SAMPLES))
    (tmp_path / sample.id).mkdir()
    (tmp_path / sample.id / "run.json").write_text("{")
    [run] = runs(tmp_path)
    assert answer.of_run_if_sound(run).startswith("its figures cannot be read: ")
