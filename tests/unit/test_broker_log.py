"""Alarms and warnings in logs of brokers, such as of RabbitMQ 3.10.8 with 64 MB of memory."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mqperf.record import Facts
from mqperf.study.probes.broker_log import FOLDER, WIDTH, logged

LOG = """\
2026-11-21 06:36:34.122330+00:00 [info] <0.223.0> Running boot step rabbit_alarm defined by app rabbit
2026-11-21 06:36:34.138479+00:00 [info] <0.297.0> Memory high watermark set to 61 MiB (64000000 bytes) of 24105 MiB (25276510208 bytes) total
2026-11-21 06:36:34.138788+00:00 [info] <0.297.0> vm_memory_high_watermark set. Memory used:152317952 allowed:64000000
2026-11-21 06:36:34.138844+00:00 [warning] <0.295.0> memory resource limit alarm set on node mqperf1@localhost.
2026-11-21 06:36:34.138844+00:00 [warning] <0.295.0>
2026-11-21 06:36:34.138844+00:00 [warning] <0.295.0> *** Publishers will be blocked until this alarm clears ***
2026-11-21 06:36:34.380224+00:00 [warning] <0.295.0> memory resource limit alarm set on node mqperf2@localhost.
"""  # noqa: E501
BEGIN = datetime(2026, 11, 21, 6, 36, 40, tzinfo=UTC).timestamp()


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """The folder with a broker's logs, in a run folder."""
    folder = tmp_path / FOLDER
    folder.mkdir()
    return folder


def test_alarms_give_one_row_per_log(tmp_path: Path, logs: Path) -> None:
    """The row has time and text of the first alarm and their number; a sound log has no row."""
    (logs / "node1.log").write_text(LOG)
    (logs / "node2.log").write_text(LOG.splitlines()[0])
    (row,) = logged(tmp_path, Facts())
    detail = json.loads(row["detail"])
    assert (detail["log"], detail["times"]) == ("node1.log", 2)
    assert detail["line"] == LOG.splitlines()[3]
    assert row["time_s"] == pytest.approx(BEGIN - 5.861156)


def test_a_time_without_a_zone_is_no_instant(tmp_path: Path, logs: Path) -> None:
    """Such a time is ambiguous; and a quoted line is cut at the maximum width."""
    line = "2026-11-21 06:36:34,138 INFO  Usage(default:memory) full: stopped to prevent flooding"
    (logs / "broker.log").write_text(f"{line} {'x' * WIDTH}")
    (row,) = logged(tmp_path, Facts())
    assert row["time_s"] is None
    assert len(json.loads(row["detail"])["line"]) == WIDTH


def test_an_option_that_a_log_repeats_is_no_alarm(tmp_path: Path, logs: Path) -> None:
    """A Java broker may log the options it was started with, such as to exit without memory."""
    option = "INFO | Arguments: -XX:+ExitOnOutOfMemoryError -XX:+HeapDumpOnOutOfMemoryError"
    (logs / "broker.log").write_text(option)
    assert list(logged(tmp_path, Facts())) == []
    (logs / "broker.log").write_text(
        f"{option}\njava.lang.OutOfMemoryError: Java heap space\nOutOfMemoryError\n"
    )
    (row,) = logged(tmp_path, Facts())
    assert json.loads(row["detail"])["line"].startswith("java.lang.OutOfMemoryError")


def test_a_deprecated_feature_is_named(tmp_path: Path, logs: Path) -> None:
    """As RabbitMQ 4.3.6 logs it; further lines on permitting or forbidding it give no row."""
    feature = "Feature `transient_nonexcl_queues` is deprecated."
    warning = f"[warning] <0.908.0> Deprecated features: `transient_nonexcl_queues`: {feature}"
    allowed = '[warning] <0.908.0>     "deprecated_features.permit.transient_nonexcl_queues = true"'
    begin = "2026-11-25 19:04:05.123456+00:00"
    (logs / "node1.log").write_text(f"{begin} {warning}\n{begin} {allowed}\n")
    (row,) = logged(tmp_path, Facts())
    detail = json.loads(row["detail"])
    assert (row["what"], detail["feature"]) == ("deprecated", "transient_nonexcl_queues")


def test_no_logs_no_alarms(tmp_path: Path) -> None:
    """An existing cluster, for example, has no collected logs."""
    assert list(logged(tmp_path, Facts())) == []
