"""Results of PerfTest and OpenMessaging become runs, and their contradictions doubts.

The samples are real output; faults are planted into copies.
"""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from mqperf.base.errors import TableError
from mqperf.study import stats, tables
from mqperf.study.tables import Tables
from mqperf_imported.study import importing
from mqperf_imported.study.measured import About, Value, read_load

pytestmark = pytest.mark.takes_long

SAMPLES = Path(__file__).parents[2] / "data/samples"
CONFIRMS, RATE = SAMPLES / "perftest/confirms.log", SAMPLES / "perftest/rate.log"
CSV = SAMPLES / "perftest/confirms.csv"
RESULT = SAMPLES / "openmessaging/rabbitmq-500.json"
STAMPED = "the end-to-end latency is wrong"
FIGURE = "aggregatedEndToEndLatency99pct"


def imported(file: Path, load: Mapping[str, Value] | None = None) -> Tables:
    about = About("rabbitmq", "single", "classic", load or {})
    return importing.import_paths([file], about).tables


def doubts(file: Path, load: Mapping[str, Value] | None = None) -> dict[str, str]:
    """Texts by kind, except incomplete."""
    empty = {name: tables.empty(name) for name in tables.batches.read_names()}
    frame = stats.complete({**empty, **imported(file, load)})["doubts"]
    of_kinds = zip(frame["kind"], frame["text"], strict=True)
    return {kind: text for kind, text in of_kinds if kind != "incomplete"}


def test_output_of_perftest_is_a_run() -> None:
    """The first second is left out; percentiles are its summary's, threads its producers."""
    read = imported(CONFIRMS)
    assert read["runs"]["threads"][0] == 2
    assert read["runs"]["window_s"][0] == pytest.approx(11, abs=0.1)
    latency = read["latency"].iloc[0]
    assert latency["latency_p99_s"] == pytest.approx(0.111424)
    assert latency["confirm_p50_s"] == pytest.approx(0.014038)
    inside = read["intervals"].query("stream == 'received' and phase == 'window'")["count"]
    assert inside.mean() == pytest.approx(read["messages"]["throughput_msg_s"][0], abs=1)


def test_text_and_csv_of_perftest_agree() -> None:
    """Both give the same rates; CSV has no latency of the whole run."""
    text, csv = imported(CONFIRMS), imported(CSV)
    assert text["intervals"]["count"].tolist() == csv["intervals"]["count"].tolist()
    assert "latency" not in csv
    assert "no latencies of the whole run" in csv["doubts"]["text"][0]


def test_sound_runs_have_no_doubts() -> None:
    """With all known parameters of their load."""
    assert doubts(CONFIRMS, {"confirms": 100, "payload_bytes": 256}) == {}
    assert doubts(CSV) == {}
    assert set(doubts(RATE, {"rate_msg_s": 500.0})) == {"service-time"}


def test_the_driver_of_rabbitmq_stamps_whole_seconds(tmp_path: Path) -> None:
    """Its latency contradicts its backlog; with timestamps in ms there is no doubt."""
    assert STAMPED in doubts(RESULT)["record-disagrees"]
    result = json.loads(RESULT.read_text())
    result["endToEndLatencyAvg"] = [value + 2 for value in result["publishLatencyAvg"]]
    result["aggregatedEndToEndLatencyAvg"] = 5.0
    sound = tmp_path / "sound.json"
    sound.write_text(json.dumps(result))
    assert doubts(sound) == {}


def test_a_result_of_openmessaging_is_a_run() -> None:
    """Rates are means of its periods; its publish delay is the delay of sending."""
    read = imported(RESULT)
    message = read["messages"].iloc[0]
    assert message["throughput_msg_s"] == pytest.approx(502.8, abs=0.1)
    assert message["handover_p99_s"] == pytest.approx(0.087277)
    assert read["runs"][["threads", "payload_bytes"]].to_numpy().tolist() == [[1, 1024]]
    assert read["latency"]["confirm_p50_s"][0] == pytest.approx(0.000234)


def replaced(pattern: str, new: str) -> Callable[[str], str]:
    return lambda text: re.sub(pattern, new, text)


def changed(**figures: object) -> Callable[[str], str]:
    return lambda text: json.dumps({**json.loads(text), **figures})


def doubled(match: re.Match[str]) -> str:
    return f"{match[1]}{2 * int(match[2])}"


PLANTED: dict[str, tuple[Path, Callable[[str], str], Mapping[str, Value], str, str]] = {
    "a percentile below another": (
        RATE,
        replaced(r"156/338/2470", "156/338/337"),
        {},
        "record-disagrees",
        "75th is 0.337 ms, less than median",
    ),
    "a second's percentile below another": (
        RATE,
        replaced(r"189/399/1759", "189/399/300"),
        {},
        "record-disagrees",
        "consumer latency at 2 s: 75th",
    ),
    "the summary of another run": (
        RATE,
        replaced(r"receiving rate avg: 501", "receiving rate avg: 900"),
        {},
        "record-disagrees",
        "received msg/s: the summary has 900, its lines have 500",
    ),
    "confirmed but never sent": (
        CONFIRMS,
        replaced(r"confirmed: \d+", "confirmed: 99999"),
        {},
        "record-disagrees",
        "messages were confirmed",
    ),
    "more outstanding than confirms allow": (
        CONFIRMS,
        str,
        {"confirms": 10},
        "record-disagrees",
        "2 x 10 may be",
    ),
    "a rate that was not kept": (RATE, str, {"rate_msg_s": 900.0}, "rate-missed", "offered 900"),
    "seconds without a line": (
        RATE,
        replaced(r"id: rate, time [5678]\..*\n", ""),
        {},
        "empty-seconds",
        "in 4 of the 11 seconds",
    ),
    "received less than sent": (
        RATE,
        replaced(r"received: \d+", "received: 400"),
        {},
        "unequal-rates",
        "clients sent 500",
    ),
    "sent late": (
        RESULT,
        changed(aggregatedPublishDelayLatency99pct=5_000_000),
        {},
        "sender-late",
        "5000 ms after they were due",
    ),
    "a backlog that nobody published": (
        RESULT,
        changed(backlog=[0, 9000, 18000, 27000, 36000, 45000]),
        {},
        "record-disagrees",
        "growth of the backlog",
    ),
    "a largest below p99.99": (
        RESULT,
        changed(aggregatedEndToEndLatencyMax=1.0),
        {},
        "record-disagrees",
        "EndToEnd latency: Max is 1 ms",
    ),
}
"""The sample, the change, the load that is given, the kind of doubt and a part of its text."""


@pytest.mark.parametrize("name", PLANTED)
def test_planted_faults_are_found(name: str, tmp_path: Path) -> None:
    """Each gives a doubt of its kind, with the figures."""
    sample, plant, load, kind, words = PLANTED[name]
    file = tmp_path / sample.name
    file.write_text(plant(sample.read_text()))
    assert words in doubts(file, load)[kind]


def test_a_queue_for_each_consumer_is_no_backlog(tmp_path: Path) -> None:
    """Several deliveries of each message are counted and noted, without a doubt."""
    file = tmp_path / "copies.log"
    file.write_text(re.sub(r"(receiv(?:ed:|ing rate avg:) )(\d+)", doubled, CONFIRMS.read_text()))
    assert doubts(file) == {}
    read = imported(file)
    assert read["runs"]["copies"][0] == 2
    assert "delivered 2 times" in " ".join(read["doubts"]["text"])


@pytest.mark.parametrize(
    ("consumers", "share", "kinds"),
    [(2, 2.0, set()), (1, 2.0, set()), (2, 1.8, {"unequal-rates"})],
    ids=["two consumers each", "one consumer each", "one is behind"],
)
def test_several_subscriptions_are_no_backlog(
    tmp_path: Path, consumers: int, share: float, kinds: set[str]
) -> None:
    """If each message was delivered equally often, whatever the number of consumers."""
    result = json.loads(RESULT.read_text())
    sound = {"aggregatedEndToEndLatencyAvg": 2.0, "endToEndLatencyAvg": []}
    rates = {"consumeRate": [rate * share for rate in result["publishRate"]]}
    file = tmp_path / "several.json"
    file.write_text(json.dumps({**result, **rates, **sound, "consumersPerTopic": consumers}))
    assert {*doubts(file)} - {"record-disagrees"} == kinds
    texts = " ".join(imported(file)["doubts"]["text"])
    assert ("each message was delivered 2 times" in texts) == (not kinds)


BAD: dict[str, tuple[str, Callable[[str], str], str]] = {
    "two runs": (str(RATE), lambda text: text + text, "times do not rise"),
    "two ids": (str(RATE), lambda text: text + text.replace("id: rate", "id: x"), "several ids"),
    "nothing measured": (str(RATE), replaced(r"id: rate, time .*\n", ""), "has 0 lines"),
    "compact": (str(RATE), replaced("id: rate, time 1.001", "time   sent \n"), "compact format"),
    "endless": (str(RATE), replaced(r"time 12\.\d+ s", "time 9999999999.0 s"), "a week"),
    "no time": (str(CSV), replaced(r"(?m)^([^,]*),3\.\d+,", r"\1,nan,"), "a week"),
    "words": (str(CSV), replaced("2.00.,", "2.0x,"), r"csv:9: is no line of PerfTest"),
    "negative": (str(RESULT), changed(publishRate=[-1]), "publishRate.0"),
    "a truth": (str(RESULT), changed(**{FIGURE: True}), FIGURE),
    "endless latency": (str(RESULT), changed(**{FIGURE: float("inf")}), FIGURE),
    "a latency of none": (str(RESULT), changed(**{FIGURE: float("nan")}), FIGURE),
    "a latency in words": (str(RESULT), changed(**{FIGURE: "NaN"}), FIGURE),
    "a huge latency": (str(RESULT), changed(**{FIGURE: 10**400}), FIGURE),
    "before it was sent": (str(RESULT), changed(**{FIGURE: -1.0}), FIGURE),
    "a size of truth": (str(RESULT), changed(messageSize=True), "messageSize"),
    "a rate of truth": (str(RESULT), changed(publishRate=[True] * 6), "publishRate.0"),
    "other periods": (str(RESULT), changed(publishRate=[1.0]), "of different periods"),
}
"""The sample, the damage, and a part of the error message."""


@pytest.mark.parametrize("name", BAD)
def test_a_damaged_file_is_named(name: str, tmp_path: Path) -> None:
    """The error is one line with the name of the file."""
    sample, damage, words = BAD[name]
    file = tmp_path / Path(sample).name
    file.write_text(damage(Path(sample).read_text()))
    with pytest.raises(TableError, match=words) as error:
        imported(file)
    assert file.name in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rate_msg=5", "unknown parameter 'rate_msg'"),
        ("rate_msg_s=fast", "'fast' is no number"),
        ("rate_msg_s=nan", "expected a number from 0"),
        ("rate_msg_s=-1", "expected a number from 0"),
    ],
)
def test_an_invalid_load_is_refused(text: str, words: str) -> None:
    """The error repeats the text; values that contradict the file are refused, too."""
    with pytest.raises(TableError, match=words):
        read_load([text])
    with pytest.raises(TableError, match="payload_bytes is 1024, not 1"):
        imported(RESULT, read_load(["payload_bytes=1"]))
