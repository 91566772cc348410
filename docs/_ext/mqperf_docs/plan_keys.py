"""The keys of a plan file, from the models that check it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from mqperf.base.document import MAX_BYTES, MAX_DEPTH, MAX_VALUES
from mqperf.lab.actions import ACTIONS
from mqperf.lab.probes import PROBES
from mqperf.lab.systems import SYSTEMS
from mqperf.lab.systems.settings import HOST_SETTINGS, SystemSettings
from mqperf.plan import (
    MAX_CASES,
    MAX_THREADS,
    PERCENTILES,
    ActionPlan,
    BackgroundLoad,
    Condition,
    DecidePlan,
    FailWhen,
    Hold,
    LinkPlan,
    LoadPlan,
    Plan,
    SearchPlan,
    SystemPlan,
)
from mqperf.plan.columns.measured import percentile_words
from mqperf.plan.driver import DRIVERS, OPTIONS, SET
from mqperf.plan.load import GENERATORS
from mqperf.plan.test_cases import TEST_CASES
from mqperf.plan.topologies import QUEUES, TOPOLOGIES
from mqperf_routers.plan.forms import FORMS

from .grid import code, table


def _latencies(end: str) -> dict[str, str]:
    """What is said of a limit of each figure of latency."""
    percentiles = ((name, percentile_words(share)) for name, share in PERCENTILES.items())
    return {
        "latency_mean_s": f"Mean latency {end}",
        **{name: f"{begin} latency {end}" for name, begin in percentiles},
    }


WATCHED: Mapping[str, str] = {
    "atop": "CPU once more, by another program",
    "flame": "functions that use CPU",
    "inside": "queues and memory of nodes",
    "waits": "what threads waited for",
}
"""What each probe that a plan may name is about; a new one is explained here."""


def _named_probes() -> str:
    names = (name for name, probe in PROBES.items() if not probe.always)
    return "; ".join(f"{code(name)} ({WATCHED[name]})" for name in names)


HEADS = ("key", "value", "default", "limits", "meaning")

MEANINGS: Mapping[type[BaseModel], Mapping[str, str]] = {
    Plan: {
        "name": "Name of the runs folder and of the report.",
        "title": "Title of the experiment, for people.",
        "systems": "Systems under test by name, each with the keys below.",
        "test_cases": "What the clients do; see the section *Test cases*.",
        "load": "The load of every point, with the keys below.",
        "hosts": "Where it runs: `laboratory`, `sites`, or the path of an inventory in YAML, INI or"
        " TOML. An inventory is as trusted as a script: read that of somebody else first.",
        "link": "The network between two roles, with the keys below.",
        "background": "Background loads that run all the time, each with the keys below.",
        "conditions": "Named conditions, under each of which every point is measured; the others"
        " are compared with the first.",
        "actions": "Actions that disturb the system during the window, each with the keys below.",
        "probes": "Probes that watch every host, in addition to `psutil`:"
        f" {_named_probes()}. See {{doc}}`/howto/probes`.",
        "repeats": "How often every point is measured. Three or more give intervals.",
        "order": "Points as listed, or shuffled within each repeat.",
        "seed": "Seed of the shuffle; equal seeds give equal orders.",
        "control_runs": "Measure each system's first point again at start, middle and end.",
        "fail_when": "Conditions that end a run early; it is kept. With the keys below.",
        "question": "The question to answer first, such as ``comparison``; see"
        " {doc}`/howto/questions`.",
        "search": "Find the highest offered rate at which a condition holds, with the keys below.",
        "decide": "Repeat compared points until their difference is decided, with the keys below.",
    },
    DecidePlan: {
        "difference": "The least difference in throughput that matters, as a share.",
        "within": "Time for all runs, such as ``20 min``, ``90 s`` or ``1.5 h``.",
        "plans": "The names of two plans whose points are compared, instead of those within one"
        " plan; both have the same `decide`, and run together. See {ref}`decide-between-plans`.",
    },
    FailWhen: {
        **_latencies("above this many seconds."),
        "throughput_msg_s": "Throughput below this many messages a second.",
        "throughput_share": "Throughput below this share of the offered rate.",
        "lost_share": "More than this share of messages lost: overtaken by later ones, not there.",
        "for_s": "For this many seconds in a row, each of which is judged by itself.",
    },
    SearchPlan: {
        "from_msg_s": "Lowest offered rate, in messages a second.",
        "to_msg_s": "Highest offered rate.",
        "within_share": "The search ends when the rate that does not hold is at most this share"
        " above the one that does.",
        "hold": "The condition, with the keys below; without it, the rate alone must hold.",
    },
    Hold: {
        **_latencies("at most, in seconds."),
        "lost_share": "Share of the messages that may be lost.",
        "throughput_share": "Share of the offered rate that must be finished in the window.",
    },
    SystemPlan: {
        "topologies": "Who connects to which node.",
        "queues": "Kinds of queue; `ha` becomes the replicated kind that the server has.",
        "settings": "The system's own settings; see the sections at the end.",
    },
    LoadPlan: {
        "generator": "The load generator; or a mapping of several that are compared, each with the"
        " parameters that it alone has, which may be lists. See {doc}`/howto/protocols`.",
        "driver": "Options of the driver of oslo.messaging, each with one value or a list of those"
        " that are swept; or names, each with a mapping of such options. See"
        " {doc}`/howto/openstack-options`.",
        "green_threads": "Green threads in each client process.",
        "processes": "Client processes on each client host, each with one server process.",
        "hosts": "Number of client hosts, from the start of the inventory.",
        "duration_s": "Length of the measured window in seconds.",
        "warmup_s": "Seconds of load before the window.",
        "cooldown_s": "Seconds of load after the window.",
        "timeout_s": "Seconds that a CALL, a creation or a command may take.",
    },
    Condition: {
        "link": "The network between two roles: keys of `link`, each with one value.",
        "background": "Loads that run beside the measured one.",
        "actions": "Actions that disturb the system during the window.",
        "published_factor": "Mean latency of this condition / that of the first one, as a"
        " publication reports it; shown beside the measured factor.",
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
        "timeout_s": "Seconds that a CALL, a creation or a command may take.",
    },
    ActionPlan: {
        "do": "The action; see the section *Actions*.",
        "node": "Label of the node, as pages show it: Master, Slave 1, Redis.",
        "link": "`true` for an action on the link of the plan, instead of a node.",
        "host": "Name of the host for an action on a host, instead of a node: `local`, or as the"
        " inventory has it.",
        "at_s": "When it begins, in seconds since the start of the measured window.",
        "for_s": "How long it lasts; it ends within the window.",
    },
}
SETTINGS: Mapping[str, str] = {
    "start_timeout_s": "Seconds that the system may take to start.",
    "management": "Switch the management plugin on.",
    "preset": "The configuration of a deployment; may be a list. See {doc}`/howto/settings`.",
    "config": "Keys of `rabbitmq.conf`, each with a value or a list that is swept; or names, each"
    " with a mapping of such keys. The same holds for the next three.",
    "advanced": "Terms of `advanced.config`, as `APPLICATION.KEY`.",
    "environment": "Environment variables of the nodes.",
    "policy": "The definition of a policy of all queues.",
    "metadata_store": "Where RabbitMQ has queues and bindings; may be a list.",
    "metrics": "Have nodes export their metrics; the probe `inside` switches this on itself.",
    "streams": "Switch the plugin for the stream protocol on; the generator `rabbitmq-stream` needs"
    " it.",
    "tls": "Clients connect by TLS only, with certificates that are made for it; these generators"
    f" can: {', '.join(code(each.name) for each in GENERATORS.values() if each.encrypts)}.",
    "memory_watermark_mb": "Memory at which a node blocks publishers, in MB.",
    "version": 'A version beside the installed one, in quotes: `"4.3"` for any 4.3.x.',
    "home": "The folder of an unpacked archive of RabbitMQ on the hosts of brokers.",
    "erlang": 'The version of Erlang that runs such an archive, in quotes: `"27"`; may be a list.',
    "redis": 'A version of Redis beside the installed one, in quotes: `"8.0"`; may be a list.',
    "nodes": "Names of the nodes of an existing cluster, Master first.",
    "urls": "AMQP URLs of those nodes, in the same order; `${NAME}` is read from the environment.",
    "program": "The router's program: a name on the PATH, or a path; without it `qdrouterd`, else"
    " `skrouterd`.",
    "worker_threads": "Threads of a router that move messages.",
    "link_capacity": "Messages that a router lets each sender have under way to it.",
    "graph": "The network of the topology `graph`: nodes and edges; see {doc}`/howto/routers`.",
    "replicas": "Further Redis servers, which copy the first one; the driver uses that one only.",
    "users": "Clients log in with a password made at random; `activemq-leveldb` does so to"
    " ZooKeeper, too. Not for Artemis.",
    "heap_mb": "Heap of the Java virtual machine, in MB.",
    "java_options": "Further options of the Java virtual machine, such as"
    " `-XX:+UseSerialGC -Xmn2m`; those that name files are refused.",
    "join_prefetch": "Messages of a queue that may be under way from one site to the other.",
    "join_acks": "When the near broker may forget a message: `on-confirm` of the far one,"
    " `on-publish` there, or at once (`no-ack`).",
}
"""What the settings of systems mean; a new one is explained here."""

HEADINGS: Mapping[type[BaseModel], str] = {
    Plan: "The plan",
    SystemPlan: "systems.NAME",
    LoadPlan: "load",
    LinkPlan: "link",
    BackgroundLoad: "background, an entry",
    ActionPlan: "actions, an entry",
    Condition: "conditions.NAME",
    FailWhen: "fail_when",
    SearchPlan: "search",
    DecidePlan: "decide",
    Hold: "search.hold",
}
NOTES: Mapping[type[BaseModel], str] = {
    BackgroundLoad: "Parameters of its generator are keys here, too; nothing is swept.\n\n",
    ActionPlan: "Parameters of the action are keys here, too. See {doc}`/howto/disturb`.\n\n",
    LoadPlan: "Every key but `generator` has one value, or a list of those that are swept.\n\n",
    FailWhen: "See {doc}`/howto/fail-early`.\n\n",
    SearchPlan: "See {doc}`/howto/search`.\n\n",
    DecidePlan: "See {ref}`until-decided`.\n\n",
    LinkPlan: "Every key but `between` has one value, or a list of those that are swept. See"
    " {doc}`/howto/wan`.\n\n",
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
    Condition: dict.fromkeys(("link", "background", "actions"), "as the plan says"),
}
"""Defaults that the models cannot say."""


def markdown() -> str:
    """A section for each mapping of the file, then what topologies and queues there are."""
    sections = [
        f"## {title}\n\n{NOTES.get(model, '')}{_keys(model, MEANINGS[model])}"
        for model, title in HEADINGS.items()
    ]
    sections += _parameters()
    sections += _options()
    sections += _settings()
    topologies = ((name, one.sentence, "topologies") for name, one in TOPOLOGIES.items())
    queues = ((name, one.sentence, "queues") for name, one in QUEUES.items())
    sections += _actions()
    sections.append(f"## Test cases\n\n{_test_cases()}")
    forms = (
        (code(form.shown), f"{form.title('SIZE')}.", ", ".join(who))
        for form in FORMS.values()
        if (who := [code(one.name) for one in SYSTEMS.values() if form.name in one.forms])
    )
    told = table(("name", "meaning", "systems"), forms)
    sections.append(f"## Topologies\n\n{_names(topologies)}\nForms, with numbers:\n\n{told}")
    sections.append(f"## Queues\n\n{_names(queues)}")
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
        told = {
            name: field.description or ""
            for name, field in model.model_fields.items()
            if name not in {SET, *OPTIONS}
        }
        yield (
            f"## load, with generator {generator.name}\n\n"
            f"These as well may be lists.\n\n{_keys(model, told)}"
        )


def _options() -> Iterator[str]:
    """The options of each driver of oslo.messaging, as its release lists them."""
    yield (
        "(driver-options)=\n## load.driver\n\nOptions of the simulator's driver, each with one"
        " value or a list of those that are swept; or names, each with a mapping of options. See"
        " {doc}`/howto/openstack-options`. The meanings are those of oslo.messaging.\n"
    )
    for driver, release in DRIVERS.items():
        rows = (_option(name, told) for name, told in release["options"].items())
        yield (
            f"### Section {code(release['section'])}, {driver}\n\noslo.messaging"
            f" {release['release']}.\n\n{table(HEADS, rows)}"
        )


def _option(name: str, told: Mapping[str, Any]) -> tuple[str, ...]:
    choices = ", ".join(map(code, told.get("choices", ())))
    entry = {"minimum": told.get("min"), "maximum": told.get("max")}
    limits = _limits({key: limit for key, limit in entry.items() if limit is not None})
    default = told["default"]
    meaning = " ".join(told["meaning"].replace("|", "/").replace("`", "").split())
    needed = " and ".join(map(code, told.get("needs", ())))
    return (
        code(name),
        "set by mqperf" if "reserved" in told else choices or WORDS.get(told["type"], "text"),
        "none" if default is None or default == "" else code(_yaml(default)),
        ", ".join(limits),
        f"{meaning}{f' Needs {needed}.' if needed else ''}",
    )


def _actions() -> Iterator[str]:
    """What actions there are, then the parameters of each that has some."""
    rows = (
        (code(name), ", ".join(map(code, one.on)), f"The {one.on[-1]} is {one.title}.")
        for name, one in ACTIONS.items()
    )
    yield f"## Actions\n\n{table(('name', 'on', 'meaning'), rows)}"
    for name, one in ACTIONS.items():
        model = one.parameters
        told = {key: field.description or "" for key, field in model.model_fields.items()}
        if told:
            yield f"## actions, an entry, with do: {name}\n\n{_keys(model, told)}"


def _settings() -> Iterator[str]:
    """The settings that all systems have, then each system's own."""
    shared = set(SystemSettings.model_fields)
    yield f"## systems.NAME.settings\n\n{_keys(SystemSettings, _explained(shared))}"
    for kind in HOST_SETTINGS.values():
        told = {name: field.description or "" for name, field in kind.model.model_fields.items()}
        yield (
            f"## systems.NAME.settings, {kind.name}\n\nThese may be lists, which are swept. See"
            f" {{doc}}`/howto/capacity`.\n\n{_keys(kind.model, told)}"
        )
    for system in SYSTEMS.values():
        model = type(system.check({}))
        if own := [key for key in model.model_fields if key not in shared]:
            yield f"## systems.{system.name}.settings\n\n{_keys(model, _explained(own))}"


def _explained(keys: Iterable[str]) -> dict[str, str]:
    if unknown := set(keys) - set(SETTINGS):
        raise ValueError(f"{__file__}: SETTINGS does not explain {', '.join(unknown)}")
    return {key: SETTINGS[key] for key in keys}


def _test_cases() -> str:
    """What clients are asked to do, when that is finished, and which generators do it."""
    rows = (
        (
            code(case.name),
            case.short,
            case.finish.counted,
            case.finish.latency,
            ", ".join(code(each.name) for each in GENERATORS.values() if name in each.test_cases),
        )
        for name, case in TEST_CASES.items()
    )
    return table(("name", "in results", "counted as finished", "latency", "generators"), rows)


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
