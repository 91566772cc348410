"""A quick measurement before anything runs: its plan, URL, thresholds and JUnit XML."""

import getpass
import os
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner

from mqperf.base.errors import MqperfError
from mqperf.front.cli import app
from mqperf.lab.systems.in_plans import problems_of
from mqperf.plan.file import parse_plan
from mqperf_projects.front import thresholds
from mqperf_projects.front.broker_url import VARIABLE, with_password
from mqperf_projects.front.quick import plan_text

LOAD = {"green_threads": 2, "rate_msg_s": 500.0, "payload_bytes": 64}
SOUND = {"latency_p99_s": 0.0031, "lost": 0, "lost_share": 0.0, "throughput_msg_s": 499.5}


@pytest.fixture
def no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable is unset, also after the test has set it."""
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.delenv(VARIABLE)


def test_options_stand_for_a_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """They give one case at the broker of the URL or at a private one; a rate is optional."""
    monkeypatch.setenv(VARIABLE, "x")
    text = plan_text("amqp://perf:${MQPERF_PASSWORD}@mq1", "quorum", "1min", LOAD)
    plan = parse_plan(text, Path("quick.yaml"), problems_of)
    [case] = plan.cases()
    assert (case.topology, case.queues, case.duration_s) == ("single", "quorum", 60)
    assert case.parameters == {"rate_msg_s": 500, "payload_bytes": 64}
    assert plan.systems["rabbitmq"].settings["nodes"] == ["broker"]
    text = plan_text(None, "classic", "3s", {**LOAD, "rate_msg_s": None})
    [case] = parse_plan(text, Path("quick.yaml"), problems_of).cases()
    assert case.settings == {}
    assert case.parameters == {"payload_bytes": 64}


@pytest.mark.parametrize("rate", [float("inf"), float("nan")])
def test_a_rate_is_a_number(rate: float) -> None:
    """Anything else is an error that names the option."""
    with pytest.raises(MqperfError, match="--rate: expected a number"):
        plan_text(None, "classic", "3s", {**LOAD, "rate_msg_s": rate})


@pytest.mark.parametrize("duration", ["30", "1.5s", "0s", "s", "ten s", "-1s"])
def test_a_duration_is_whole_seconds(duration: str) -> None:
    """Anything else is an error that names the option."""
    with pytest.raises(MqperfError, match=rf"--for {duration}: expected"):
        plan_text(None, "classic", duration, LOAD)


@pytest.mark.usefixtures("no_password")
@pytest.mark.parametrize(
    ("url", "planned"),
    [
        ("amqp://perf@mq1/", "amqp://perf:${MQPERF_PASSWORD}@mq1"),
        ("amqp://perf@mq1:5673/a%2Fb", "amqp://perf:${MQPERF_PASSWORD}@mq1:5673/a%2Fb"),
        (
            "amqps://perf@[::1]/?ssl_ca_file=/ca.pem",
            "amqps://perf:${MQPERF_PASSWORD}@[::1]?ssl_ca_file=/ca.pem",
        ),
    ],
    ids=["default virtual host", "virtual host", "TLS"],
)
def test_a_url_gets_its_password_from_a_file(url: str, planned: str, tmp_path: Path) -> None:
    """The plan refers to the variable; the file's final newline is not part of the password."""
    (tmp_path / "secret").write_text("p/w \n")
    assert with_password(url, tmp_path / "secret", ask=False) == planned
    assert os.environ[VARIABLE] == "p/w "


@pytest.mark.usefixtures("no_password")
def test_a_person_is_asked_for_the_password(monkeypatch: pytest.MonkeyPatch) -> None:
    """The prompt appears only on a terminal, and only if the variable is unset."""
    monkeypatch.setattr(getpass, "getpass", lambda text: f"typed after {text}")
    with pytest.raises(MqperfError, match=r"no password for perf: export MQPERF_PASSWORD, or give"):
        with_password("amqp://perf@mq1", None, ask=False)
    with_password("amqp://perf@mq1", None, ask=True)
    assert os.environ[VARIABLE] == "typed after password of perf: "
    monkeypatch.setenv(VARIABLE, "there")
    with_password("amqp://perf@mq1", None, ask=True)
    assert os.environ[VARIABLE] == "there"


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("amqp://perf:hush@mq1/", "the URL has a password, which every user"),
        ("amqp://perf:@mq1/", "the URL has a password"),
        ("amqp://mq1/", "the URL has no user: write amqp://USER@HOST"),
        ("amqp://perf@mq1/?token=hush", "options that may be secrets"),
        ("mq1", "the URL: it has no scheme: expected amqp://USER@HOST:PORT/VHOST"),
        ("http://perf@mq1/", "its scheme must be amqp"),
    ],
    ids=["password", "empty password", "no user", "option", "no URL", "scheme"],
)
def test_a_url_that_is_refused(
    url: str, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The error comes before anything runs, and without the secret."""
    monkeypatch.setenv(VARIABLE, "x")
    monkeypatch.chdir(tmp_path)
    error = CliRunner().invoke(app, ["quick", url]).exception
    assert isinstance(error, MqperfError)
    assert message in str(error)
    assert "hush" not in str(error)
    assert [*tmp_path.iterdir()] == []


def test_a_missing_password_file_is_an_error(tmp_path: Path) -> None:
    """The error names the file."""
    with pytest.raises(MqperfError, match="nothing: cannot read the password: No such file"):
        with_password("amqp://perf@mq1", tmp_path / "nothing", ask=False)


def test_thresholds_hold_or_do_not() -> None:
    """Each is checked against its own figure; equality passes, and a missing figure fails."""
    limits = [
        thresholds.latency("latency_p99_s", "3.1ms"),
        thresholds.latency("latency_p50_s", "1s"),
        thresholds.lost("0"),
        thresholds.lost("0.1%"),
        thresholds.throughput("500"),
    ]
    lines = [verdict.line for verdict in thresholds.judged(limits, SOUND, [])]
    assert lines == [
        "pass  p99 at most 3.1 ms: 3.1 ms",
        "FAIL  p50 at most 1,000 ms: not measured",
        "pass  lost at most 0: 0",
        "pass  lost at most 0.1%: 0%",
        "FAIL  throughput at least 500 msg/s: 499.5 msg/s",
    ]
    lost = {**SOUND, "lost": 3, "lost_share": 0.002}
    assert not any(verdict.holds for verdict in thresholds.judged(limits[2:4], lost, []))


def test_numbers_that_contradict_their_records_pass_nothing() -> None:
    """An invalidating doubt fails all thresholds; one that only limits a figure does not."""
    limits = [thresholds.lost("0")]
    [verdict] = thresholds.judged(limits, SOUND, [("noisy-host", "others used it")])
    assert verdict.holds
    [verdict] = thresholds.judged(limits, SOUND, [("causality", "1"), ("noisy-host", "2")])
    assert verdict.line == "FAIL  lost at most 0: 0, doubted (causality)"


@pytest.mark.parametrize("text", ["x", "-1", "nan", "inf", "1%%", ""], ids=repr)
def test_an_invalid_number_is_an_error(text: str) -> None:
    """The error names the value and its option."""
    with pytest.raises(MqperfError, match=r"--lost .*: expected a number"):
        thresholds.lost(text)


def test_continuous_integration_reads_the_verdicts() -> None:
    """The XML has a case for the run and each threshold, failures with a line, doubts as output."""
    limits = [thresholds.lost("0"), thresholds.throughput("9000")]
    doubts = [("noisy-host", "used 1 < 2 \x1b[1m& more")]
    verdicts = thresholds.judged(limits, SOUND, doubts)
    suite = ET.fromstring(thresholds.as_junit(verdicts, doubts, "", 12.5))  # noqa: S314 (our own)
    counts = [suite.get(name) for name in ("tests", "failures", "errors", "time")]
    assert counts == ["3", "1", "0", "12.500"]
    names = [case.get("name") for case in suite.iter("testcase")]
    assert names == ["run", "lost at most 0", "throughput at least 9,000 msg/s"]
    [failure] = suite.iter("failure")
    assert str(failure.get("message")).startswith("FAIL  throughput at least 9,000 msg/s: 499.5")
    assert suite.findtext("system-out") == "noisy-host: used 1 < 2  [1m& more"
    suite = ET.fromstring(thresholds.as_junit([], [], "it fell", 1.0))  # noqa: S314 (our own)
    assert [error.get("message") for error in suite.iter("error")] == ["it fell"]
    assert suite.findtext("system-out") == "no doubts"
