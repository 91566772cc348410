"""The live view: what is read of a run, and how a terminal, a cell and a page show it."""

import json
import re
import subprocess
import tempfile
from base64 import b64encode
from collections.abc import Iterator
from email.message import Message
from hashlib import sha256
from http import HTTPStatus
from http.client import HTTPConnection
from io import StringIO
from itertools import count
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

import pytest
from patience import eventually
from rich.console import Console
from test_trial import CASE

from mqperf.base.errors import InstallError
from mqperf.front.live import Beat, Pulse, Scene, cell, panel, served, view
from mqperf.front.progress import Bar
from mqperf.lab.probes import PROBES
from mqperf.lab.runner import Gauge, Reading
from mqperf.lab.runner.control import Arrived
from mqperf.plan.test_cases import TEST_CASES
from mqperf_live.front import page

LOG = next(Path("data/samples/runs").glob("*cmsm-classic-rpc-call-t0005*")) / "probes/local"


class Steady:
    """A run whose server handles 50 messages of 2 ms every half second."""

    def __init__(self) -> None:
        self.looks = count()

    def read(self) -> Reading:
        number = next(self.looks)
        arrived = {"server-1": Arrived(50 * number, 0.1 * number, 100 + number / 2)}
        return Reading(number / 2 - 1, 20.0, arrived, {"Master": 0.5, "idle": 0.0, "host": 1.5})


@pytest.fixture
def pulse() -> Iterator[Pulse]:
    """A pulse that has read the steady run several times."""
    seen = Pulse(period_s=0.01)
    seen.watch("rpc-call, 5 threads", cast("Gauge", Steady()), TEST_CASES["rpc-call"])
    assert eventually(lambda: seen.scene and len(seen.scene.beats) > 4)
    seen.leave()
    yield seen
    seen.leave()


def test_rates_are_those_between_two_looks() -> None:
    """By the clock of each server; None if no server counts."""
    before = Reading(0, 9, {"a": Arrived(10, 1.0, 5.0), "b": Arrived(0, 0.0, 70.0)})
    after = Reading(1, 9, {"a": Arrived(40, 1.3, 6.5), "b": Arrived(0, 0.0, 70.0)})
    assert after.rate_msg_s(before) == pytest.approx(20)
    assert after.one_way_s(before) == pytest.approx(0.01)
    assert Reading(1, 9).rate_msg_s(before) is None
    assert after.one_way_s(after) is None


def test_a_pulse_beats_until_it_is_left(pulse: Pulse) -> None:
    """What was read stays; a failed reading only leaves out a beat."""
    scene = pulse.scene
    assert scene is not None
    assert scene.last is not None
    assert scene.last.rate_msg_s == pytest.approx(100)
    assert scene.last.one_way_s == pytest.approx(0.002)
    number = len(scene.beats)
    pulse.leave()
    assert len(scene.beats) == number


def test_a_run_that_cannot_be_read_is_not_in_the_way() -> None:
    class Gone:
        def __init__(self) -> None:
            self.reads = 0

        def read(self) -> Reading:
            self.reads += 1
            raise FileNotFoundError

    gauge, lost = Gone(), Pulse(period_s=0.01)
    lost.watch("gone", cast("Gauge", gauge), TEST_CASES["rpc-call"])
    assert eventually(lambda: gauge.reads > 2)
    lost.leave()
    assert lost.scene == Scene("gone", "msg", "to the server")


def test_the_cores_of_now_are_those_of_the_last_whole_samples() -> None:
    """The same as in the table; an incomplete line is ignored."""
    probe = PROBES["psutil"]
    assert probe.now is not None
    name, now = probe.now
    content = (LOG / name).read_bytes()
    *_, before, after = map(json.loads, content.splitlines())
    took_s = after["processes"]["Master"][0] - before["processes"]["Master"][0]
    used_s = sum(after["processes"]["Master"][1:3]) - sum(before["processes"]["Master"][1:3])
    cores = now(content)
    assert cores["Master"] == pytest.approx(used_s / took_s)
    assert 0 < cores["host"] <= 2
    assert now(content + b'{"epoch": 17') == cores
    assert now(content.splitlines()[0]) == {}


def test_a_terminal_of_60_columns_shows_it_in_whole_lines(pulse: Pulse) -> None:
    """Without colours, too: time, throughput, trend, latency and cores."""
    out = StringIO()
    console = Console(file=out, force_terminal=True, width=60, no_color=True)
    with Bar(console, pulse) as bar:
        bar.planned([CASE], 2, 1)
        bar.doing("measuring", CASE)
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", out.getvalue())
    assert max(map(len, re.split(r"[\r\n]", text))) <= 60
    assert re.search(r"\d of 20 s  100 msg/sec █+  to the server 2\.0 ms\n", text)
    assert "CPU cores:  host 1.50  Master 0.50" in text
    assert "idle" not in text


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("rpc-call", "100 msg/sec █  to the server 2.0 ms"),
        ("rpc-cast", "100 msg/sec █  one way 2.0 ms"),
        ("rpc-chain", "100 creations/sec █  to the server 2.0 ms"),
    ],
)
def test_it_has_the_unit_and_the_latency_of_its_test_case(case: str, words: str) -> None:
    """The unit may be creations; a server sees only a part of a round trip."""
    seen = Pulse(period_s=0.01)
    seen.watch(case, cast("Gauge", Steady()), TEST_CASES[case])
    seen.leave()
    assert seen.scene is not None
    seen.scene.beats.clear()
    seen.scene.beats.append(Beat(1.0, 100.0, 0.002, {}))
    assert words in panel.lines(seen.scene)[0]
    assert page.state(seen)["heard"] == TEST_CASES[case].heard


def test_a_pipe_gets_plain_lines_alone() -> None:
    out = StringIO()
    with Bar(Console(file=out)) as bar:
        bar.planned([CASE], 0, 1)
        bar.doing("starting RabbitMQ")
        bar.watching(CASE, cast("Gauge", Steady()))
        bar.watching(CASE, None)
    assert out.getvalue().splitlines()[1:] == ["starting RabbitMQ"]
    assert "\x1b" not in out.getvalue()
    assert bar._pulse.scene is None


def test_a_cell_shows_the_same_lines(pulse: Pulse) -> None:
    """Names are escaped."""
    pulse.doing = "rpc-call <&>: measuring"
    assert "rpc-call &lt;&amp;&gt;: measuring\n" in cell.markup(pulse)
    assert "100 msg/sec" in cell.markup(pulse)


def test_blocks_go_from_nothing_to_the_largest() -> None:
    assert panel.blocks([0, 7, 3.5, 1]) == "▁█▅▂"
    assert panel.blocks([0, 0]) == "▁▁"
    assert panel.blocks([]) == ""
    assert panel.lines(Scene("none yet", "msg", "one way")) == []


def test_a_run_without_servers_shows_its_time_and_cores() -> None:
    scene = Scene("commands", "commands", "one way", 20.0)
    scene.beats.append(Beat(-0.5, None, None, {"host h2": 0.1}))
    assert panel.lines(scene) == ["0 of 20 s", "CPU cores:  host h2 0.10"]


def answer(
    address: str, path: str | None = None, host: str | None = None
) -> tuple[int, bytes, Message]:
    """The response of a page's server to this request: status, content, headers."""
    connection = HTTPConnection(urlsplit(address).netloc, timeout=10)
    whole = urlsplit(address).path if path is None else path
    connection.request("GET", whole, headers={"Host": host} if host else {})
    with connection.getresponse() as response:
        return response.status, response.read(), response.headers


def test_the_page_is_for_this_machine_and_ends_with_the_sweep(pulse: Pulse) -> None:
    """Requests with a foreign Host header are refused."""
    with served(pulse) as address:
        assert address.startswith("http://127.0.0.1:")
        assert b"<title>mqperf, live</title>" in answer(address)[1]
        now = json.loads(answer(f"{address}now.json")[1])
        assert now["title"] == "rpc-call, 5 threads"
        assert now["beats"][-1]["rate_msg_s"] == pytest.approx(100)
        assert answer(address, host="elsewhere.example:80")[0] == HTTPStatus.FORBIDDEN
        assert answer(f"{address}../secret")[0] == HTTPStatus.NOT_FOUND
    with pytest.raises(ConnectionRefusedError):
        answer(address)


def test_the_page_needs_its_token(pulse: Pulse, capfd: pytest.CaptureFixture[str]) -> None:
    """Without the token every path is not found; no answer or log has the token."""
    with served(pulse) as address, served(pulse) as other:
        token = urlsplit(address).path.strip("/")
        assert len(token) >= 32
        assert token not in other
        paths = ["/", "/now.json", "", f"/{token[:-1]}/", f"/{token}x/now.json"]
        paths += [f"/{token.swapcase()}/", "/%e9/", urlsplit(other).path]
        refused = [answer(address, path) for path in paths]
        assert {status for status, _, _ in refused} == {HTTPStatus.NOT_FOUND}
        _, page, headers = answer(address)
        replies = [*refused, answer(f"{address}x"), (0, page, headers)]
        assert [reply for reply in replies if token in f"{reply[1]!r} {reply[2]}"] == []
    assert token not in "".join(capfd.readouterr())


def test_the_page_runs_nothing_but_itself(pulse: Pulse) -> None:
    """Its policy allows only its own script and style, by their hashes."""
    with served(pulse) as address:
        _, page, headers = answer(address)
    policy = dict(rule.split(" ", 1) for rule in headers["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == "'none'"
    for tag in ("script", "style"):
        [content] = re.findall(rf"<{tag}>(.*?)</{tag}>".encode(), page, re.DOTALL)
        digest = b64encode(sha256(content).digest()).decode()
        assert policy[f"{tag}-src"] == f"'sha256-{digest}'"
    assert policy["connect-src"] == "'self'"
    assert headers["Referrer-Policy"] == "no-referrer"


@pytest.mark.needs_browser
def test_the_page_draws_itself_in_a_browser(pulse: Pulse, browser: str) -> None:
    """A line for each quantity and process, in pixels, without external resources."""
    with served(pulse) as address, tempfile.TemporaryDirectory() as profile:
        flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"]
        flags += ["--no-first-run", "--disable-background-networking", "--disable-quic"]
        flags += ["--virtual-time-budget=2000", "--window-size=500,900"]
        command = [browser, *flags, "--dump-dom", address]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.count("<polyline") == 5
    widths = re.findall(r'viewBox="0 0 (\d+) \d+"', done.stdout)
    assert all(400 < int(width) <= 500 for width in widths), "texts of 12 units have 12 pixels"
    assert len(widths) == 3
    assert "<b>100</b>msg/sec" in done.stdout
    assert "Master 0.50" in done.stdout


def test_the_error_says_how_to_get_the_live_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is one line, before anything runs."""
    monkeypatch.setattr(view.VIEWS, "_values", {})
    with pytest.raises(InstallError, match="the live page: to have it, install mqperf-live"):
        served(Pulse())
