"""Parsing and checking of plan files: a ``Plan``, or one error with the line of every problem."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from mqperf.base.document import (
    MAX_BYTES,
    DocumentError,
    as_list,
    as_mapping,
    read_document,
)
from mqperf.base.errors import PlanError
from mqperf.base.packages import BROUGHT, lacking
from mqperf.base.problems import Problem, Where, of_validation, unknown
from mqperf.base.redaction import shown
from mqperf.base.shipped import plan_file
from mqperf.plan import (
    ActionPlan,
    BackgroundLoad,
    Condition,
    DecidePlan,
    FailWhen,
    Frozen,
    Hold,
    LinkPlan,
    LinkPoint,
    LoadPlan,
    Plan,
    SearchPlan,
    SystemPlan,
    nonsense,
    strictly,
)
from mqperf.plan.file.attached import attached, pinned
from mqperf.plan.file.copied import with_pins
from mqperf.plan.file.forms import FORMS
from mqperf.plan.file.reading import UnreadableError, first_bytes
from mqperf.plan.topologies import QUEUES, TOPOLOGIES, impossible

MAX_SHOWN = 50
"""Most problems that an error lists; the others are counted."""

INNER: Mapping[str, type[Frozen]] = {
    "load": LoadPlan,
    "systems": SystemPlan,
    "background": BackgroundLoad,
    "actions": ActionPlan,
    "search": SearchPlan,
    "decide": DecidePlan,
    "fail_when": FailWhen,
}
"""The models of a plan's mappings, by key."""

Check = Callable[[Mapping[str, object], Mapping[str, bytes]], Iterable[Problem]]
"""Yields the problems of a plan's document that only its systems and generators can find.

The second argument has the contents of the plan's files by pin.
"""

Found = tuple[int | None, Problem]
"""A problem, and its line if it has any."""


@dataclass(frozen=True, slots=True)
class PlanFile:
    """A plan, and the text that it was parsed from."""

    plan: Plan
    text: str


def load_plan(path: Path, check: Check | None = None) -> Plan:
    """Read the plan in a YAML file; its default name is that of the file.

    Raises ``PlanError`` with file and line of every problem: bad syntax, an unknown key or name
    (with the nearest known one), a value of another type or out of range, and what ``check`` finds.
    """
    return read_plan(path, check).plan


def read_plan(path: Path, check: Check | None = None) -> PlanFile:
    """Read the plan in a YAML file, with its text; raises as ``load_plan`` does.

    A path that does not exist may be the name of a shipped plan.

    A file in another form is translated, and the text is the resulting YAML.  Files that loads name
    are read into the plan, and pinned in the text.
    """
    path = plan_file(path)
    text, lines = _read_text(path), None
    if (form := FORMS.get(path.suffix)) is not None:
        text, lines = form.as_plan(text, path)
    elif path.suffix in BROUGHT:
        raise PlanError(f"{path}: to read it, install {BROUGHT[path.suffix]}")
    plan, pins = _parsed(text, path, check, lines)
    return PlanFile(plan, with_pins(text, pins) if pins else text)


def read_plans(paths: Sequence[Path], check: Check | None = None) -> list[PlanFile]:
    """Read the plans in several YAML files, whose names must differ.

    Raises as ``load_plan`` does, and ``PlanError`` for a file that is given twice and for two plans
    of one name, whose runs would go into one folder.
    """
    files: dict[str, tuple[Path, PlanFile]] = {}
    for path in paths:
        file = read_plan(path, check)
        if file.plan.name in files:
            raise PlanError(_duplicate_name(file.plan.name, files[file.plan.name][0], path))
        files[file.plan.name] = path, file
    return [file for _, file in files.values()]


def parse_plan(text: str, source: Path, check: Check | None = None) -> Plan:
    """Parse the plan in ``text``; ``source`` is its default name, and the file in errors.

    With ``check``, for a plan that is to be run, the files that its loads name are read.
    """
    return _parsed(text, source, check)[0]


def _parsed(
    text: str, source: Path, check: Check | None, lines: dict[Where, int] | None = None
) -> tuple[Plan, Mapping[Where, str]]:
    """Return the plan, and the pins of its files by path; ``lines`` replace those of the text."""
    try:
        document = read_document(text)
    except DocumentError as error:
        raise PlanError(f"{source}:{error.line}: {error}") from None
    if not isinstance(document.data, dict):
        form = "a mapping with systems, test_cases and load"
        raise PlanError(f"{source}: a plan is {form}, got {shown(document.data)}")
    document.lines = lines or document.lines
    files = attached(document.data if check else None, source.parent)
    document.refused |= {problem.where for problem in files.problems}
    data = pinned(document.data, files.pins)
    with_defaults = {"name": source.stem, "title": source.stem} | data
    plan, problems = _checked(with_defaults, check, files.contents)
    found: list[Found] = [*document.problems]
    found += [(document.line(problem.where), problem) for problem in files.problems]
    for problem in problems:  # except those of values that the document already refused
        if not any(problem.where[: len(path)] == path for path in document.refused):
            found.append((document.line(problem.where), problem))
    if plan is None or found:
        raise _error(source, found)
    return plan.with_files(files.contents, document.line), files.pins


def plan_from(data: Mapping[str, object], source: str, check: Check | None = None) -> Plan:
    """Return the plan which ``data`` describes; raises ``PlanError`` with every problem."""
    plan, problems = _checked(data, check, {})
    if plan is None or problems:
        raise PlanError("\n".join(f"{source}: {problem.sentence()}" for problem in problems))
    return plan


def _duplicate_name(name: str, first: Path, second: Path) -> str:
    if first.resolve() == second.resolve():
        return f"{second}: this plan is given twice: give it once"
    return (
        f"{first} and {second}: both plans have the name {name}, and their runs would go into one"
        " folder: set another name: in one of them, or run them in two commands with --runs"
    )


def _read_text(path: Path) -> str:
    """Read a file of at most ``MAX_BYTES`` as UTF-8; raises ``PlanError``."""
    try:
        content = first_bytes(path, MAX_BYTES + 1)
    except UnreadableError as error:
        raise PlanError(f"{path}: cannot read the plan: {error}") from None
    if len(content) > MAX_BYTES:
        raise PlanError(f"{path}: more than {MAX_BYTES:,} bytes: split the plan into several")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise PlanError(f"{path}:{line}: not UTF-8: save the plan as UTF-8 text") from None


def _checked(
    data: Mapping[str, object], check: Check | None, files: Mapping[str, bytes]
) -> tuple[Plan | None, list[Problem]]:
    """Return the plan if the data are valid, and all problems.

    Only a plan to be run (``check``) gets strict types and ``nonsense``: old ones stay readable.
    """
    plan, problems = None, []
    try:
        plan = strictly(Plan, data) if check else Plan.model_validate(data)
    except ValidationError as error:
        problems = [_relocated(problem, data) for problem in of_validation(error, _known_keys)]
    problems += _unknown_names(as_mapping(data.get("systems")))
    if check:
        problems += _at_new_paths(problems, check(data, files))
        senseless = (Problem(*found) for found in (nonsense(plan) if plan else ()))
        problems += _at_new_paths(problems, (_relocated(problem, data) for problem in senseless))
    return plan, problems


def _at_new_paths(known: Iterable[Problem], more: Iterable[Problem]) -> list[Problem]:
    """Drop problems at a path that has one already."""
    paths = {problem.where for problem in known}
    return [problem for problem in more if problem.where not in paths]


def _relocated(problem: Problem, data: Mapping[str, object]) -> Problem:
    """Drop the index from the path of a problem whose axis is a single value in the data."""
    *parents, last = problem.where or (None,)
    parent: object = data
    for step in parents:
        inside = isinstance(parent, Mapping) and step in parent
        inside |= isinstance(parent, list) and isinstance(step, int) and step < len(parent)
        parent = parent[step] if inside else None  # type: ignore[index]  # of a mapping or a list
    single = isinstance(last, int) and parent is not None and not isinstance(parent, list | tuple)
    return Problem(problem.where[:-1], problem.text) if single else problem


def _unknown_names(systems: Mapping[str, object]) -> Iterator[Problem]:
    for system, spec in systems.items():
        if lacking(system) is not None:  # its package may add topologies, too
            yield Problem(("systems", system), unknown("systems", system, ()))
            continue
        for kind, known in (("topologies", TOPOLOGIES), ("queues", QUEUES)):
            for index, name in enumerate(as_list(as_mapping(spec).get(kind))):
                if isinstance(name, str) and name not in known:
                    where = ("systems", system, kind, index)
                    reason = impossible(name) if kind == "topologies" else None
                    yield Problem(where, reason or unknown(kind, name, list(known)))


def _known_keys(where: Where) -> list[str]:
    outer: type[Frozen] = Plan
    if where[:1] == ("conditions",) and len(where) > 1:
        outer, where = Condition, where[2:]
    if where[:2] == ("search", "hold"):
        return list(Hold.model_fields)
    inner = {**INNER, "link": LinkPoint if outer is Condition else LinkPlan}
    return list(inner.get(str(next(iter(where), None)), outer).model_fields)


def _error(source: Path, problems: list[Found]) -> PlanError:
    """Return one error with a line for every problem, in the order of the file."""
    problems = sorted(problems, key=lambda found: found[0] or 0)
    lines = [
        f"{source}{'' if line is None else f':{line}'}: {problem.sentence()}"
        for line, problem in problems
    ]
    if len(lines) == 1:
        return PlanError(lines[0])
    more = [f"and {len(lines) - MAX_SHOWN:,} more"] if len(lines) > MAX_SHOWN else []
    return PlanError("\n".join([f"{source}: {len(lines):,} problems", *lines[:MAX_SHOWN], *more]))
