"""Metrics for Prometheus: valid text, with state and figures of every run of a sweep."""

import re
from http import HTTPStatus
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

import pytest
import samples
from patience import eventually
from rich.console import Console
from test_live import Steady, answer

from mqperf.front.live import Pulse, served
from mqperf.front.plan_words import words
from mqperf.front.progress import Bar
from mqperf.plan import Case
from mqperf.record import runs
from mqperf_live.front.metrics import DOCUMENT

if TYPE_CHECKING:
    from mqperf.lab.runner import Gauge

SAMPLE = Path("data/samples/runs")
MEASURED = ("messages", "latency")

NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"'
LINE = re.compile(rf"({NAME})\{{({LABEL}(?:,{LABEL})*)\}} (\S+)")
ESCAPES = {r"\\": "\\", r"\"": '"', r"\n": "\n"}


class Series(NamedTuple):
    """A parsed sample."""

    name: str
    labels: dict[str, str]
    value: float


def parsed(text: str) -> list[Series]:
    """All samples, checked by the grammar: no duplicates, and a type before each."""
    assert text.endswith("\n")
    series: list[Series] = []
    kinds: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith("# HELP "):
            assert re.fullmatch(rf"# HELP {NAME} [^\\\n]+", line)
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in kinds
            assert kind in {"gauge", "summary"}
            kinds[name] = kind
        else:
            match = LINE.fullmatch(line)
            assert match, line
            name = match[1]
            labels = {
                key: re.sub(r"\\.", lambda escape: ESCAPES[escape[0]], value)
                for key, value in re.findall(LABEL, match[2])
            }
            base = re.sub("_(count|sum)$", "", name)
            assert [*kinds][-1] == (name if name in kinds else base)
            assert ("quantile" in labels) <= (kinds[base] == "summary")
            series.append(Series(name, labels, float(match[7])))
    assert len({(each.name, *sorted(each.labels.items())) for each in series}) == len(series)
    return series


def of(text: str, name: str, **labels: str) -> list[Series]:
    """Series with this name and these labels."""
    every = [series for series in parsed(text) if series.name == name]
    return [series for series in every if labels.items() <= series.labels.items()]


class Sweep(NamedTuple):
    """A sweep of recorded runs: one is done, one has failed, one is running, one is pending."""

    pulse: Pulse
    bar: Bar
    cases: list[Case]


@pytest.fixture
def sweep() -> Sweep:
    recorded = [*runs(SAMPLE)][:4]
    cases = [run.case() for run in recorded]
    whole = [case for case in cases if case is not None]
    whole[3] = whole[3].model_copy(update={"condition": 'a "b"\\n'})
    pulse = Pulse(period_s=0.01)
    bar = Bar(Console(file=StringIO()), pulse)
    bar.planned(whole, 0, 1)
    bar.finished(whole[0], recorded[0], None)
    bar.finished(whole[1], recorded[1], "it burned")
    bar.watching(whole[2], cast("Gauge", Steady()))
    return Sweep(pulse, bar, whole)


def test_every_run_of_a_sweep_is_in_one_state(sweep: Sweep) -> None:
    """The words of a case are a label, whatever they contain."""
    text = DOCUMENT.content(sweep.pulse)
    states = {series.labels["run"]: series.labels for series in of(text, "mqperf_runs")}
    assert [states[case.id]["state"] for case in sweep.cases] == [
        *("done", "failed", "running", "pending")
    ]
    assert [states[case.id]["case"] for case in sweep.cases] == [*map(words, sweep.cases)]
    assert 'a "b"' in states[sweep.cases[3].id]["case"]


def test_a_finished_run_has_the_figures_of_the_tables(sweep: Sweep) -> None:
    """Throughput and quantiles of latency; failed runs have none."""
    text, done = DOCUMENT.content(sweep.pulse), sweep.cases[0].id
    tables = samples.read(SAMPLE)
    messages, latency = (tables[name].set_index("run").loc[done] for name in MEASURED)
    [throughput] = of(text, "mqperf_run_throughput_per_second")
    assert (throughput.labels["run"], throughput.value) == (done, messages["throughput_msg_s"])
    [p99] = of(text, "mqperf_run_latency_seconds", quantile="0.99")
    assert (p99.labels["run"], p99.value) == (done, latency["latency_p99_s"])
    [count] = of(text, "mqperf_run_latency_seconds_count")
    assert count.value == latency["samples"]


def test_the_present_run_has_metrics_while_it_is_measured(sweep: Sweep) -> None:
    """Rate, mean latency and cores as on the page, until it ends."""
    pulse = sweep.pulse
    assert eventually(lambda: pulse.scene and pulse.scene.last)
    text = DOCUMENT.content(pulse)
    [rate] = of(text, "mqperf_throughput_per_second")
    assert rate.labels["run"] == sweep.cases[2].id
    assert rate.value == pytest.approx(100)
    [mean] = of(text, "mqperf_latency_mean_seconds")
    assert mean.value == pytest.approx(0.002)
    cores = {each.labels["process"]: each.value for each in of(text, "mqperf_cpu_cores")}
    assert cores == {"Master": 0.5, "idle": 0.0, "host": 1.5}
    sweep.bar.watching(sweep.cases[2], None)
    assert not of(DOCUMENT.content(pulse), "mqperf_throughput_per_second")


def test_metrics_need_the_token_of_the_page(sweep: Sweep) -> None:
    """With Prometheus' content type; without the token they are not found."""
    with served(sweep.pulse) as address:
        status, content, headers = answer(f"{address}metrics")
        assert (status, headers["Content-Type"]) == (HTTPStatus.OK, DOCUMENT.kind)
        assert "version=0.0.4" in DOCUMENT.kind
        assert of(content.decode(), "mqperf_runs", state="done")
        assert answer(address, "/metrics")[0] == HTTPStatus.NOT_FOUND
