"""Files and variables of a node, with the keys that a plan sets."""

from collections.abc import Mapping
from dataclasses import replace

from mqperf.lab.systems.service import Server
from mqperf_rabbitmq.lab.presets import Keys, Value

CONF, ADVANCED, VARIABLES = "rabbitmq.conf", "advanced.config", "environment"
"""Names of files; the last one is for whoever reads the run, no program does."""


def tuned(node: Server, config: Keys, advanced: Keys, environment: Keys) -> Server:
    """The node with them; what it has of a variable of arguments stands before what is added."""
    variables = {name: _worded(value) for name, value in environment.items()}
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
    """The lines, of which those with such a key are replaced."""
    kept = [line for line in lines.splitlines() if line.partition(" = ")[0] not in config]
    return (
        "\n".join([*kept, *(f"{key} = {_worded(value)}" for key, value in config.items())]) + "\n"
    )


def _terms(advanced: Keys) -> str:
    """The keys, ``APPLICATION.KEY``, as Erlang's list of lists."""
    applications: dict[str, list[str]] = {}
    for name, value in advanced.items():
        application, _, key = name.partition(".")
        applications.setdefault(application, []).append(f"{{{key}, {_worded(value)}}}")
    entries = (f"{{{name}, [{', '.join(terms)}]}}" for name, terms in applications.items())
    return f"[{', '.join(entries)}].\n"


def policies(
    those: Mapping[str, Mapping[str, object]], definition: Keys
) -> Mapping[str, Mapping[str, object]]:
    """Those of a kind of queue with the definition: a queue has one policy only, the first."""
    if not definition:
        return those
    if not those:
        pattern = r"^(?!amq\.).*"
        return {"plan": {"pattern": pattern, "apply-to": "queues", "definition": {**definition}}}
    return {
        name: {**policy, "definition": {**policy["definition"], **definition}}  # type: ignore[dict-item]
        for name, policy in those.items()
    }


def _worded(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
