"""Loads of several generators: one plan compares protocols side by side."""

from pathlib import Path

import pandas as pd
import pytest
import yaml
from factory import Shape, tables

from mqperf.base.errors import PlanError
from mqperf.lab.systems.in_plans import problems_of
from mqperf.lab.systems.possible import check_plan
from mqperf.pages.questions import answers
from mqperf.pages.report.words import generator
from mqperf.pages.sections.forms import plain
from mqperf.plan import Plan
from mqperf.plan.file import load_plan, parse_plan
from mqperf.study.tables import Tables, arranged, curves, varied

BOTH = """\
systems:
  rabbitmq: {topologies: [single], queues: [classic, quorum]}
test_cases: [publish]
load:
  generator:
    amqp-0-9-1: {confirms: 1000, acks: multiple}
    amqp-1.0: {credit: [100, 1000]}
  green_threads: 1
  payload_bytes: 500
  duration_s: 5
"""
PLAIN = BOTH.replace("\n    amqp-0-9-1: {confirms: 1000, acks: multiple}", " amqp-0-9-1")


def plan(text: str) -> Plan:
    return parse_plan(text, Path("plan.yaml"), problems_of)


def test_points_are_those_of_each_generator() -> None:
    """Each combines common keys with its own; the preview counts all points."""
    both = plan(BOTH)
    points = [(case.queues, case.generator, dict(case.parameters)) for case in both.cases()]
    of_each = [
        ("amqp-0-9-1", {"payload_bytes": 500, "confirms": 1000, "acks": "multiple"}),
        ("amqp-1.0", {"payload_bytes": 500, "credit": 100}),
        ("amqp-1.0", {"payload_bytes": 500, "credit": 1000}),
    ]
    assert points == [(queues, *of) for queues in ("classic", "quorum") for of in of_each]
    assert both.number_of_cases == len({case.id for case in both.cases()}) == 6
    check_plan(both)


def test_a_point_has_the_id_that_it_has_in_a_plan_of_one_generator() -> None:
    """Runs of one protocol are found again when another joins the plan."""
    alone = PLAIN.replace("    amqp-1.0: {credit: [100, 1000]}\n", "").replace(
        "payload_bytes: 500", "payload_bytes: 500\n  confirms: 1000\n  acks: multiple"
    )
    ids = {case.id for case in plan(alone).cases()}
    assert ids == {case.id for case in plan(BOTH).cases() if case.generator == "amqp-0-9-1"}


def test_a_value_of_one_generator_comes_first() -> None:
    """The common value still applies to the other generator."""
    both = plan(BOTH.replace("credit: [100, 1000]", "payload_bytes: 100"))
    assert [case.parameters["payload_bytes"] for case in both.cases()] == [500, 100, 500, 100]
    assert both.number_of_cases == 4


def test_a_file_may_be_of_one_generator(tmp_path: Path) -> None:
    """It is found beside the plan, as a common file is."""
    (tmp_path / "body").write_bytes(b"x" * 50)
    file = tmp_path / "plan.yaml"
    file.write_text(BOTH.replace("acks: multiple", "payload_file: body"))
    first, second, *_ = load_plan(file, problems_of).cases()
    assert str(first.parameters["payload_file"]).startswith("body (50 bytes, sha256 ")
    assert "payload_file" not in second.parameters


@pytest.mark.parametrize("text", ["amqp-1.0", "{amqp-1.0: {}}"])
def test_a_generator_without_keys_is_its_name(text: str) -> None:
    """All notations are equal, and the plan is dumped in the same short form."""
    dumped = plan(BOTH[: BOTH.index("\n    amqp")] + f" {text}" + BOTH[BOTH.index("\n  green") :])
    assert yaml.safe_load(yaml.safe_dump(dumped.model_dump(mode="json")))["load"]["generator"] == (
        "amqp-1.0"
    )


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ("payload_bytes", "confirms", "9: load.confirms: not every generator of the load knows"),
        ("payload_bytes", "payload_byte", "9: load.payload_byte: unknown key; did you mean"),
        ("payload_bytes: 500", "payload_bytes: 5", "9: load.payload_bytes: every message carries"),
        ("credit", "credits", "7: load.generator.amqp-1.0.credits: unknown key; did you mean"),
        ("[100, 1000]", "[1, 0]", "7: load.generator.amqp-1.0.credit entry 2: expected at least"),
        ("[100, 1000]", "[]", "7: load.generator.amqp-1.0.credit is empty"),
        ("credit: [100, 1000]", "rate_msg_s: 9", "'rate_msg_s' is no parameter of one generator"),
        ("credit: [100, 1000]", "green_threads: 9", "'green_threads' is no parameter of one"),
        ("amqp-1.0:", "amqp-1.1:", "5: load.generator: unknown generator 'amqp-1.1'; did"),
        ("amqp-1.0: {credit: [100, 1000]}", "rabbitmq-stream: {}", "entry 2: Stream Publishers"),
        ("amqp-1.0: {credit: [100, 1000]}", "amqp-1.0:", "7: load.generator.amqp-1.0: expected a"),
        ("[publish]", "[transfer]", "AMQP 0-9-1 Stressor does not make 'transfer'"),
        ("{credit: [100, 1000]}", "{}\n    command: {}", "does not make 'publish'"),
        (
            "duration_s: 5",
            "duration_s: 5\n  raet_msg_s: 5",
            "11: load.raet_msg_s: unknown key; did",
        ),
    ],
    ids=lambda value: value.strip("{}[]: ")[:20],
)
def test_a_mistake_is_told_once_at_its_line(right: str, wrong: str, words: str) -> None:
    """It holds for common keys and for those of one generator."""
    assert right in BOTH
    text = BOTH.replace(right, wrong)
    with pytest.raises(PlanError) as error:
        plan(text)
    assert words in str(error.value)
    assert str(error.value).count(words.partition(": ")[0]) == 1


def test_generators_are_decided_against_the_first() -> None:
    """They are compared per kind of queue; parameters of one generator make no further point."""
    text = BOTH.replace("[100, 1000]", "100") + "decide: {within: 2 min}\n"
    compared = plan(text).comparisons()
    assert [one.words for one in compared if one.axis == "generator"] == [
        f"amqp-1.0 against amqp-0-9-1, {queues}, publish, 1 thread, credit 100"
        for queues in ("classic", "quorum")
    ]


@pytest.fixture(scope="module")
def measured() -> Tables:
    """Two protocols to classic and quorum queues; each run has its generator's parameters."""
    shape = Shape(
        layouts=(("single", "classic"), ("single", "quorum")),
        test_cases=("rpc-call",),
        threads=(10,),
        parameters=(("generator", ("amqp-0-9-1", "amqp-1.0")),),
    )
    return tables(shape)


@pytest.mark.takes_long
def test_no_curve_has_points_of_two_generators(measured: Tables) -> None:
    """The generator separates them, whatever further parameters differ."""
    runs = measured["runs"]
    of_first = runs["generator"].eq("amqp-0-9-1")
    alone = runs.assign(
        confirms=pd.array([1000], dtype="Int64").take([0] * len(runs)),
        credit=pd.array([100], dtype="Int64").take([0] * len(runs)),
    )
    alone.loc[~of_first, "confirms"] = pd.NA
    alone.loc[of_first, "credit"] = pd.NA
    assert varied(alone) == varied(runs) == ("generator",)
    assert arranged(measured["points"]).names == ("threads", "generator")
    assert [names for names, _ in curves(measured["points"])] == [
        {"generator": "amqp-0-9-1"},
        {"generator": "amqp-1.0"},
    ] * 2


@pytest.mark.takes_long
def test_the_protocols_are_compared(measured: Tables) -> None:
    """A sentence compares them per kind of queue; a page names both generators."""
    answered = {answer.question: answer for answer in answers(measured)}
    [compared] = [answer for question, answer in answered.items() if "generator" in question]
    words = [plain(sentence) for sentence in compared.sentences]
    for queues in ("classic", "quorum"):
        start = f"AMQP 1.0 against AMQP 0-9-1 ({queues} queues): CALL "
        assert any(sentence.startswith(start) for sentence in words), words
    for protocol in ("AMQP 0-9-1", "AMQP 1.0"):
        start = f"quorum queues against classic queues ({protocol}): CALL "
        assert any(sentence.startswith(start) for sentence in words), words
    named = generator(measured["runs"])
    assert named["name"] == "`AMQP 0-9-1 Stressor`_ and `AMQP 1.0 Senders and Receivers`_"
    assert named["target"].count(".. _AMQP") == 2
