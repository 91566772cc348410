"""Plan files: YAML in, a checked ``Plan`` out, or one error that names file and line."""

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml
from pydantic import ValidationError

from mqperf.errors import PlanError
from mqperf.plan import Frozen, LoadPlan, Plan, SystemPlan
from mqperf.topologies import QUEUES, TOPOLOGIES


def load_plan(path: Path) -> Plan:
    """The plan in a YAML file; its name is the file's unless it says otherwise.

    Raises ``PlanError`` with file and line for bad syntax, an unknown key (naming the nearest known
    one), a value out of range, or an unknown topology or kind of queue.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise PlanError(f"{path}: cannot read the plan: {error.strerror}") from None
    return parse_plan(text, path)


def parse_plan(text: str, source: Path) -> Plan:
    """The plan in ``text``; ``source`` gives it its default name and errors their file."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise PlanError(f"{source}{_mark(error)}: not YAML: {_problem(error)}") from None
    if root is None or not isinstance(data, dict):
        raise PlanError(f"{source}: a plan is a mapping with systems, test_cases and load")
    try:
        plan = Plan.model_validate({"name": source.stem, "title": source.stem} | data)
    except ValidationError as error:
        raise PlanError(f"{source}{_first_problem(error, root)}") from None
    _check_names(plan, source, root)
    return plan


def with_queues(text: str, kinds: Mapping[str, Mapping[str, str]]) -> str:
    """The text of a plan with kinds of queue replaced, by system and name; all else stays."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    spans: dict[tuple[int, int], str] = {}
    for system, names in kinds.items():
        entries = root and _at(root, ("systems", system, "queues"))
        for entry in entries.value if entries else []:
            if entry.value in names:
                spans[entry.start_mark.index, entry.end_mark.index] = names[entry.value]
    for (start, end), name in sorted(spans.items(), reverse=True):
        text = text[:start] + name + text[end:]
    return text


def nearest(name: str, known: Sequence[str]) -> str:
    """A sentence's end that helps with an unknown name: the nearest known one, or all of them."""
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"


def _check_names(plan: Plan, source: Path, root: yaml.Node) -> None:
    for system, spec in plan.systems.items():
        for kind, names, known in (
            ("topologies", spec.topologies, TOPOLOGIES),
            ("queues", spec.queues, QUEUES),
        ):
            for index, name in enumerate(names):
                if name not in known:
                    where = _line(root, ("systems", system, kind, index))
                    raise PlanError(
                        f"{source}{where}: unknown {kind} entry {name!r};"
                        f" {nearest(name, list(known))}"
                    )


def _first_problem(error: ValidationError, root: yaml.Node) -> str:
    problems = error.errors()
    # A misspelt key is also a missing one: the misspelling is what helps.
    first = min(problems, key=lambda problem: problem["type"] != "extra_forbidden")
    where, name = first["loc"], ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        known = [key for key in _known_keys(where[:-1]) if key]
        text = f"unknown key {name!r}; {nearest(str(where[-1]), known)}"
    elif first["type"] == "missing":
        text = f"{name} is missing"
    elif first["type"] == "too_short":
        text = f"{name} is empty: name at least one"
    else:
        text = f"{name}: {first['msg'].lower()}, got {first['input']!r}"
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{_line(root, where)}: {text}{more}"


def _known_keys(parents: tuple[int | str, ...]) -> list[str]:
    model: type[Frozen] = Plan
    if parents[:1] == ("load",):
        model = LoadPlan
    elif parents[:1] == ("systems",):
        model = SystemPlan
    return list(model.model_fields)


def _line(root: yaml.Node, where: tuple[int | str, ...]) -> str:
    """``:LINE`` of the deepest part of ``where`` that the document really holds."""
    node = root
    line = node.start_mark.line
    for part in where:
        step = _child(node, part)
        if step is None:
            break
        line, node = step
    return f":{line + 1}"


def _at(node: yaml.Node, where: tuple[int | str, ...]) -> yaml.Node | None:
    for part in where:
        step = _child(node, part)
        if step is None:
            return None
        _, node = step
    return node


def _child(node: yaml.Node, part: int | str) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == str(part):
                return key.start_mark.line, value
    elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part].start_mark.line, node.value[part]
    return None


def _mark(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    return f":{mark.line + 1}" if mark else ""


def _problem(error: yaml.YAMLError) -> str:
    return str(getattr(error, "problem", None) or error).splitlines()[0]
