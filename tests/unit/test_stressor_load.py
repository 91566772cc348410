"""The load of the stressor: counting of messages, settings of threads, and plans."""

import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from mqperf.base.errors import LoadError, PlanError
from mqperf.hosts import LocalHost
from mqperf.lab.load import Access, Endpoint, LoadJob
from mqperf.lab.runner.control import Station
from mqperf.lab.systems.in_plans import problems_of
from mqperf.lab.systems.possible import check_plan
from mqperf.onhost.record.hdr import fold
from mqperf.onhost.record.hdr_code import encode
from mqperf.plan import Case
from mqperf.plan.file import load_plan, plan_from, read_plan
from mqperf.plan.load import GENERATORS, pairs
from mqperf.record.counts import read_counts
from mqperf_amqp_0_9_1.lab.launcher import commands
from mqperf_amqp_0_9_1.lab.layout import queues, threads
from mqperf_amqp_0_9_1.onhost import orders
from mqperf_numbered.lab.environment import Environment
from mqperf_numbered.onhost.orders import Pace
from mqperf_numbered.onhost.record import BATCH, Record
from mqperf_numbered.onhost.tally import Tally

GENERATOR = GENERATORS["amqp-0-9-1"]
SEED = """\
exchange_name = reply_7d570042265647439ccad7e7778ddf61 or
discovery for all reply exchanges
exchange_type = direct
routing_key = reply_7d570042265647439ccad7e7778ddf61
message_payload = {"oslo.message":"{\\"_msg_id\\":
\\"DUMMY_RESPONSE_MESSAGE\\", \\"method\\": \\"test_generateur
\\", \\"_dummy_payload\\":\\« 0123456789...01234567890\\"}",
"oslo.version": "2.0"}
publish_rate = 100
duration = 30
"""
"""The configuration on the slides of 2017."""


def case(**changes: object) -> Case:
    fixed = {
        "system": "rabbitmq",
        "topology": "cmsm",
        "queues": "classic",
        "test_case": "publish",
        "generator": "amqp-0-9-1",
        "green_threads": 2,
        "duration_s": 5,
    }
    return Case.model_validate(fixed | changes)


def test_a_count_is_shared_by_all_threads(tmp_path: Path) -> None:
    """Shares are as even as possible and exact; without a count there is no end."""
    end, tool = Endpoint("amqp-0-9-1", ("127.0.0.1:5001",)), Environment("/host/python", (), {})
    load = case(green_threads=2, processes=2, parameters={"message_count": 11})
    job = LoadJob(
        load, "run", Access(end, end), tool, pairs(load), tmp_path, Path("/out"), "127.0.0.1"
    )
    client = commands(job)[-1]
    Station(LocalHost(), tmp_path).place(client.files)
    order = orders.read(orders.Orders, tmp_path / f"{client.label}.orders")
    assert [order.count_of(number) for number in range(4)] == [3, 3, 3, 2]
    assert replace(order, message_count=None).count_of(0) > 10**18


# counting of messages


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 2000)), max_size=12))
def test_blocks_of_any_senders_are_counted_to_the_message(
    tmp_path_factory: pytest.TempPathFactory, blocks: list[tuple[int, int]]
) -> None:
    """In any order of blocks, each sender's numbers are complete."""
    tally = Tally("server-1", "server", "publish", 1000.0, ["received"])
    record = Record(tally, "abc".__getitem__)
    sent = [0, 0, 0]
    for sender, count in blocks:
        numbers = np.arange(sent[sender], sent[sender] + count)
        record.add("received", sender, numbers, 1001.0 + numbers / 1e4, 1002.0)
        sent[sender] += count
    file = tmp_path_factory.mktemp("counts") / "server-1.counts"
    record.save(file)
    counts = read_counts(file)
    assert counts.streams["received"].count == sum(sent)
    for name, count in zip("abc", sent, strict=True):
        if count:
            numbered = counts.numbers["received"][name]
            assert numbered.ranges.tolist() == [[0, count - 1]]
            assert numbered.reordered == 0
    assert BATCH < 10_000


@given(st.lists(st.floats(0, 4000), max_size=50))
def test_histograms_are_those_of_hdrhistogram(latencies: list[float]) -> None:
    """The Python port of HdrHistogram reads the exact counts."""
    histogram = fold(np.array(latencies))
    theirs = HdrHistogram.decode(encode(histogram))
    assert list(theirs.counts)[: len(histogram.counts)] == histogram.counts.tolist()


# settings of threads


@pytest.mark.parametrize("kind", ["direct", "topic", "fanout", "headers"])
def test_no_thread_gets_messages_of_another(kind: str) -> None:
    """Threads are separated by key, header, or an exchange each."""
    load = case(processes=2, parameters={"exchange_type": kind, "copies": 2})
    every = [*threads(load, "run", 1), *threads(load, "run", 2)]
    distinguishing = {"direct": "routing_key", "topic": "binding_key", "fanout": "exchange"}
    assert len({str(thread[distinguishing.get(kind, "binding")]) for thread in every}) == 4
    names = [name for thread in every for name in thread["queues"]]
    assert names == queues(load, "run")
    assert len({*names}) == 8
    assert len({len(name) for name in names}) == 1


def test_one_thread_has_the_names_of_the_plan() -> None:
    """Exchange and key are those of the plan."""
    given = {"exchange": "reply_7", "routing_key": "a.b", "exchange_type": "topic"}
    [thread] = threads(case(green_threads=1, parameters=given), "run", 1)
    assert (thread["exchange"], thread["routing_key"]) == ("reply_7", "a.b")
    assert thread["binding_key"] == "*.b"


def test_passwords_are_in_files_of_their_owner(tmp_path: Path) -> None:
    """They are in no argument and no variable; the program reads its orders from the file."""
    end = Endpoint("amqp-0-9-1", ("127.0.0.1:5001",), "user", "hidden$1", "run")
    tool = Environment("/host/python", (Path("/host/ours"),), {})
    load = case(parameters={"rate_msg_s": 100.0})
    job = LoadJob(
        load, "run", Access(end, end), tool, pairs(load), tmp_path, Path("/out"), "127.0.0.1"
    )
    for command in commands(job):
        Station(LocalHost(), tmp_path).place(command.files)
        assert "hidden$1" not in " ".join([*command.argv, *command.env.values()])
        file = tmp_path / f"{command.label}.orders"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        order = orders.read(orders.Orders, file)
        assert (order.broker.password, order.pace) == ("hidden$1", Pace(50.0))
        assert "hidden" not in repr(order)


# plans

PLAN = """\
systems: {{rabbitmq: {{topologies: [cmsm]}}}}
test_cases: [publish]
load: {{generator: amqp-0-9-1, green_threads: 1, duration_s: 1, {0}}}
"""


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("exchange_type: fanaut", "fanout"),
        ("rate_msg_s: 0", "0"),
        ("rate_msg_s: [100, -1]", "-1"),
        ("payload_bytes: 31", "a stamp of 32 bytes"),
        ("payload_bytes: 10000001", "10,000,000"),
        ("exchange_typ: direct", "exchange_type"),
        ("confirms: -1", "-1"),
        ("copies: 0", "0"),
        ("acks: manual", "multiple"),
        ("rate_msg_s: 5, ramp_to_msg_s: 0", "0"),
        ("ramp_to_msg_s: 100", "give rate_msg_s"),
        ("rate_msg_s: 5, ramp_steps: 4", "give ramp_to_msg_s"),
        ("rate_msg_s: 5, thread_rate_msg_s: 5", "keep one"),
        ("message_count: 0", "0"),
        ("payload_mix: 90 % of 256", "two to 8 different lengths"),
        ("payload: ab, payload_mix: 50 % of 64 + 50 % of 256", "two bodies: keep one"),
    ],
)
def test_invalid_loads_are_refused_with_their_line(tmp_path: Path, keys: str, words: str) -> None:
    """The error comes before anything starts, with what to write instead."""
    file = tmp_path / "bad.yaml"
    file.write_text(PLAN.format(keys))
    with pytest.raises(PlanError) as error:
        load_plan(file, problems_of)
    assert str(error.value).startswith(f"{file}:3: ")
    assert words in str(error.value)


def test_a_body_of_the_plan_has_its_own_length() -> None:
    """A length beside it has no effect; without either it is 256 bytes."""
    usual = GENERATOR.resolved(case())
    assert (usual["payload_bytes"], usual["payload"]) == (256, None)
    with_body = GENERATOR.resolved(case(parameters={"payload": "« 12", "payload_bytes": 99}))
    assert with_body["payload_bytes"] == len("« 12".encode())


# streams


@pytest.mark.parametrize(
    ("load", "words"),
    [
        ("generator: amqp-0-9-1", "say acks: multiple, or acks: each"),
        ("generator: amqp-0-9-1, acks: [each, auto]", "say acks: multiple, or acks: each"),
        ("generator: amqp-0-9-1, acks: each, ttl_ms: [0]", "leave out ttl_ms"),
        ("generator: simulator", "it consumes from queues only"),
    ],
)
def test_loads_unable_to_consume_streams_are_refused(tmp_path: Path, load: str, words: str) -> None:
    """The error has the line of the kind of queue; a plan without text gives the same error."""
    cases = "publish" if "amqp" in load else "rpc-cast"
    text = (
        "systems:\n  rabbitmq:\n    topologies: [cmsm]\n    queues: [classic, stream]\n"
        f"test_cases: [{cases}]\nload: {{green_threads: 1, duration_s: 1, {load}}}\n"
    )
    file = tmp_path / "plan.yaml"
    file.write_text(text)
    with pytest.raises(PlanError, match=words) as error:
        load_plan(file, problems_of)
    assert str(error.value).startswith(f"{file}:4: systems.rabbitmq.queues entry 2: ")
    with pytest.raises(PlanError, match=words):
        check_plan(load_plan(file))


def test_a_load_beside_a_stream_must_fit_it_too(tmp_path: Path) -> None:
    """A background load uses the same kind of queue; with acknowledgements it is valid."""
    file = tmp_path / "plan.yaml"
    beside = "{generator: amqp-0-9-1, test_case: publish, green_threads: 1"
    text = PLAN.replace("[cmsm]", "[cmsm], queues: [stream]").format("acks: each")
    file.write_text(f"{text}background: [{beside}, acks: multiple}}]\n")
    assert len(load_plan(file, problems_of).cases()) == 1
    file.write_text(f"{text}background: [{beside}}}]\n")
    with pytest.raises(PlanError, match="say acks"):
        load_plan(file, problems_of)


# a body in a file


BODY = bytes(range(256)) * 3
PIN = "bodies/one.bin (768 bytes, sha256 f3a25aa93aa2fbba)"


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    """A plan's folder that contains a body file."""
    (tmp_path / "bodies").mkdir()
    (tmp_path / "bodies" / "one.bin").write_bytes(BODY)
    return tmp_path


def test_a_file_is_known_by_what_is_in_it(beside: Path) -> None:
    """Case and copied plan have size and digest: other bytes are another case."""
    file = beside / "plan.yaml"
    file.write_text(PLAN.format("payload_file: bodies/one.bin, payload_bytes: 99"))
    loaded = read_plan(file, problems_of)
    [load] = loaded.plan.cases()
    assert load.parameters["payload_file"] == PIN
    assert GENERATOR.resolved(load)["payload_bytes"] == len(BODY)
    assert loaded.plan.files == {PIN: BODY}
    assert str(beside) not in loaded.text + load.model_dump_json()
    (beside / "copy.yaml").write_text(loaded.text)
    assert [c.parameters for c in load_plan(beside / "copy.yaml").cases()] == [load.parameters]
    (beside / "bodies" / "one.bin").write_bytes(BODY[1:])
    assert load_plan(file, problems_of).cases()[0].id != load.id
    with pytest.raises(PlanError, match="it has changed since the plan was"):
        load_plan(beside / "copy.yaml", problems_of)


def test_files_of_an_axis_and_of_a_load_beside_it_are_read(beside: Path) -> None:
    """Files are read wherever a plan can have loads."""
    (beside / "two.bin").write_bytes(b"two")
    file = beside / "plan.yaml"
    beside_it = "background: [{generator: amqp-0-9-1, test_case: publish, green_threads: 1"
    text = PLAN.format("payload_file: [bodies/one.bin, two.bin]")
    file.write_text(f"{text}{beside_it}, payload_file: two.bin}}]\n")
    loaded = read_plan(file, problems_of)
    of_two = "two.bin (3 bytes, sha256 3fc4ccfe745870e2)"
    assert [c.parameters["payload_file"] for c in loaded.plan.cases()] == [PIN, of_two]
    assert {c.background[0].parameters["payload_file"] for c in loaded.plan.cases()} == {of_two}
    assert loaded.plan.files == {PIN: BODY, of_two: b"two"}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("none.bin", "No such file"),
        ("bodies", "a folder|directory"),
        ("empty.bin", "it is empty"),
        ("large.bin", "more than 10,000,000 bytes, which no message"),
        ("/etc/hostname", "absolute path: give it from the plan's folder on"),
        ("../../../../../../../etc/hostname", "outside the plan's folder: put a copy of it there"),
        ("bodies/../../outside.bin", "outside the plan's folder: put a copy of it there"),
        ("link", "outside the plan's folder: put a copy of it there"),
        ("linked/one.bin", "outside the plan's folder: put a copy of it there"),
        ("loop", "leads nowhere|symbolic links"),
        ("pipe", "no file, but a folder, a device or a pipe"),
        ("bodies/one.bin, payload: hello", "two bodies: keep one"),
    ],
)
def test_a_file_that_is_no_body_is_told_in_one_line(beside: Path, name: str, words: str) -> None:
    """The error has the line and the reason, before anything starts."""
    (beside / "empty.bin").touch()
    with (beside / "large.bin").open("wb") as large:
        large.truncate(10_000_001)
    os.mkfifo(beside / "pipe")
    (beside / "link").symlink_to("/etc/hostname")
    (beside / "linked").symlink_to(beside.parent)
    (beside / "loop").symlink_to("loop")
    (beside.parent / "outside.bin").write_bytes(BODY)
    file = beside / "plan.yaml"
    file.write_text(PLAN.format(f"payload_file: {name}"))
    with pytest.raises(PlanError, match=words) as error:
        load_plan(file, problems_of)
    assert str(error.value).startswith(f"{file}:3: load")
    assert "\n" not in str(error.value)


def test_a_plan_without_a_file_of_its_own_has_none_beside_it() -> None:
    """Plans given as data, as in notebooks, get an error that says what to do."""
    load = {"generator": "amqp-0-9-1", "green_threads": 1, "duration_s": 1}
    data = {
        "systems": {"rabbitmq": {"topologies": ["cmsm"]}},
        "test_cases": ["publish"],
        "name": "some",
        "title": "some",
        "load": {**load, "payload_file": "one.bin"},
    }
    with pytest.raises(PlanError, match="the file was not read: files go with a plan"):
        plan_from(data, "cell", problems_of)


def test_the_body_is_written_once_for_all_clients_of_a_host(tmp_path: Path) -> None:
    """All clients read the file beside the first one's orders; servers know which body is whose."""
    end = Endpoint("amqp-0-9-1", ("127.0.0.1:5001",), "user", "secret", None)
    tool = Environment("/host/python", (), {})
    load = case(processes=2, parameters={"payload_file": PIN})
    job = LoadJob(
        load,
        "run",
        Access(end, end),
        tool,
        pairs(load),
        tmp_path,
        tmp_path,
        "127.0.0.1",
        {PIN: BODY},
    )
    every = commands(job)
    assert [set(c.files) - {f"{c.label}.orders"} for c in every] == [set(), set(), {"body"}, set()]
    for command in every:
        Station(LocalHost(), tmp_path).place(command.files)
    for command in every:
        order = orders.read(orders.Orders, tmp_path / f"{command.label}.orders")
        assert order.body == (BODY if command.kind == "client" else None)
        assert not order.in_body
    with pytest.raises(LoadError, match="run the plan from its file"):
        commands(replace(job, files={}))


# the configuration of 2017


def test_the_configuration_may_name_the_file_of_its_payload(beside: Path) -> None:
    """The file is beside the configuration; a payload and a file together are an error."""
    file = beside / "stressor.conf"
    file.write_text("message_payload_file = bodies/one.bin\nduration = 3\n")
    loaded = read_plan(file, problems_of)
    assert [c.parameters["payload_file"] for c in loaded.plan.cases()] == [PIN]
    file.write_text(f"{SEED}message_payload_file = bodies/one.bin\n")
    with pytest.raises(PlanError, match="two bodies: keep one"):
        read_plan(file, problems_of)


def test_the_configuration_of_the_slides_is_a_plan(tmp_path: Path) -> None:
    """It is read unchanged: continued lines, odd quotes, and an alternative."""
    file = tmp_path / "stressor.conf"
    file.write_text(SEED)
    given = read_plan(file, problems_of)
    [load] = given.plan.cases()
    name = "reply_7d570042265647439ccad7e7778ddf61"
    assert (load.generator, load.test_case, load.duration_s) == ("amqp-0-9-1", "publish", 30)
    assert load.parameters["exchange"] == load.parameters["routing_key"] == name
    assert load.parameters["rate_msg_s"] == 100
    assert str(load.parameters["payload"]).startswith('{"oslo.message":"{\\"_msg_id\\":\\"DUMMY')
    assert str(load.parameters["payload"]).endswith(
        "«" + ' 0123456789...01234567890\\"}","oslo.version": "2.0"}'
    )
    again = tmp_path / "plan.yaml"
    again.write_text(f"name: stressor\n{given.text}")
    assert load_plan(again, problems_of).cases() == [load]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("publish_rate = 100", "publish_rate = many"), ":9: publish_rate: expected a number"),
        (("publish_rate", "publish_rat"), ":9: unknown key 'publish_rat'"),
        (
            ("exchange_type = direct\n", "exchange_type = direct\n" * 2),
            ":4: exchange_type is given",
        ),
        (("duration = 30", ""), "duration is missing"),
        (("exchange_type = direct", "exchange_type = fan"), ":3: .*fanout"),
        (("duration = 30", "duration = 0"), ":10: load.duration_s: expected at least 1, got 0"),
        (
            ("duration = 30", "message_payload_file = ../body\nduration = 30"),
            ":10: load.payload_file: .*outside the plan's folder",
        ),
        (("exchange_name =", "hello\nexchange_name ="), ":1: expected key = value, got 'hello'"),
    ],
)
def test_a_wrong_configuration_is_told_with_its_line(
    tmp_path: Path, change: tuple[str, str], words: str
) -> None:
    """The error says what is wrong, and what would be right."""
    file = tmp_path / "stressor.conf"
    file.write_text(SEED.replace(*change))
    with pytest.raises(PlanError, match=words):
        read_plan(file, problems_of)


def test_orders_say_what_the_generator_resolves(tmp_path: Path) -> None:
    """A file of orders is JSON with every parameter that a process uses."""
    end = Endpoint("amqp-0-9-1", ("127.0.0.1:5001",), "user", "secret", None)
    tool = Environment("/host/python", (), {})
    load = case(queues="quorum", parameters={"confirms": 10, "delivery": "persistent"})
    job = LoadJob(
        load, "run", Access(end, end), tool, pairs(load), tmp_path, Path("/out"), "127.0.0.1"
    )
    [server, client] = [json.loads(next(iter(c.files.values()))) for c in commands(job)]
    assert (client["confirms"], client["delivery"]) == (10, "persistent")
    assert client["broker"]["vhost"] == "/"
    assert server["queue_arguments"] == {"x-queue-type": "quorum"}
    assert len(client["threads"]) == client["threads_per_process"] == 2
