"""A quick measurement of a running broker: its verdicts, and where its password appears."""

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

from one_rabbitmq import master_of

from mqperf.lab.systems.rabbitmq.private import PrivateCluster

MQPERF = str(Path(sys.executable).with_name("mqperf"))


def test_thresholds_of_a_running_broker(rabbitmq: PrivateCluster, tmp_path: Path) -> None:
    """Exit code, output and XML agree; the plan is printed, the password appears nowhere."""
    broker = master_of(rabbitmq)
    (tmp_path / "secret").write_text(f"{broker.password}\n")
    words = f"quick amqp://{broker.user}@{broker.addresses[0]}/ --rate 100 --for 2s --runs runs"
    words += " --lost 0 --throughput 9000 --junit quick.xml --password-file secret"
    done = subprocess.run(
        [MQPERF, *words.split()],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "MQPERF_PASSWORD"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert f'urls: ["amqp://{broker.user}:${{MQPERF_PASSWORD}}@{broker.addresses[0]}"]' in (
        done.stdout
    )
    assert "pass  lost at most 0: 0" in done.stdout
    assert "FAIL  throughput at least 9,000 msg/s: " in done.stdout
    assert "How high is throughput?" in done.stdout
    suite = ET.parse(tmp_path / "quick.xml").getroot()  # noqa: S314 (our own)
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "0")
    (tmp_path / "secret").unlink()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert "quick.xml" in {path.name for path in files}
    assert [path for path in files if broker.password in path.read_text(errors="replace")] == []
    assert broker.password not in done.stdout + done.stderr


def test_a_broker_that_is_not_there(tmp_path: Path) -> None:
    """The run is reported as failed, with exit code 1, and as an error in the XML."""
    words = "quick amqp://perf@127.0.0.1:1/ --for 1s --junit quick.xml"
    env = {**os.environ, "MQPERF_PASSWORD": "hush"}
    done = subprocess.run(
        [MQPERF, *words.split()], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "FAIL  the run failed: amqp://perf:***@127.0.0.1:1: cannot be reached" in done.stdout
    [error] = ET.parse(tmp_path / "quick.xml").getroot().iter("error")  # noqa: S314 (our own)
    assert "cannot be reached" in str(error.get("message"))
