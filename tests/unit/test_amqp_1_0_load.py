"""The AMQP 1.0 load: the orders of its processes, and the checks of what they recorded."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numbered_runs import START, read_back

from mqperf.base.errors import PlanError
from mqperf.lab.load import LAUNCHERS, Access, Endpoint, LoadJob
from mqperf.lab.systems.possible import check_plan
from mqperf.plan import Case
from mqperf.plan.file import parse_plan
from mqperf.plan.load import GENERATORS, pairs
from mqperf_amqp_1_0.onhost import orders
from mqperf_numbered.lab.environment import Environment
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.orders import Pace
from mqperf_numbered.onhost.tally import Tally

GENERATOR, LAUNCHER = GENERATORS["amqp-1.0"], LAUNCHERS["amqp-1.0"]
SENT = 100


def case(**changes: object) -> Case:
    fixed = {
        "system": "qpid-dispatch",
        "topology": "line",
        "queues": "routed",
        "test_case": "transfer",
        "generator": "amqp-1.0",
        "green_threads": 2,
        "duration_s": 2,
        "warmup_s": 1,
    }
    return Case.model_validate(fixed | changes)


def test_orders_have_what_the_generator_resolves(tmp_path: Path) -> None:
    """Each thread has an address, shared with its server; passwords are only in files."""
    end = Endpoint("amqp-1.0", ("127.0.0.1:5001",), "user", "secret", None)
    tool = Environment("/host/python", (), {})
    parameters = {"settlement": "pre-settled", "priority": 7, "links": 2, "rate_msg_s": 100}
    planned = case(processes=2, parameters=parameters)
    job = LoadJob(
        planned, "run", Access(end, end), tool, pairs(planned), tmp_path, Path("/out"), "127.0.0.1"
    )
    made = LAUNCHER.commands(job)
    assert not any("secret" in word for each in made for word in (*each.argv, *each.env.values()))
    for each in made:
        for name, text in each.files.items():
            (tmp_path / name).write_text(text)
    by_label = {each.label: orders.read(tmp_path / f"{each.label}.orders") for each in made}
    assert by_label["client-2"].threads == by_label["server-2"].threads
    assert [thread.number for thread in by_label["client-2"].threads] == [2, 3]
    addresses = [thread.address for each in by_label.values() for thread in each.threads]
    assert sorted({*addresses}) == sorted(LAUNCHER.queues(planned, "run"))
    client = by_label["client-1"]
    assert (client.settled, client.priority, client.links) == (True, 7, 2)
    assert client.pace == Pace(25.0)
    assert f"{client.broker.user}:{client.broker.password}" == "user:secret"
    assert "secret" not in repr(client)


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("payload_bytes: 31", "every message carries a stamp of 32 bytes"),
        ("settlement: exactly-once", "settlement"),
        ("payload_bytes: 33, payload_spread: 0.05", "leaves bodies of 31 bytes, and the stamp"),
        ("payload_bytes: [99, 33], payload_spread: [0.01, 0.05]", "leaves bodies of 31 bytes"),
        ("payload_spread: 0", "payload_spread"),
        ("credit: 0", "credit"),
        ("links: none", "links"),
        ("channels: 2", "channels"),
    ],
)
def test_an_impossible_load_is_refused(option: str, words: str) -> None:
    """The error names the key."""
    text = (
        "systems: {artemis: {topologies: [single]}}\ntest_cases: [transfer]\n"
        f"load: {{generator: amqp-1.0, green_threads: 1, duration_s: 1, {option}}}\n"
    )
    with pytest.raises(PlanError, match=words):
        check_plan(parse_plan(text, Path("test.yaml")))


# outcomes of messages


def recorded(folder: Path, outcomes: dict[str, int], *, errors: int = 0) -> str | None:
    """The disagreements of a run whose one client sent 100 messages with these outcomes."""
    numbers = np.arange(SENT)
    instants = START + 1 + numbers / SENT
    client = Tally("client-1", "client", "transfer", START, ["sent", "error", "confirmed"])
    client.add("sent", "client-1.1", numbers, instants)
    client.add("error", "client-1.1", numbers[:errors], instants[:errors], instants[:errors] + 0.1)
    good = slice(errors, errors + outcomes.get("accepted", 0))
    client.add("confirmed", "client-1.1", numbers[good], instants[good], instants[good] + 0.1)
    server = Tally("server-1", "server", "transfer", START, ["received"])
    server.add("received", "client-1.1", numbers, instants, instants + 0.05)
    read = read_back(folder, case(green_threads=1), (client, outcomes), (server, {}))
    if outcomes:
        [row] = read["outcomes"].to_dict("records")
        assert row["sent"] == SENT
        assert {name: row[name] for name in outcomes} == outcomes
    disagreements = read["messages"]["disagreements"].iloc[0]
    return None if pd.isna(disagreements) else str(disagreements)


@pytest.mark.parametrize(
    ("outcomes", "errors"),
    [
        ({"accepted": 100}, 0),
        ({"accepted": 90, "unsettled": 10}, 0),
        ({"accepted": 70, "released": 10, "modified": 5, "rejected": 5, "unsettled": 10}, 20),
    ],
)
def test_outcomes_that_add_up_are_no_disagreement(
    tmp_path: Path, outcomes: dict[str, int], errors: int
) -> None:
    """accepted + released + modified + rejected + unsettled = sent."""
    disagreements = recorded(tmp_path, outcomes, errors=errors) or ""
    assert "client-1" not in disagreements


@pytest.mark.parametrize(
    ("outcomes", "errors", "words"),
    [
        ({"accepted": 99}, 0, "= 99, but 100 were sent"),
        ({"accepted": 100, "unsettled": 1}, 0, "= 101, but 100 were sent"),
        ({"accepted": 90, "released": 10}, 9, "10 released, modified or rejected, but 9 recorded"),
    ],
)
def test_outcomes_that_do_not_add_up_are_found(
    tmp_path: Path, outcomes: dict[str, int], errors: int, words: str
) -> None:
    """The difference is in the table ``messages``, from where it becomes a doubt."""
    disagreements = recorded(tmp_path, outcomes, errors=errors) or ""
    assert words in disagreements


def test_a_diary_of_another_generator_is_refused(tmp_path: Path) -> None:
    """The file was written by another generator than the run names."""
    tally = Tally("client-1", "client", "transfer", START, ["sent"])
    tally.save(tmp_path / "client-1.counts")
    Diary("amqp-0-9-1", "client-1", "client").save(tmp_path / "client-1.json")
    with pytest.raises(Exception, match="another generator: mqperf-amqp-0-9-1"):
        LAUNCHER.check(tmp_path, "client-1", "client")
    content = json.loads((tmp_path / "client-1.json").read_text())
    (tmp_path / "client-1.json").write_text(json.dumps({**content, "format": "mqperf-amqp-1.0"}))
    LAUNCHER.check(tmp_path, "client-1", "client")
