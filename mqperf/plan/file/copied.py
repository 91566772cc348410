"""The copy of a plan that is kept beside its runs: as it was given, but for its secrets."""

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
"""Start and end in the text, and what takes the place."""

_COMMENT = re.compile(r"#[^\r\n]*")
_TELLTALE = re.compile(r"pass|secret|token|credential|@", re.IGNORECASE)


def public(text: str) -> str:
    """The text of a plan with ``***`` for every password in it but the title, which has none.

    Whatever holds none stays as it is, to the byte; the copy is a plan with the same cases.
    Raises ``PlanError`` for a text that is no plan's.
    """
    return _copied(text, _public, _redactions)


def as_measured(text: str, kinds: Mapping[str, Mapping[str, str]], hosts: int) -> str:
    """The text of a plan with all that depends on where it is measured; all else stays.

    Kinds of queue are replaced, by system and name; where it does not say how many client hosts its
    load has, and there are several, that is added.
    """
    given: Any = read_document(text).data
    unsaid = hosts > 1 and "hosts" not in given["load"]

    def replaced(data: Any) -> object:  # noqa: ANN401 (data of YAML)
        data = copy.deepcopy(data)
        if unsaid:
            data["load"]["hosts"] = hosts
        for system, names in kinds.items():
            spec = data["systems"][system]
            if "queues" in spec:
                spec["queues"] = [names.get(queues, queues) for queues in spec["queues"]]
        return data

    def edits(text: str) -> Iterator[Edit]:
        load = _value(compose(text), "load")
        if unsaid and isinstance(load, yaml.MappingNode):
            at = load.value[0][0].start_mark
            after = ", " if load.flow_style else "\n" + " " * at.column
            yield at.index, at.index, f"hosts: {hosts}{after}"
        for system, names in kinds.items():
            queues = _value(_value(_value(compose(text), "systems"), system), "queues")
            for entry in queues.value if queues else []:
                name = names.get(entry.value, entry.value)
                if name != entry.value:
                    yield entry.start_mark.index, entry.end_mark.index, name

    return _copied(text, replaced, edits)


def with_pins(text: str, pins: Mapping[Where, str]) -> str:
    """The text of a plan with the pins of files in the places of their names; all else stays."""

    def edits(text: str) -> Iterator[Edit]:
        root = compose(text)
        for where, pin in pins.items():
            if isinstance(node := _at(root, where), yaml.ScalarNode):
                yield node.start_mark.index, node.end_mark.index, json.dumps(pin)

    return _copied(text, lambda data: pinned(data, pins), edits)


def _copied(
    text: str, wanted: Callable[[object], object], edits: Callable[[str], Iterable[Edit]]
) -> str:
    """The text after the edits, or when they did not give what is wanted, that as plain YAML."""
    try:
        data = wanted(read_document(text).data)
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


def _at(node: yaml.Node | None, where: Where) -> yaml.Node | None:
    """The node at a place, if it stands there itself, by no alias and no merge."""
    for part in where:
        if isinstance(part, str):
            node = _value(node, part)
        else:
            node = node.value[part] if isinstance(node, yaml.SequenceNode) else None
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
    """Where each scalar but the title ends in the text."""
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    todo: list[yaml.Node] = [value for key, value in pairs if key.value != "title"]
    seen: set[int] = set()
    ends: set[int] = set()
    while todo:
        node = todo.pop()
        if isinstance(node, yaml.ScalarNode):
            ends.add(node.end_mark.index)
        elif id(node) not in seen:
            seen.add(id(node))
            mapping = isinstance(node, yaml.MappingNode)
            todo += [part for pair in node.value for part in pair] if mapping else node.value
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
    """Comments in which a password may stand: they are between tokens, or open a block scalar."""
    position = 0
    for token in tokens:
        start, end = token.start_mark.index, token.end_mark.index
        gaps = [(position, start)]
        if isinstance(token, yaml.ScalarToken) and token.style in {"|", ">"}:
            gaps.append((start, start + len(text[start:end].partition("\n")[0])))
        for gap in gaps:
            for comment in _COMMENT.finditer(text, *gap):
                if _TELLTALE.search(comment[0]) or any(s in comment[0] for s in secrets):
                    yield *comment.span(), f"# {HIDDEN}"
        position = max(position, end)
