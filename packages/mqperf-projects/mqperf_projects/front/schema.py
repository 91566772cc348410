"""The JSON schema of plans, for editors, made of the models of plans and of what is installed."""

from collections.abc import Iterable, Mapping
from typing import Any

from mqperf.lab.actions import ACTIONS
from mqperf.lab.probes import PROBES
from mqperf.lab.systems import SYSTEMS, System
from mqperf.plan import LoadPlan, Plan
from mqperf.plan.load import GENERATORS
from mqperf.plan.pace import PACE
from mqperf.plan.questions import QUESTIONS
from mqperf.plan.test_cases import TEST_CASES

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
OPTIONAL = ("name", "title")
"""Keys that a file need not have: the name of the file is their default."""

SWEPT = ("LoadPlan", "LinkPlan")
"""The models whose lists may each be a single value."""

MEANINGS: Mapping[str, Mapping[str, str]] = {
    "Plan": {
        "systems": "Systems to measure, by name.",
        "test_cases": "What clients do.",
        "load": "The amount of load: each key is a value, or a list that is swept.",
        "hosts": "Where it runs: laboratory, or the path of an inventory.",
        "repeats": "How often every point is measured. Three or more give intervals.",
        "conditions": "Named conditions; the others are compared with the first.",
        "question": "The question to answer first.",
    },
    "LoadPlan": {
        "green_threads": "Green threads in each client process.",
        "processes": "Client processes on each client host.",
        "hosts": "Number of client hosts, from the start of the inventory.",
        "duration_s": "Length of the measured window in seconds.",
        "warmup_s": "Seconds of load before the window.",
        "cooldown_s": "Seconds of load after the window.",
    },
}
"""Descriptions of keys, shown by editors, where the model has none."""


def plan_schema() -> Schema:
    """Return the schema; names are those of mqperf and of the packages that are installed."""
    schema = _without_titles(Plan.model_json_schema())
    definitions = schema["$defs"]
    models = {**definitions, "Plan": schema}
    for name, model in models.items():
        model.pop("description", None)  # the docstring of the class
        for key, text in MEANINGS.get(name, {}).items():
            model["properties"][key]["description"] = text
    for name in SWEPT:
        properties = models[name]["properties"]
        properties |= {key: _single_or_list(form) for key, form in properties.items()}
    parameters, more = _parameters(definitions["LoadPlan"]["properties"])
    definitions["LoadPlan"]["properties"] |= parameters
    definitions["LoadPlan"]["additionalProperties"] = False
    definitions |= more
    definitions["LoadPlan"]["properties"]["generator"] = _generators(parameters)
    _restrict(definitions["BackgroundLoad"], "generator", GENERATORS)
    _restrict(definitions["BackgroundLoad"], "test_case", TEST_CASES)
    _restrict(definitions["ActionPlan"], "do", ACTIONS)
    properties, plan = schema["properties"], definitions["SystemPlan"]
    properties["test_cases"]["items"] = {"enum": [*TEST_CASES]}
    properties["probes"]["items"] = {"enum": [*PROBES]}
    properties["question"]["items"] = {"enum": [*QUESTIONS]}
    properties["question"] = _single_or_list(properties["question"])
    systems = {name: _system(system, plan) for name, system in SYSTEMS.items()}
    properties["systems"] |= {"properties": systems, "additionalProperties": False}
    schema["required"] = [key for key in schema["required"] if key not in OPTIONAL]
    return {"$schema": DIALECT, "title": "A plan of mqperf", **schema}


def _without_titles(value: Any) -> Any:  # noqa: ANN401 (any part of a schema)
    """Return the schema without the titles that pydantic makes of the names of keys."""
    if isinstance(value, list):
        return [_without_titles(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    kept = {k: inner for k, inner in value.items() if k != "title" or not isinstance(inner, str)}
    return {key: _without_titles(inner) for key, inner in kept.items()}


def _single_or_list(form: Schema) -> Schema:
    """Return, for a list, the schema of a single value or a list; any other schema unchanged."""
    if form.get("type") != "array" or "items" not in form:
        return form
    single = {"anyOf": [form["items"], {"type": "array", "items": form["items"], "minItems": 1}]}
    return single | _annotations(form)


def _annotations(form: Schema) -> Schema:
    return {key: form[key] for key in ("default", "description") if key in form}


def _restrict(model: Schema, key: str, names: Iterable[str]) -> None:
    """Restrict the values of a key to these names."""
    model["properties"][key] = {"enum": [*names], **_annotations(model["properties"][key])}


def _parameters(known: Schema) -> tuple[Schema, Schema]:
    """Return the parameters of all generators, each a value or a list, and their definitions.

    A parameter of several generators takes what any of them accepts.
    """
    forms: dict[str, list[Schema]] = {}
    descriptions: dict[str, list[str]] = {}
    definitions: Schema = {}
    for generator in GENERATORS.values():
        schema = _without_titles(generator.parameters.model_json_schema())
        definitions |= schema.get("$defs", {})
        for name, form in schema["properties"].items():
            text = form.pop("description", "").replace("``", "`")
            form.pop("default", None)
            if form not in forms.setdefault(name, []):
                forms[name].append(form)
            descriptions.setdefault(name, []).append(f"{generator.name}: {text}")
    lists = {
        name: {"type": "array", "items": {"anyOf": forms[name]}, "description": "\n\n".join(texts)}
        for name, texts in descriptions.items()
        if name not in known
    }
    return {name: _single_or_list(form) for name, form in lists.items()}, definitions


def _generators(parameters: Schema) -> Schema:
    """Return the schema of a generator's name, or of a mapping of names to own parameters."""
    own: Schema = {
        name: {
            "type": "object",
            "properties": {
                key: {"$ref": f"#/$defs/LoadPlan/properties/{key}"}
                for key in generator.parameters.model_fields
                if key in parameters and key not in PACE
            },
            "additionalProperties": False,
        }
        for name, generator in GENERATORS.items()
    }
    several = {"properties": own, "additionalProperties": False, "minProperties": 1}
    return {
        "default": LoadPlan.model_fields["generator"].default,
        "if": {"type": "object"},
        "then": several,
        "else": {"enum": [*GENERATORS]},
    }


def _system(system: System, plan: Schema) -> Schema:
    """Return the schema of a system; if it has forms of networks, a topology may be any name."""
    topologies: Schema = {"enum": [*system.topologies]}
    if system.forms:
        topologies = {"anyOf": [topologies, {"type": "string"}]}
    properties = {
        **plan["properties"],
        "topologies": {**plan["properties"]["topologies"], "items": topologies},
        "queues": {**plan["properties"]["queues"], "items": {"enum": [*system.queues]}},
    }
    return {**plan, "properties": properties, "description": system.title}
