"""Traffic profiles: recording, invalid files, and deviations of replays."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqperf.base.errors import PlanError
from mqperf_amqp_0_9_1.onhost import codec
from mqperf_numbered.onhost.schedule import NS, Schedule
from mqperf_traffic.lab import counting
from mqperf_traffic.lab.counting import Counting, representatives
from mqperf_traffic.lab.trace_events import Published, published
from mqperf_traffic.onhost.curve import curve_of, phase_of
from mqperf_traffic.plan import profile as profile_of_plans
from mqperf_traffic.plan.profile import MOST_LENGTHS, Profile, Route, numbers, parsed, write
from mqperf_traffic.study.account import Replay, distance

ROUTE: dict[str, Any] = {"queues": 2, "per_second": [3, 0], "lengths": [[0, 1], [4096, 2]]}
PROFILE: dict[str, Any] = {
    "format": "mqperf-traffic",
    "version": 1,
    "complete": True,
    "most_waiting": 0,
    "unroutable": 0,
    "gathered": 0,
    "tenths": [3, *[0] * 19],
    "routes": [ROUTE],
}


def table(exchange: str, key: str, queues: list[str], **further: object) -> bytes:
    """The headers of a copy as the firehose sends them."""
    headers: Any = {"exchange_name": exchange, "routing_keys": [key], "properties": further}
    headers |= {"node": "rabbit@a", "vhost": "/", "channel": 1, "routed_queues": queues}
    return codec.table(headers)


# recording


def test_headers_of_the_firehose_tell_the_route() -> None:
    """It is exchange, routing key and number of queues, whatever the message properties."""
    content = table("nova", "conductor", ["a", "b"], timestamp=1, priority=None, x=[True, 2.5])
    assert published(content) == Published("nova", "conductor", 2)


@given(st.binary(max_size=200))
def test_other_content_is_refused(content: bytes) -> None:
    """Any other content is refused with one kind of error."""
    with pytest.raises(ValueError, match="none of the firehose's"):
        published(content)


def test_a_profile_has_counts_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It has names only if requested; surplus routes are merged into one."""
    monkeypatch.setattr(counting, "MOST_ROUTES", 2)
    counted = Counting(2)
    for at_s, key, queues, length in (
        (0.05, "secret", ["a"], 10),
        (0.15, "secret", ["a"], 20),
        (1.95, "second", ["a", "b"], 10),
        (1.95, "third", ["c"], 30),
        (1.95, "fourth", ["c"], 40),
        (1.95, "nowhere", [], 50),
        (2.05, "secret", ["a"], 60),  # after the end
    ):
        counted.count(at_s, table("hidden", key, queues), length)
    for names in (False, True):
        profile = counted.profile(names=names, complete=True, most_waiting=7)
        write(profile, tmp_path / "profile.json")
        text = (tmp_path / "profile.json").read_text()
        assert parsed(text.encode(), "profile.json") == profile
        assert ("secret" in text, "hidden" in text) == (names, names)
    assert (profile.messages, profile.unroutable, profile.gathered) == (5, 1, 2)
    assert profile.tenths == (1, 1, *[0] * 17, 3)
    routes = [(route.routing_key, route.queues, route.per_second) for route in profile.routes]
    assert routes == [("secret", 1, (2, 0)), (None, 1, (0, 2)), ("second", 2, (0, 1))]
    assert profile.routes[0].lengths == ((10, 1), (20, 1))
    assert [*tmp_path.iterdir()] == [tmp_path / "profile.json"]


def test_small_routes_of_a_long_capture_are_gathered(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """They are merged until plans can read the file; a file that stays too long is not written."""
    file = tmp_path / "profile.json"

    def captured(most_bytes: int) -> Profile:
        for module in (counting, profile_of_plans):
            monkeypatch.setattr(module, "MOST_BYTES", most_bytes)
        counted = Counting(20)
        for number in range(40):
            for _ in range(1 + number):
                counted.count(number / 2, table("nova", f"{number}", ["a"]), 10)
        return counted.profile(names=True, complete=True, most_waiting=0)

    whole, least = captured(10_000), captured(2_000)
    assert (len(whole.routes), whole.gathered) == (40, 0)
    told_apart = [route for route in least.routes if route.routing_key is not None]
    assert {route.messages for route in told_apart} == {*range(41 - len(told_apart), 41)}
    assert least.gathered == 820 - sum(route.messages for route in told_apart)
    assert least.per_second() == whole.per_second()
    assert 5 <= len(told_apart) < 40
    write(least, file)
    assert 1_000 < file.stat().st_size <= 2_000
    with pytest.raises(PlanError, match=r"profile\.json: .* plans read 2,000 of a file; capture"):
        write(whole, file)
    assert parsed(file.read_bytes(), "profile.json") == least


@given(st.dictionaries(st.integers(0, 10**7), st.integers(1, 10**6), min_size=1, max_size=600))
def test_lengths_that_stand_for_others_move_the_distribution_by_little(
    lengths: dict[int, int],
) -> None:
    """Rounding changes it by at most 1/64, and not at all if lengths are few."""
    stands = representatives(Counter(lengths))
    merged: Counter[int] = Counter()
    for length, count in lengths.items():
        assert stands[length] >= length
        merged[stands[length]] += count
    assert len(merged) <= MOST_LENGTHS
    ordered = sorted(lengths)
    shares = [np.cumsum([of[length] for length in ordered]) for of in (lengths, merged)]
    assert np.abs(shares[0] - shares[1]).max() <= sum(lengths.values()) / 64
    assert len(lengths) > 64 or merged == lengths


# invalid files


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"version": 2}, "version"),
        ({"format": "other"}, "format"),
        ({"password": "x"}, "password"),
        ({"complete": 1}, "complete"),
        ({"routes": []}, "routes"),
        ({"routes": [ROUTE | {"per_second": [4, 0]}]}, "lengths and per_second count differently"),
        ({"routes": [ROUTE | {"per_second": [3]}]}, "tenths has 20 counts for 1 s"),
        ({"routes": [ROUTE, ROUTE | {"per_second": [3]}]}, "differently many seconds"),
        ({"routes": [ROUTE, ROUTE]}, "tenths and routes count differently"),
        ({"routes": [ROUTE | {"queues": 0}]}, "routes.0.queues"),
        ({"routes": [ROUTE | {"per_second": [-1, 4]}]}, "routes.0.per_second.0"),
        ({"routes": [ROUTE | {"lengths": [[10**8, 3]]}]}, "routes.0.lengths.0.0"),
        ({"tenths": [float("nan")] * 20}, "tenths.0"),
        ({"tenths": [10**400] * 20}, "tenths.0"),
    ],
)
def test_what_is_no_profile_is_refused(changed: dict[str, Any], words: str) -> None:
    """The error is one sentence with the file and the place."""
    assert parsed(json.dumps(PROFILE).encode(), "profile.json").routes[0].messages == 3
    content = json.dumps(PROFILE | changed).encode()
    with pytest.raises(PlanError, match=r"profile\.json: no traffic profile of version 1") as error:
        parsed(content, "profile.json")
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_what_is_no_json_is_refused() -> None:
    """Binary, truncated and empty files are."""
    for content in (b"\xff", b"[" * 100_000, b""):
        with pytest.raises(PlanError, match=r"profile\.json: "):
            parsed(content, "profile.json")


# replays


@given(
    st.lists(st.lists(st.integers(0, 300), min_size=3, max_size=3), min_size=1, max_size=5),
    st.lists(st.integers(0, 9), min_size=30, max_size=30),
    st.floats(0.1, 10),
    st.floats(0.1, 10),
)
def test_every_second_of_a_route_has_its_count(
    routes: list[list[int]], tenths: list[int], speed: float, scale: float
) -> None:
    """Counts are exact and repeat after the end; speed and scale change them in proportion."""
    for place, counts in enumerate(routes):
        if not sum(counts):
            continue
        phase = phase_of(place, len(routes))
        as_it_was = Schedule(curve_of(counts, tenths, speed=1, scale=1), phase)
        due = [as_it_was.due(second * NS - 1) for second in range(7)]
        assert np.diff(due).tolist() == counts * 2
        changed = Schedule(curve_of(counts, tenths, speed=speed, scale=scale), phase)
        expected = np.cumsum(counts) * scale
        until = [changed.due(round(second / speed * NS)) for second in (1, 2, 3)]
        assert np.abs(until - expected).max() <= 1.01


def test_routes_are_dealt_to_processes() -> None:
    """Each has one number, and the largest are in different processes."""
    for routes, processes in ((7, 3), (4, 4), (1000, 7), (1, 1)):
        of_routes = numbers(routes, processes)
        assert len({*of_routes}) == routes
        each = -(-routes // processes)
        assert {number // each for number in of_routes[:processes]} == {*range(processes)}


def test_lengths_are_those_of_what_a_load_replays() -> None:
    """If the load ends before the profile, routes of later seconds have no message in it."""
    early, late = (
        Route.model_validate({**ROUTE, "per_second": counts, "lengths": ((length, 3),)})
        for counts, length in (((3, 0), 10), ((0, 3), 4096))
    )
    received = {10: 300}
    assert distance([(early, 300), (late, 0)], received) == 0
    assert distance([(early, 300), (late, 300)], received) == pytest.approx(0.5)
    assert distance([(early, 300), (late, 0)], {}) == 1


def replay(**changes: object) -> Replay:
    """A replay whose record equals its profile, with a client that was late by some messages."""
    recorded = np.array([1000.0, 0.0, 3000.0])
    rates = {"asked": recorded, "due": recorded, "sent": recorded + np.array([-100, 100, 0])}
    sound: dict[str, Any] = {"routes": 3, "queues": 2, "missing": {}, "distance": 0.019}
    return Replay(**(sound | rates | changes))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, None),
        ({"due": np.array([1020.0, 0.0, 3000.0])}, None),
        ({"due": np.array([1030.0, 0.0, 3000.0])}, "in 1 of 3 s not as many messages were due"),
        ({"due": np.array([1000.0, 5.0, 2900.0])}, "in 2 of 3 s not as many messages were due"),
        ({"sent": np.array([600.0, 400.0, 3000.0])}, "in 2 of 3 s not as many messages were sent"),
        ({"missing": {4: (10, 9)}}, "of 1 of 3 routes"),
        ({"distance": 0.021}, "lengths that were received differ"),
    ],
)
def test_what_is_not_as_the_profile_has_it_is_told(
    changes: dict[str, Any], words: str | None
) -> None:
    """Seconds, routes and lengths count; a client's pause and messages at a border do not."""
    sentences = [*replay(**changes).disagreements()]
    assert [words in sentence for sentence in sentences] == [True] if words else not sentences
