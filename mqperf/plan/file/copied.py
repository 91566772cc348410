"""Edited copies of a plan's text, such as the one kept beside its runs without secrets."""

import copy
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import yaml

from mqperf.base.document import DocumentError, compose, read_document
from mqperf.base.errors import PlanError
from mqperf.base.problems import Where
from mqperf.base.redaction import redacted, redacted_value, secrets_of
from mqperf.base.urls import HIDDEN
from mqperf.plan.file.attached import pinned

Edit = tuple[int, int, str]
"""Start and end in the text, and the replacement."""

_COMMENT = re.compile(r"#[^\r\n]*")
_SUSPICIOUS = re.compile(r"pass|secret|token|credential|@", re.IGNORECASE)


def public(text: str) -> str:
    """Replace every password in the text of a plan by ``***``; its title cannot have one.

    All else stays the same to the byte; the copy is a plan with the same cases.  Raises
    ``PlanError`` for a text that is not YAML.
    """
    return _copied(text, _public, _redactions)


def as_measured(text: str, kinds: Mapping[str, Mapping[str, str]], hosts: int) -> str:
    """Fill in what depends on the hosts of the measurement; all else stays.

    Kinds of queue are replaced, by system and name; ``load.hosts`` is added where it is missing and
    there are several client hosts.
    """
    document: Any = read_document(text).data
    add_hosts = hosts > 1 and "hosts" not in document["load"]

    def replaced(data: Any) -> object:  # noqa: ANN401 (data of YAML)
        data = copy.deepcopy(data)
        if add_hosts:
            data["load"]["hosts"] = hosts
        for system, names in kinds.items():
            spec = data["systems"][system]
            if "queues" in spec:
                spec["queues"] = [names.get(queues, queues) for queues in spec["queues"]]
        return data

    def edits(text: str) -> Iterator[Edit]:
        load = _value(compose(text), "load")
        if add_hosts and isinstance(load, yaml.MappingNode):
            first = load.value[0][0].start_mark
            separator = ", " if load.flow_style else "\n" + " " * first.column
            yield first.index, first.index, f"hosts: {hosts}{separator}"
        for system, names in kinds.items():
            queues = _value(_value(_value(compose(text), "systems"), system), "queues")
            for entry in queues.value if queues else []:
                name = names.get(entry.value, entry.value)
                if name != entry.value:
                    yield entry.start_mark.index, entry.end_mark.index, name

    return _copied(text, replaced, edits)


def with_pins(text: str, pins: Mapping[Where, str]) -> str:
    """Replace the names of files in the text of a plan by their pins; all else stays."""

    def edits(text: str) -> Iterator[Edit]:
        root = compose(text)
        for where, pin in pins.items():
            if isinstance(node := _node(root, where), yaml.ScalarNode):
                yield node.start_mark.index, node.end_mark.index, json.dumps(pin)

    return _copied(text, lambda data: pinned(data, pins), edits)


def _copied(
    text: str, change: Callable[[object], object], edits: Callable[[str], Iterable[Edit]]
) -> str:
    """Apply the edits to the text; if they do not yield the changed data, dump these as YAML."""
    try:
        data = change(read_document(text).data)
        edited = _edited(text, edits(text))
    except DocumentError as error:
        raise PlanError(f"line {error.line} of the plan: {error}") from None
    with suppress(DocumentError):
        if read_document(edited).data == data:
            return edited
    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True)


def _value(node: yaml.Node | None, key: str) -> yaml.Node | None:
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return next((value for name, value in pairs if name.value == key), None)


def _node(node: yaml.Node | None, where: Where) -> yaml.Node | None:
    """Return the node at a path below ``node``; None where a merge key provides it."""
    for step in where:
        if isinstance(step, str):
            node = _value(node, step)
        else:
            node = node.value[step] if isinstance(node, yaml.SequenceNode) else None
    return node


def _public(data: object) -> object:
    title = {"title": data["title"]} if isinstance(data, dict) and "title" in data else {}
    cleaned = redacted_value(data, variables=True)
    return cleaned | title if isinstance(cleaned, dict) else cleaned


def _redactions(text: str) -> list[Edit]:
    tokens = list(yaml.scan(text, Loader=yaml.SafeLoader))
    scalars = {t.end_mark.index: t for t in tokens if isinstance(t, yaml.ScalarToken)}
    values = [scalars[end] for end in sorted(_ends(compose(text))) if end in scalars]
    secrets = {secret for token in values for secret in secrets_of(token.value)}
    return [*_scalars(text, values), *_comments(text, tokens, secrets)]


def _edited(text: str, edits: Iterable[Edit]) -> str:
    pieces, position = [], 0
    for start, end, replacement in sorted(set(edits)):
        if start < position:
            continue  # a comment within a scalar that is replaced as a whole
        pieces += [text[position:start], replacement]
        position = end
    return "".join([*pieces, text[position:]])


def _ends(root: yaml.Node | None) -> set[int]:
    """Return the end in the text of each scalar but the title."""
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    pending: list[yaml.Node] = [value for key, value in pairs if key.value != "title"]
    visited: set[int] = set()
    ends: set[int] = set()
    while pending:
        node = pending.pop()
        if isinstance(node, yaml.ScalarNode):
            ends.add(node.end_mark.index)
        elif id(node) not in visited:
            visited.add(id(node))
            mapping = isinstance(node, yaml.MappingNode)
            pending += [child for pair in node.value for child in pair] if mapping else node.value
    return ends


def _scalars(text: str, values: list[yaml.ScalarToken]) -> Iterator[Edit]:
    for token in values:
        cleaned = redacted(token.value, variables=True)
        if cleaned != token.value:
            start, end = token.start_mark.index, token.end_mark.index
            # a block scalar ends with the line breaks after it
            plain = token.plain and cleaned[0].isalpha()
            quoted = cleaned if plain else json.dumps(cleaned)
            yield start, start + len(text[start:end].rstrip()), quoted


def _comments(text: str, tokens: list[yaml.Token], secrets: set[str]) -> Iterator[Edit]:
    """Hide suspicious comments, which are between tokens or on the first line of a block scalar."""
    position = 0
    for token in tokens:
        start, end = token.start_mark.index, token.end_mark.index
        gaps = [(position, start)]
        if isinstance(token, yaml.ScalarToken) and token.style in {"|", ">"}:
            gaps.append((start, start + len(text[start:end].partition("\n")[0])))
        for gap in gaps:
            for comment in _COMMENT.finditer(text, *gap):
                if _SUSPICIOUS.search(comment[0]) or any(s in comment[0] for s in secrets):
                    yield *comment.span(), f"# {HIDDEN}"
        position = max(position, end)
