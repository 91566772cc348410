"""Damaged ``.counts`` files: each is refused with its name and line, and takes no memory."""

import base64
import json
import os
import random
import re
import shutil
import zlib
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import counted
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqperf.base.errors import LoadError, RecordError
from mqperf.onhost.record.hdr import DIGITS, HIGHEST_NS, LENGTH, LOWEST_NS, Histogram, fold
from mqperf.onhost.record.hdr_code import COMPRESSED, ENCODED, HEADER, OUTER, encode
from mqperf.record.counts import read_counts
from mqperf.record.streams.hdr_log import decode, decode_sparse
from mqperf.record.totals import is_recorded, totals
from mqperf.study import tables
from mqperf.study.stats import checks

SAMPLES = Path(__file__).parent.parent.parent / "data/samples/runs"
NAME = "rabbitmq-cmsm-classic-rpc-call-t0005-p1-r1-367280fe"
GOOD = "rabbitmq-cmsm-classic-rpc-cast-t0001-p1-r1-c8fdcce3"

Lines = list[dict[str, Any]]
Damage = Callable[[Lines], object]
CLIENT, SERVER = "load/client-1.counts", "load/server-1.counts"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recorded CALL run, as counts."""
    return counted.converted(SAMPLES / NAME, tmp_path_factory.mktemp("sound") / NAME)


@pytest.fixture
def run(sound: Path, tmp_path: Path) -> Path:
    """A copy of the sound run."""
    path: Path = shutil.copytree(sound, tmp_path / NAME)
    return path


def row(lines: Lines, second: int = 1, stream: str = "round_trip") -> dict[str, Any]:
    """The line of a stream in one second."""
    return next(n for n in lines if n.get("stream") == stream and n.get("second") == second)


def numbers(lines: Lines, stream: str = "round_trip") -> dict[str, Any]:
    """The sequence numbers of a stream."""
    return next(n for n in lines if n.get("stream") == stream and "sender" in n)


def started(**values: object) -> Damage:
    """Other values of the messages started in a second."""
    return lambda lines: row(lines)["started"].update(values)


def finished(**values: object) -> Damage:
    """Other values of the messages finished in a second."""
    return lambda lines: row(lines)["finished"].update(values)


def header(**values: object) -> Damage:
    """Other values in the header."""
    return lambda lines: lines[0].update(values)


def sums(**values: object) -> Damage:
    """Other totals of the round trips in the header."""
    return lambda lines: next(s for s in lines[0]["streams"] if s["name"] == "round_trip").update(
        values
    )


def swapped(lines: Lines) -> None:
    """Swap two seconds of a stream."""
    first, second = lines.index(row(lines, 1)), lines.index(row(lines, 2))
    lines[first], lines[second] = lines[second], lines[first]


def shifted(lines: Lines) -> None:
    """Finish all messages but those of the first second a second earlier."""
    rows = [n for n in lines if n.get("stream") == "round_trip" and "second" in n]
    first, second = rows[0]["finished"], rows[1]["finished"]
    second["count"] += first["count"]
    second["sum_s"] += first["sum_s"]
    second["max_s"] = max(first["max_s"], second["max_s"])
    for earlier, later in pairwise(rows):
        earlier["finished"] = later["finished"]
    del rows[-1]["finished"]
    sums(last=lines[0]["start"] + rows[-2]["second"])(lines)


def shortened(lines: Lines) -> None:
    """Make all latencies of a second but the largest the least, and keep the sum."""
    part = row(lines)["started"]
    index, count = decode_sparse(part["histogram"])
    counts = np.zeros(LENGTH, dtype=np.int64)
    counts[index[[0, -1]]] = count.sum() - 1, 1
    part["histogram"] = encode(Histogram(counts))


def packed(payload: bytes, **values: int) -> str:
    """A compressed histogram with these values in its header."""
    fields = {"cookie": ENCODED, "length": len(payload), "digits": DIGITS, "highest": HIGHEST_NS}
    fields |= values
    head = HEADER.pack(
        fields["cookie"], fields["length"], 0, fields["digits"], LOWEST_NS, fields["highest"], 1.0
    )
    content = zlib.compress(head + payload)
    return base64.b64encode(OUTER.pack(COMPRESSED, len(content)) + content).decode()


def word(number: int) -> bytes:
    """A whole number as histograms encode it."""
    value, octets = (number << 1) ^ (number >> 63), bytearray()
    while value >= 0x80:
        octets.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*octets, value])


DAMAGES: dict[str, tuple[Damage, str]] = {
    "another format": (header(format="other"), "is no mqperf-counts file of version 1: format: "),
    "a later version": (header(version=2), "is no mqperf-counts file of version 1: version: "),
    "an unknown key": (header(more=1), "is no mqperf-counts file .*: more: "),
    "a start of NaN": (header(start=float("nan")), "is no mqperf-counts file .*: start: "),
    "a line less": (lambda lines: lines.pop(), r":\d+: the file ends before its time"),
    "a line more": (lambda lines: lines.append(lines[-1]), r":\d+: there are more lines than"),
    "seconds out of order": (swapped, r":\d+: round_trip: second 1 after second 2"),
    "a second twice": (
        lambda lines: row(lines, 2).update(second=1),
        ":.*: round_trip: second 1 after second 1",
    ),
    "a second far away": (lambda lines: row(lines).update(second=10**12), ":.*: second: input"),
    "an unknown stream": (
        lambda lines: row(lines).update(stream="other"),
        ":.*: the header knows no stream other",
    ),
    "a stream without its seconds": (
        lambda lines: row(lines).pop("started"),
        r":1: round_trip: \d+ messages by the header, \d+ started",
    ),
    "another count in the header": (sums(count=7), ":1: round_trip: 7 messages by the header"),
    "another last finish": (sums(last=1.0), ":1: round_trip: the last message is not in the last"),
    "no last finish": (sums(last=None), ":1: round_trip: the last message is not in the last"),
    "one more started": (
        lambda lines: row(lines)["started"].update(count=row(lines)["started"]["count"] + 1),
        r":\d+: \d+ messages, \d+ of them in the histogram",
    ),
    "one less finished": (
        lambda lines: row(lines)["finished"].update(count=row(lines)["finished"]["count"] - 1),
        ":1: round_trip: .* messages by the header, .* finished",
    ),
    "no message": (started(count=0), r":\d+: started.count: input should be greater"),
    "a negative count": (finished(count=-1), r":\d+: finished.count: input should be greater"),
    "a count as text": (finished(count="7"), r":\d+: finished.count: input should be a valid int"),
    "a count beyond any": (finished(count=2**60), ":.*: finished.count: input should be less"),
    "a sum of infinity": (finished(sum_s=1e999), ":.*: finished.sum_s: input should be"),
    "another sum by start": (started(sum_s=1e4), ":.*: started: the sum of latencies contradicts"),
    "a first message alone": (
        lambda lines: row(lines)["finished"].pop("last_s"),
        "finished: a first message without a last one",
    ),
    "a first message after the last": (
        finished(first_s=0.9, last_s=0.1),
        "finished: the first and the last message contradict",
    ),
    "a message after the second": (finished(last_s=1.5), ":.*: finished.last_s: input should be"),
    "another sum by finish": (finished(sum_s=0.0), ":1: round_trip: the latencies by start"),
    "a sum of more than the largest": (
        finished(sum_s=1e5),
        "finished: the sum of latencies is more",
    ),
    "another largest latency": (started(max_s=3000.0), "a latency of 3000.0 s is not in its histo"),
    "another least latency": (started(min_s=1e-6), "a latency of 1e-06 s is not in its histogram"),
    "the least above the largest": (started(min_s=9.0), "the sum of latencies contradicts"),
    "negative ones that are not": (started(negative=3), "started: the least latency contradicts"),
    "more negative ones than there can be": (
        started(negative=1, min_s=-0.1, sum_s=0.0),
        "1 latencies below zero, fewer in the first bucket",
    ),
    "a histogram of shorter latencies": (shortened, "the latencies in the histogram do not add up"),
    "more beyond than all": (started(beyond=2**40), "started: more messages in a part than in all"),
    "no histogram": (
        lambda lines: row(lines)["started"].pop("histogram"),
        "started: latencies without their histogram",
    ),
    "a histogram of nothing else": (
        lambda lines: [row(lines)["started"].pop(k) for k in ("sum_s", "min_s", "max_s")],
        "started: a histogram without sum",
    ),
    "latencies of what was sent": (
        lambda lines: row(lines, 1, "sent").update(finished={"count": 1, "sum_s": 0, "max_s": 0}),
        "sent: latencies are missing, or the stream has none",
    ),
    "finished before started": (shifted, ":1: round_trip: more messages were finished than had"),
    "another number": (
        lambda lines: numbers(lines).update(ranges=[[0, 1]], reordered=0),
        r":1: round_trip: \d+ messages, 2 numbers",
    ),
    "ranges that overlap": (
        lambda lines: numbers(lines).update(ranges=[[0, 5], [3, 9]]),
        ":1: ranges of sequence numbers are not in order",
    ),
    "a range backwards": (
        lambda lines: numbers(lines).update(ranges=[[9, 3]]),
        ":1: ranges of sequence numbers are not in order",
    ),
    "again and never before": (
        lambda lines: numbers(lines).update(again=[[10**9, 10**9, 1]]),
        ":1: a number was seen again that was not seen before",
    ),
    "again beyond any count": (
        lambda lines: numbers(lines).update(again=[[0, 9, 2**53]]),
        r":1: round_trip: \d+ messages, \d+ numbers",
    ),
    "a number sent twice": (
        lambda lines: numbers(lines, "sent").update(
            ranges=[[0, numbers(lines, "sent")["ranges"][0][1] - 1]], again=[[0, 0, 1]]
        ),
        ":1: sent: a number was given to two messages",
    ),
    "a negative number": (
        lambda lines: numbers(lines).update(ranges=[[-1, 5]]),
        r":\d+: ranges.0.0: input should be greater",
    ),
    "more out of order than all": (
        lambda lines: numbers(lines).update(reordered=10**9),
        ":1: more messages were reordered than received",
    ),
    "another process": (header(label="client-2"), "not of this run: it is of client-2 client"),
    "another start": (header(start=1.0), ":1: .*: the last message is not in the last second"),
    "another stream": (
        lambda lines: [
            n.update({key: "received"})
            for n in [*lines[0]["streams"], *lines]
            for key in ("name", "stream")
            if n.get(key) == "error"
        ],
        "not of this run: its streams are",
    ),
}

HISTOGRAMS: dict[str, tuple[str, str]] = {
    "no base64": ("HIST#", "Only base64 data is allowed"),
    "nothing": ("", "no compressed histogram of version 2"),
    "another cookie": (base64.b64encode(b"x" * 50).decode(), "no compressed histogram"),
    "no zlib": (base64.b64encode(OUTER.pack(COMPRESSED, 4) + b"abcd").decode(), "incorrect header"),
    "cut short": (
        base64.b64encode(OUTER.pack(COMPRESSED, 9) + zlib.compress(b"0" * 40)[:9]).decode(),
        "cut short, or too long",
    ),
    "a gigabyte of zeros": (packed(b"\0" * 2**24), "cut short, or too long"),
    "another length": (packed(b"\2", length=7), "not a whole one"),
    "another range": (packed(b"\2", highest=2**60), "another range or number of digits"),
    "five digits": (packed(b"\2", digits=5), "another range or number of digits"),
    "too many buckets": (packed(word(-LENGTH) + word(1)), "more buckets than its range"),
    "a gap beyond any": (packed(word(-(2**40)) + word(1)), "a count beyond any"),
    "a count beyond any": (packed(word(2**54)), "a count beyond any"),
    "a word without end": (packed(b"\xff\xff"), "a word that does not end"),
    "a word too long": (packed(b"\xff" * 30 + b"\1"), "is too long"),
}


def damage(run: Path, change: Damage, name: str = CLIENT) -> None:
    """Change the lines of a file."""
    lines = [json.loads(line) for line in (run / name).read_text().splitlines()]
    change(lines)
    (run / name).write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture(scope="module")
def damaged(sound: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The doubt about each damage, in a folder with a good run beside them."""
    folder = tmp_path_factory.mktemp("runs")
    shutil.copytree(SAMPLES / GOOD, folder / GOOD)
    names = {name: f"{NAME.rpartition('-')[0]}-{n:08x}" for n, name in enumerate(DAMAGES)}
    for name, (change, _) in DAMAGES.items():
        damage(shutil.copytree(sound, folder / names[name]), change)
    frames = tables.read(folder)
    assert frames["messages"]["run"].tolist() == [GOOD]
    doubts = checks.doubts(frames)
    unreadable = doubts[doubts["kind"] == "unreadable-run"].set_index("run")["text"]
    return {name: unreadable.get(run, "") for name, run in names.items()}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_file_is_named_with_its_line(damaged: dict[str, str], name: str) -> None:
    """The run is unreadable, has the reason, and is in no other table; the good run is."""
    assert re.search(rf"client-1\.counts.*{DAMAGES[name][1]}", damaged[name]), damaged[name]


@pytest.mark.parametrize("name", HISTOGRAMS)
def test_an_invalid_histogram_is_refused(run: Path, name: str) -> None:
    """No more is unpacked than a histogram has, whatever sizes it claims."""
    text, reason = HISTOGRAMS[name]
    with pytest.raises(ValueError, match=reason):
        decode_sparse(text)
    damage(run, started(histogram=text))
    with pytest.raises(LoadError, match=rf"client-1\.counts:\d+: .*{reason}"):
        read_counts(run / CLIENT)


@given(st.lists(st.floats(0, 4000), max_size=40), st.binary(max_size=60))
def test_any_bytes_are_a_histogram_or_refused(latencies: list[float], payload: bytes) -> None:
    """Encoded histograms are decoded; anything else raises nothing but ``ValueError``."""
    import numpy as np

    histogram = fold(np.array(latencies))
    assert decode(encode(histogram)).counts.tolist() == histogram.counts.tolist()
    try:
        index, count = decode_sparse(packed(payload))
    except ValueError:
        return
    assert (np.diff(index) > 0).all()
    assert len(index) == 0 or (index[-1] < LENGTH and count.min() > 0)


def test_bytes_changed_at_random_give_a_sentence(run: Path) -> None:
    """With a changed bit, byte or block, a file is read, or refused in one sentence."""
    drawn = random.Random(5)
    content = (run / CLIENT).read_bytes()
    refused = 0
    for _ in range(150):
        changed = bytearray(content)
        place = drawn.randrange(len(changed))
        change = drawn.choice([bytes([changed[place] ^ 1 << drawn.randrange(8)]), b"9", b"\0" * 20])
        changed[place : place + len(change)] = change
        (run / CLIENT).write_bytes(changed)
        try:
            read_counts(run / CLIENT)
        except LoadError as error:
            assert str(error).startswith(f"{run / CLIENT}")  # noqa: PT017
            refused += 1
    assert refused > 100


@pytest.mark.parametrize("size", [0, 1, 100, 3000])
def test_a_file_cut_short_is_no_smaller_run(run: Path, size: int) -> None:
    """It is refused wherever it was cut."""
    os.truncate(run / CLIENT, size)
    with pytest.raises(LoadError, match=r"client-1\.counts"):
        read_counts(run / CLIENT)


def test_a_missing_file_is_a_dead_process(run: Path) -> None:
    """The error says that the process died, as for instants."""
    (run / CLIENT).unlink()
    with pytest.raises(LoadError, match=r"client-1\.counts is missing: its process died"):
        read_counts(run / CLIENT)
    assert not is_recorded(run / "load", "client-1")
    shutil.copytree(SAMPLES / GOOD, run.with_name(GOOD))
    (failure,) = tables.read(run.parent)["runs"]["failure"].dropna()
    assert "client-1.counts is missing: its process died" in failure


def test_the_runner_counts_messages_of_either_record(run: Path) -> None:
    """The counts of each stream come from the header alone."""
    for label in ("client-1", "server-1"):
        counts = totals(run / "load", label)
        assert counts == totals(SAMPLES / NAME / "load", label)
        assert sum(counts.values()) > 0
        assert is_recorded(run / "load", label)
        assert is_recorded(SAMPLES / NAME / "load", label)


def test_two_kinds_of_record_in_a_run_are_refused(run: Path) -> None:
    """Instants of clients cannot be compared with sequence numbers of servers."""
    shutil.copytree(SAMPLES / GOOD, run.with_name(GOOD))
    shutil.copy(SAMPLES / NAME / "load/client-1.messages", run / "load")
    (failure,) = tables.read(run.parent)["runs"]["failure"].dropna()
    assert "load: holds both .messages and .counts files" in failure


def test_two_processes_that_send_as_one_are_refused(run: Path) -> None:
    """Sequence numbers belong to a sender: two with one name would hide lost messages."""
    shutil.copytree(SAMPLES / GOOD, run.with_name(GOOD))
    facts = json.loads((run / "run.json").read_text())
    facts["case"]["processes"] = 2
    facts["processes"] += [
        process | {"label": process["label"][:-1] + "2"} for process in facts["processes"]
    ]
    facts["kinds"] |= {"client-2": "client", "server-2": "server"}
    (run / "run.json").write_text(json.dumps(facts))
    for kind in ("client", "server"):
        for end in ("counts", "json"):
            shutil.copy(run / f"load/{kind}-1.{end}", run / f"load/{kind}-2.{end}")
        damage(run, header(label=f"{kind}-2"), f"load/{kind}-2.counts")
    (failure,) = tables.read(run.parent)["runs"]["failure"].dropna()
    assert "client-2.counts: another process, too, sent messages as client-1" in failure


def hole(path: Path) -> None:
    """A huge sparse file."""
    path.touch()
    os.truncate(path, 2**43)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (os.mkfifo, "a named pipe, where a recorded file should be"),
        (
            lambda path: path.symlink_to("../../elsewhere"),
            "a link, where a recorded file should be",
        ),
        (Path.mkdir, "a folder, where a recorded file should be"),
        (hole, "has at most"),
    ],
)
def test_only_regular_files_are_opened(
    run: Path, make: Callable[[Path], object], reason: str
) -> None:
    """Pipes are not waited for, links not followed, and sparse files not read."""
    (run / CLIENT).unlink()
    make(run / CLIENT)
    with pytest.raises(RecordError, match=rf"client-1\.counts: .*{reason}"):
        read_counts(run / CLIENT)
