"""Configuration files and environment variables of a node, with the keys that a plan sets."""

from collections.abc import Mapping
from dataclasses import replace

from mqperf.lab.systems.service import Server
from mqperf_rabbitmq.lab.presets import Keys, Value

CONF, ADVANCED, VARIABLES = "rabbitmq.conf", "advanced.config", "environment"
"""Names of files; no program reads the last one, which only documents the run."""


def tuned(node: Server, config: Keys, advanced: Keys, environment: Keys) -> Server:
    """Return the node with these keys; the plan's value is appended to a variable that it has."""
    variables = {name: _text(value) for name, value in environment.items()}
    for name, value in variables.items():
        if name in node.env:
            variables[name] = f"{node.env[name]} {value}"
    files = {**node.files, CONF: _conf(node.files[CONF], config)}
    if advanced:
        files[ADVANCED] = _terms(advanced)
    if environment:
        lines = (f"{name}={value}\n" for name, value in variables.items())
        files[VARIABLES] = "".join(lines)
    return replace(node, files=files, env={**node.env, **variables})


def _conf(lines: str, config: Keys) -> str:
    """Return the lines with these keys set, in place of earlier lines that set them."""
    kept = [line for line in lines.splitlines() if line.partition(" = ")[0] not in config]
    return "\n".join([*kept, *(f"{key} = {_text(value)}" for key, value in config.items())]) + "\n"


def _terms(advanced: Keys) -> str:
    """Return the keys, ``APPLICATION.KEY``, as an Erlang list of lists by application."""
    applications: dict[str, list[str]] = {}
    for name, value in advanced.items():
        application, _, key = name.partition(".")
        applications.setdefault(application, []).append(f"{{{key}, {_text(value)}}}")
    entries = (f"{{{name}, [{', '.join(terms)}]}}" for name, terms in applications.items())
    return f"[{', '.join(entries)}].\n"


def policies(
    existing: Mapping[str, Mapping[str, object]], definition: Keys
) -> Mapping[str, Mapping[str, object]]:
    """Return policies with the definition added, since a queue has one policy only."""
    if not definition:
        return existing
    if not existing:
        pattern = r"^(?!amq\.).*"
        return {"plan": {"pattern": pattern, "apply-to": "queues", "definition": {**definition}}}
    return {
        name: {**policy, "definition": {**policy["definition"], **definition}}  # type: ignore[dict-item]
        for name, policy in existing.items()
    }


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
