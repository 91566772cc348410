"""The YAML of a plan: plain data, the line of every value, and the problems found in it.

PyYAML composes the nodes, and data is built from them here.  So a repeated key, a tag, or an alias
bomb is reported with its line, and does not become a silent choice, an object or a hang.
"""

import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from mqperf.base.problems import Problem, Where

MAX_BYTES = 262_144
MAX_VALUES = 20_000
MAX_DEPTH = 20
MAX_INTEGER = 2**63 - 1

TAG = "tag:yaml.org,2002:"
TEXT = {f"{TAG}str", f"{TAG}timestamp", f"{TAG}value"}
TOO_MANY = f"more than {MAX_VALUES:,} values, those of aliases counted each time: split the plan"
TOO_DEEP = f"nested more than {MAX_DEPTH} deep: a plan needs five levels"

NO_TAG = "a YAML tag is not allowed in a plan: remove it"
NO_NUMBER = "expected a finite number of at most 18 digits"

TAB = r"'\t'"
_QUOTED = re.compile(r"""'(?!<[a-z ]+>')[^']{2,}'|"[^"]{2,}\"""")


class DocumentError(Exception):
    """The text cannot be parsed as a document; ``line`` is counted from 1."""

    def __init__(self, line: int, text: str) -> None:
        """Store the line and the message."""
        super().__init__(text)
        self.line = line


@dataclass
class Document:
    """The parsed text of a plan: data, the line of each path, and problems with their lines."""

    data: object = None
    lines: dict[Where, int] = field(default_factory=dict)
    problems: list[tuple[int, Problem]] = field(default_factory=list)
    refused: set[Where] = field(default_factory=set)

    def line(self, where: Where) -> int | None:
        """Return the line of the longest prefix of the path ``where`` in the document, if any."""
        prefixes = (where[:length] for length in range(len(where), 0, -1))
        return next((self.lines[prefix] for prefix in prefixes if prefix in self.lines), None)


def as_list(value: object) -> Sequence[Any]:
    """Return the value if it is a list or tuple, else an empty tuple."""
    return value if isinstance(value, list | tuple) else ()


def as_mapping(value: object) -> Mapping[Any, Any]:
    """Return the value if it is a mapping, else an empty dict."""
    return value if isinstance(value, Mapping) else {}


def read_document(text: str) -> Document:
    """Parse the text; raises ``DocumentError`` when it is not YAML, or exceeds a limit."""
    root = compose(text)
    document = Document()
    if root is not None:
        document.data = _Builder(document).build(root, ())
    return document


def compose(text: str) -> yaml.Node | None:
    """Parse the text into YAML nodes; raises ``DocumentError`` as ``read_document`` does."""
    loader = None
    try:
        loader = _Loader(text)
        root: yaml.Node | None = loader.get_single_node()
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        code = f"U+{ord(text[error.position]):04X}"
        raise DocumentError(line, f"not YAML: character {code} is not allowed") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise DocumentError(mark.line + 1 if mark else 1, _message(error)) from None
    except (ValueError, OverflowError):  # an escape or a version beyond what Python can hold
        line = loader.line + 1 if loader else 1
        raise DocumentError(line, "not YAML: an escape has an invalid number") from None
    return root


class _LimitError(yaml.MarkedYAMLError):
    """Valid YAML that exceeds a limit of mqperf."""


class _Loader(yaml.SafeLoader):
    """Composes nodes, up to ``MAX_VALUES`` of them and ``MAX_DEPTH`` levels."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._values = self._depth = 0

    def compose_node(  # type: ignore[explicit-override]  # typing.override is of Python 3.12
        self, parent: yaml.Node | None, index: int
    ) -> yaml.Node | None:
        self._values += 1
        self._depth += 1
        mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
        if self._depth > MAX_DEPTH:
            raise _LimitError(problem=TOO_DEEP, problem_mark=mark)
        if self._values > MAX_VALUES:
            raise _LimitError(problem=TOO_MANY, problem_mark=mark)
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


class _Builder:
    """Builds data from nodes, and records lines and problems in the document."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._values = 0
        scalars = yaml.constructor.SafeConstructor()
        self._constructors: dict[str, Callable[[yaml.ScalarNode], object]] = {
            f"{TAG}null": lambda _: None,
            f"{TAG}bool": scalars.construct_yaml_bool,
            f"{TAG}int": scalars.construct_yaml_int,
            f"{TAG}float": scalars.construct_yaml_float,
        }

    def build(self, node: yaml.Node, where: Where) -> object:
        """Return the node's value; for a forbidden one record a problem and return None."""
        self._values += 1
        if self._values > MAX_VALUES:
            raise DocumentError(node.start_mark.line + 1, TOO_MANY)
        if len(where) > MAX_DEPTH:
            raise DocumentError(node.start_mark.line + 1, TOO_DEEP)
        if isinstance(node, yaml.MappingNode) and node.tag == f"{TAG}map":
            return self._mapping(node, where)
        if isinstance(node, yaml.SequenceNode) and node.tag == f"{TAG}seq":
            return [
                self._entry(entry, (*where, index), entry.start_mark.line + 1)
                for index, entry in enumerate(node.value)
            ]
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, where)
        self._refuse(node, where, NO_TAG)
        return None

    def _entry(self, node: yaml.Node, where: Where, line: int) -> object:
        """Build the value at path ``where``; its key, or list dash, is in ``line``."""
        self._document.lines[where] = line
        return self.build(node, where)

    def _mapping(self, node: yaml.MappingNode, where: Where) -> dict[str, object]:
        data: dict[str, object] = {}
        entries = [(key, value) for key, value in node.value if key.tag != f"{TAG}merge"]
        for key, value in node.value:
            if key.tag == f"{TAG}merge":
                for merged in self._merged(value, where):
                    data = merged | data
        first_line: dict[str, int] = {}
        for key, value in entries:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode) or key.tag not in TEXT:
                self._problem(line, where, "a key must be text: put it in quotes")
            elif (bad := _forbidden_character(key.value)) is not None:
                self._problem(line, where, f"character {bad} is not allowed in a key")
            elif key.value in first_line:
                text = f"given twice, in line {first_line[key.value]} and here: keep one"
                self._problem(line, (*where, key.value), text)
            else:
                first_line[key.value] = line
                data[key.value] = self._entry(value, (*where, key.value), line)
        return data

    def _merged(self, node: yaml.Node, where: Where) -> Iterator[dict[str, object]]:
        """Yield the mappings that ``<<`` merges into another one; the first of them wins."""
        for item in node.value if isinstance(node, yaml.SequenceNode) else [node]:
            built = self.build(item, (*where, "<<"))
            if isinstance(built, dict):
                yield built
            else:
                line = node.start_mark.line + 1
                self._problem(line, where, "<< takes a mapping, or a list of mappings")

    def _scalar(self, node: yaml.ScalarNode, where: Where) -> object:
        value: object = None
        problem = None
        if node.tag in TEXT:
            value, bad = node.value, _forbidden_character(node.value)
            problem = bad and f"character {bad} is not allowed in a plan"
        elif node.tag not in self._constructors:
            problem = NO_TAG
        else:
            value = self._constructed(node)
            if isinstance(value, int | float) and not abs(value) <= MAX_INTEGER:
                problem = NO_NUMBER
        if problem is None:
            return value
        self._refuse(node, where, problem)
        return None

    def _constructed(self, node: yaml.ScalarNode) -> object:
        """Return the number, boolean or None; NaN where Python cannot convert the text."""
        try:
            return self._constructors[node.tag](node)
        except (ValueError, KeyError, IndexError, OverflowError):
            return math.nan

    def _refuse(self, node: yaml.Node, where: Where, text: str) -> None:
        self._document.refused.add(where)
        self._problem(node.start_mark.line + 1, where, text)

    def _problem(self, line: int, where: Where, text: str) -> None:
        self._document.problems.append((line, Problem(where, text)))


def _forbidden_character(text: str) -> str | None:
    """Code of the first control character or surrogate, tab and newline aside; None without."""
    bad = (c for c in text if unicodedata.category(c) in {"Cc", "Cs"} and c not in "\t\n")
    return next((f"U+{ord(c):04X}" for c in bad), None)


def _message(error: yaml.MarkedYAMLError) -> str:
    """Describe the error without quoting the document, which may contain a password there."""
    problem = error.problem or error.context or "it makes no sense"
    if isinstance(error, _LimitError):
        return problem
    if TAB in problem:
        return "not YAML: a tab may not indent: use spaces"
    if "another document" in problem:
        return "found a second document: a plan is one"
    plain = problem.replace("the node content", "a value")
    return f"not YAML: {_QUOTED.sub('something', plain)}"
