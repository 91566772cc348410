"""The JSON schema of plans: it accepts valid plans, and locates mistakes."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from mqperf.front.cli import app
from mqperf_projects.front.questions import TEMPLATES, plan_text
from mqperf_projects.front.schema import plan_schema

SOUND = """\
systems: {rabbitmq: {topologies: [cmsm], queues: [classic]}}
test_cases: [rpc-call]
load: {green_threads: [1, 5], duration_s: 5, payload_bytes: 10}
question: scaling
"""


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return plan_schema()


@pytest.fixture(scope="module")
def validator(schema: dict[str, Any]) -> Draft202012Validator:
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def faults(validator: Draft202012Validator, text: str) -> list[str]:
    """The place and message of each violation."""
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(load(text))]


def load(text: str) -> object:
    document: object = yaml.safe_load(text)
    return document


def test_every_shipped_plan_is_valid(validator: Draft202012Validator, root: Path) -> None:
    """So are the plans of new projects, and a plan without a question."""
    plans = {file.name: file.read_text() for file in root.glob("plans/*.yaml")}
    plans |= {
        name: plan_text(name, "rabbitmq", "rpc-call", of.usual) for name, of in TEMPLATES.items()
    }
    wrong = {name: found for name, text in plans.items() if (found := faults(validator, text))}
    assert len(plans) > 40
    assert wrong == {}


@pytest.mark.parametrize(
    ("right", "wrong", "place"),
    [
        ("systems: {rabbitmq", "systems: {rabitmq", "$.systems: Additional properties"),
        ("cmsm", "cmsn", "$.systems.rabbitmq.topologies[0]: 'cmsn' is not one of"),
        ("classic", "clasic", "$.systems.rabbitmq.queues[0]: 'clasic' is not one of"),
        ("rpc-call", "rpc-cal", "$.test_cases[0]: 'rpc-cal' is not one of"),
        ("[1, 5]", "[1, ten]", "$.load.green_threads: [1, 'ten'] is not valid"),
        ("duration_s", "duration", "$.load: Additional properties are not allowed ('duration'"),
        ("payload_bytes", "payload_byte", "$.load: Additional properties are not allowed"),
        ("payload_bytes: 10", "generator: amqp", "$.load.generator: 'amqp' is not one of"),
        (
            "payload_bytes: 10",
            "generator: {amqp-1.0: {credits: 1}}",
            "$.load.generator['amqp-1.0']",
        ),
        ("payload_bytes: 10", "generator: {amqp-1.1: {}}", "$.load.generator: Additional prop"),
        ("test_cases:", "test_case:", "$: Additional properties are not allowed ('test_case'"),
        ("scaling", "scalin", "$.question: 'scalin' is not valid"),
    ],
    ids=lambda value: value.split()[0] if value.startswith("$") else "",
)
def test_a_mistake_is_marked(
    validator: Draft202012Validator, right: str, wrong: str, place: str
) -> None:
    """The violation is at its place; the unchanged plan has none."""
    assert faults(validator, SOUND) == []
    assert any(found.startswith(place) for found in faults(validator, SOUND.replace(right, wrong)))


def test_parameters_say_what_they_are(schema: dict[str, Any]) -> None:
    """Descriptions name their generators; a common parameter takes the values of all."""
    load = schema["$defs"]["LoadPlan"]["properties"]
    assert "amqp-0-9-1: Messages of a thread that may wait" in load["confirms"]["description"]
    assert load["green_threads"]["description"] == "Green threads in each client process."
    description = load["payload_bytes"]["description"]
    assert description.startswith("simulator: ")
    assert "amqp-0-9-1: " in description


def test_the_schema_is_printed(schema: dict[str, Any]) -> None:
    """As JSON."""
    assert json.loads(CliRunner().invoke(app, ["schema"]).output) == schema
