"""The JSON schema of plans, for editors: by the models that check plans, and what is installed."""

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
UNSAID = ("name", "title")
"""Keys that a file need not have: its own name is taken."""

SWEPT = ("LoadPlan", "LinkPlan")
"""The models whose lists may each be a single value."""

MEANINGS: Mapping[str, Mapping[str, str]] = {
    "Plan": {
        "systems": "What is measured, by name.",
        "test_cases": "What clients do.",
        "load": "How much of it: each key is a value, or a list that is swept.",
        "hosts": "Where it runs: laboratory, or the path of an inventory.",
        "repeats": "How often every point is measured. Three or more give intervals.",
        "conditions": "Named circumstances; the others are compared with the first.",
        "question": "What is to be answered first.",
    },
    "LoadPlan": {
        "green_threads": "Green threads in each client process.",
        "processes": "Client processes on each client host.",
        "hosts": "Client hosts: so many, the first of the inventory.",
        "duration_s": "Length of the measured window in seconds.",
        "warmup_s": "Seconds of load before the window.",
        "cooldown_s": "Seconds of load after the window.",
    },
}
"""What editors show at a key beside its limits, where the model does not say it."""


def plan_schema() -> Schema:
    """The schema; names are those of mqperf and of the packages that are installed."""
    schema = _without_titles(Plan.model_json_schema())
    definitions = schema["$defs"]
    models = {**definitions, "Plan": schema}
    for name, model in models.items():
        model.pop("description", None)  # of the class, for those who read code
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
    _name(definitions["BackgroundLoad"], "generator", GENERATORS)
    _name(definitions["BackgroundLoad"], "test_case", TEST_CASES)
    _name(definitions["ActionPlan"], "do", ACTIONS)
    properties, plan = schema["properties"], definitions["SystemPlan"]
    properties["test_cases"]["items"] = {"enum": [*TEST_CASES]}
    properties["probes"]["items"] = {"enum": [*PROBES]}
    properties["question"]["items"] = {"enum": [*QUESTIONS]}
    properties["question"] = _single_or_list(properties["question"])
    systems = {name: _system(system, plan) for name, system in SYSTEMS.items()}
    properties["systems"] |= {"properties": systems, "additionalProperties": False}
    schema["required"] = [key for key in schema["required"] if key not in UNSAID]
    return {"$schema": DIALECT, "title": "A plan of mqperf", **schema}


def _without_titles(value: Any) -> Any:  # noqa: ANN401 (any part of a schema)
    """The schema without the titles that are made of the names of keys."""
    if isinstance(value, list):
        return [_without_titles(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    kept = {key: of for key, of in value.items() if key != "title" or not isinstance(of, str)}
    return {key: _without_titles(inner) for key, inner in kept.items()}


def _single_or_list(form: Schema) -> Schema:
    """Of a list: a value, or a list of such.  Any other form as it is."""
    if form.get("type") != "array" or "items" not in form:
        return form
    single = {"anyOf": [form["items"], {"type": "array", "items": form["items"], "minItems": 1}]}
    return single | _said_of(form)


def _said_of(form: Schema) -> Schema:
    return {key: form[key] for key in ("default", "description") if key in form}


def _name(model: Schema, key: str, names: Iterable[str]) -> None:
    """Have a key take one of the names."""
    model["properties"][key] = {"enum": [*names], **_said_of(model["properties"][key])}


def _parameters(known: Schema) -> tuple[Schema, Schema]:
    """The parameters of all generators, each a value or a list, and what they refer to.

    One that several generators have is what any of them takes.
    """
    forms: dict[str, list[Schema]] = {}
    said: dict[str, list[str]] = {}
    definitions: Schema = {}
    for generator in GENERATORS.values():
        schema = _without_titles(generator.parameters.model_json_schema())
        definitions |= schema.get("$defs", {})
        for name, form in schema["properties"].items():
            text = form.pop("description", "").replace("``", "`")
            form.pop("default", None)
            if form not in forms.setdefault(name, []):
                forms[name].append(form)
            said.setdefault(name, []).append(f"{generator.name}: {text}")
    lists = {
        name: {"type": "array", "items": {"anyOf": forms[name]}, "description": "\n\n".join(texts)}
        for name, texts in said.items()
        if name not in known
    }
    return {name: _single_or_list(form) for name, form in lists.items()}, definitions


def _generators(parameters: Schema) -> Schema:
    """A name, or a mapping of names, each with those parameters that it may have alone."""
    alone: Schema = {
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
    several = {"properties": alone, "additionalProperties": False, "minProperties": 1}
    return {
        "default": LoadPlan.model_fields["generator"].default,
        "if": {"type": "object"},
        "then": several,
        "else": {"enum": [*GENERATORS]},
    }


def _system(system: System, plan: Schema) -> Schema:
    """What a plan may say of a system; of one with networks, any name may be a topology."""
    topologies: Schema = {"enum": [*system.topologies]}
    if system.forms:
        topologies = {"anyOf": [topologies, {"type": "string"}]}
    properties = {
        **plan["properties"],
        "topologies": {**plan["properties"]["topologies"], "items": topologies},
        "queues": {**plan["properties"]["queues"], "items": {"enum": [*system.queues]}},
    }
    return {**plan, "properties": properties, "description": system.title}
