"""The keys of a plan file, from the models that check it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from mqperf.actions import ACTIONS
from mqperf.load import GENERATORS
from mqperf.plan import (
    MAX_CASES,
    MAX_THREADS,
    ActionPlan,
    BackgroundLoad,
    LinkPlan,
    LoadPlan,
    Plan,
    SystemPlan,
)
from mqperf.plan_file.document import MAX_BYTES, MAX_DEPTH, MAX_VALUES
from mqperf.systems import SYSTEMS
from mqperf.systems.settings import SystemSettings
from mqperf.topologies import QUEUES, TOPOLOGIES

from .grid import code, table

HEADS = ("key", "value", "default", "limits", "meaning")

MEANINGS: Mapping[type[BaseModel], Mapping[str, str]] = {
    Plan: {
        "name": "Name of the runs folder and of the report.",
        "title": "What a person calls the experiment.",
        "systems": "Systems under test by name, each with the keys below.",
        "test_cases": "What the clients do: call and wait, cast and forget, notify.",
        "load": "The load of every point, with the keys below.",
        "hosts": "Where it runs: `laboratory`, or the path of an inventory.",
        "link": "The network between two roles, with the keys below.",
        "background": "Loads that flow beside it all the time, each with the keys below.",
        "actions": "What disturbs the system during the window, each with the keys below.",
        "probes": "What watches every host beside `psutil`, which always does: `atop`.",
        "repeats": "How often every point is measured. Three or more give intervals.",
        "order": "Points as listed, or shuffled within each repeat.",
        "seed": "Seed of the shuffle; equal seeds give equal orders.",
        "control_runs": "Measure each system's first point again at start, middle and end.",
    },
    SystemPlan: {
        "topologies": "Who connects to which node.",
        "queues": "Kinds of queue; `ha` becomes the replicated kind that the server has.",
        "settings": "The system's own settings; see the sections at the end.",
    },
    LoadPlan: {
        "generator": "The load generator.",
        "green_threads": "Green threads in each client process.",
        "processes": "Client processes on each client host, each with one server process.",
        "hosts": "Client hosts: so many, the first of the inventory.",
        "duration_s": "Length of the measured window in seconds.",
        "warmup_s": "Seconds of load before the window.",
        "cooldown_s": "Seconds of load after the window.",
        "timeout_s": "Seconds that a CALL waits for its reply.",
    },
    LinkPlan: {
        "between": "The two roles that it joins.",
        "delay_s": "Delay each way, in seconds.",
        "jitter_s": "Standard deviation of the delay, in seconds.",
        "loss_share": "Share of packets that are lost, each way.",
        "bandwidth_bits_s": "Bandwidth each way, in bits per second.",
    },
    BackgroundLoad: {
        "generator": "The load generator.",
        "test_case": "What its clients do.",
        "green_threads": "Green threads in each of its client processes.",
        "processes": "Its client processes on each client host, each with one server process.",
        "timeout_s": "Seconds that a CALL waits for its reply.",
    },
    ActionPlan: {
        "do": "The action; see the section *Actions*.",
        "node": "Label of the node, as pages show it: Master, Slave 1, Redis.",
        "at_s": "When it begins, in seconds since the start of the measured window.",
        "for_s": "How long it lasts; it ends within the window.",
    },
}
SETTINGS: Mapping[str, str] = {
    "start_timeout_s": "Seconds that the system may take to start.",
    "management": "Switch the management plugin on.",
    "memory_watermark_mb": "Memory at which a node blocks publishers, in MB.",
    "nodes": "Names of the nodes of an existing cluster, Master first.",
    "urls": "AMQP URLs of those nodes, in the same order; `${NAME}` is read from the environment.",
    "heap_mb": "Heap of the Java virtual machine, in MB.",
}
"""What the settings of systems mean; a new one is explained here."""

HEADINGS: Mapping[type[BaseModel], str] = {
    Plan: "The plan",
    SystemPlan: "systems.NAME",
    LoadPlan: "load",
    LinkPlan: "link",
    BackgroundLoad: "background, an entry",
    ActionPlan: "actions, an entry",
}
NOTES: Mapping[type[BaseModel], str] = {
    BackgroundLoad: "Parameters of its generator may stand here, too; nothing is swept.\n\n",
    LoadPlan: "Every key but `generator` has one value, or a list of those that are swept.\n\n",
    LinkPlan: "Every key but `between` has one value, or a list of those that are swept. Links need"
    " a package with a backend: mqperf brings none yet.\n\n",
}
WORDS = {
    "integer": "whole number",
    "number": "number",
    "boolean": "`true`, `false`",
    "string": "text",
}
OTHER_DEFAULTS: Mapping[type[BaseModel], Mapping[str, str]] = {
    Plan: {"name": "the file's name", "title": "the file's name", "hosts": "this machine"},
    LoadPlan: {"hosts": "all"},
}
"""Defaults that the models cannot say."""


def markdown() -> str:
    """A section for each mapping of the file, then what topologies and queues there are."""
    sections = [
        f"## {title}\n\n{NOTES.get(model, '')}{_keys(model, MEANINGS[model])}"
        for model, title in HEADINGS.items()
    ]
    sections += _parameters()
    sections += _settings()
    topologies = ((name, one.sentence, "topologies") for name, one in TOPOLOGIES.items())
    queues = ((name, one.sentence, "queues") for name, one in QUEUES.items())
    actions = ((code(name), f"The node is {one.title}.") for name, one in ACTIONS.items())
    sections.append(f"## Actions\n\n{table(('name', 'meaning'), actions)}")
    sections += [f"## Topologies\n\n{_names(topologies)}", f"## Queues\n\n{_names(queues)}"]
    return "\n".join(sections)


def limits() -> str:
    """A row for each limit of a whole plan."""
    rows = (
        ("cases in a plan", MAX_CASES, "shorten its lists or repeats, or split it"),
        (
            "green threads in a case, over all its processes and hosts",
            MAX_THREADS,
            "lower one of them",
        ),
        ("bytes of the file", MAX_BYTES, "split the plan"),
        ("values in the file", MAX_VALUES, "split the plan"),
        ("nested mappings and lists", MAX_DEPTH, "a plan needs five"),
    )
    return table(
        ("what", "at most", "beyond it"),
        ((what, f"{most:,}", instead) for what, most, instead in rows),
    )


def _parameters() -> Iterator[str]:
    """What each generator's load may say, too."""
    for generator in GENERATORS.values():
        model = generator.parameters
        told = {name: field.description or "" for name, field in model.model_fields.items()}
        yield (
            f"## load, with generator {generator.name}\n\n"
            f"These as well may be lists.\n\n{_keys(model, told)}"
        )


def _settings() -> Iterator[str]:
    """The settings that all systems have, then each system's own."""
    shared = set(SystemSettings.model_fields)
    yield f"## systems.NAME.settings\n\n{_keys(SystemSettings, _explained(shared))}"
    for system in SYSTEMS.values():
        model = type(system.check({}))
        if own := [key for key in model.model_fields if key not in shared]:
            yield f"## systems.{system.name}.settings\n\n{_keys(model, _explained(own))}"


def _explained(keys: Iterable[str]) -> dict[str, str]:
    if unknown := set(keys) - set(SETTINGS):
        raise ValueError(f"{__file__}: SETTINGS does not explain {', '.join(unknown)}")
    return {key: SETTINGS[key] for key in keys}


def _names(entries: Iterable[tuple[str, str, str]]) -> str:
    """Names that systems offer; one that none of them has is left out."""
    rows = (
        (code(name), sentence, ", ".join(who))
        for name, sentence, kind in entries
        if (who := [code(s.name) for s in SYSTEMS.values() if name in getattr(s, kind)])
    )
    return table(("name", "meaning", "systems"), rows)


def _keys(model: type[BaseModel], meanings: Mapping[str, str]) -> str:
    if model in MEANINGS and set(meanings) != set(model.model_fields):
        raise ValueError(f"{__file__}: {model.__name__} has other keys than MEANINGS explains")
    schema = model.model_json_schema()
    others = OTHER_DEFAULTS.get(model, {})
    rows = (_row(schema, name, others.get(name), meaning) for name, meaning in meanings.items())
    return table(HEADS, rows)


def _row(
    schema: Mapping[str, Any], name: str, default: str | None, meaning: str
) -> tuple[str, ...]:
    entry = _own(schema["properties"][name])
    if default is None:
        required = name in schema.get("required", ())
        default = "required" if required else code(_yaml(entry.get("default", {})))
    return code(name), _value(entry), default, ", ".join(_limits(entry)), meaning


def _own(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Of a value that may be left out, what it is when it is not."""
    return {**entry, **entry["anyOf"][0]} if "anyOf" in entry else entry


def _yaml(value: object) -> str:
    """A default as it would stand in the file."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_yaml, value))}]"
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _value(entry: Mapping[str, Any]) -> str:
    if "enum" in entry:
        return ", ".join(map(code, entry["enum"]))
    if "$ref" in entry or entry["type"] == "object":
        return "mapping"
    if entry["type"] == "array":
        return f"list of {_value(_own(entry.get('items') or entry['prefixItems'][0]))}"
    return WORDS[entry["type"]]


def _limits(entry: Mapping[str, Any]) -> Iterator[str]:
    entry = {**_own(entry.get("items", {})), **entry}
    if "minimum" in entry:
        yield f"at least {entry['minimum']:,}"
    if "maximum" in entry:
        yield f"at most {entry['maximum']:,}"
    if entry.get("minItems") or entry.get("minProperties"):
        yield "not empty"
    if "maxLength" in entry:
        yield f"at most {entry['maxLength']:,} characters"
    if "pattern" in entry:
        yield "letters, digits, `.`, `_` and `-`"
