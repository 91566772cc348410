"""The documentation is a promise: what it names exists, and what exists is named."""

import re
import shlex
import textwrap
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
import typer
import yaml
from typer.core import TyperCommand, TyperGroup

from mqperf.base.document import MAX_BYTES, MAX_DEPTH, MAX_VALUES
from mqperf.base.errors import PlanError
from mqperf.front.api import Results
from mqperf.front.cli import app
from mqperf.lab.systems import SYSTEMS
from mqperf.lab.systems.in_plans import problems_of
from mqperf.lab.systems.settings import SystemSettings
from mqperf.plan import MAX_CASES, MAX_THREADS, LoadPlan, Plan, SystemPlan
from mqperf.plan.columns import TABLES
from mqperf.plan.file import parse_plan
from mqperf.plan.load import GENERATORS
from mqperf.plan.test_cases import TEST_CASES
from mqperf.study.stats.doubt_kinds import CHECKS

ROOT = Path(__file__).parent.parent.parent
FRONT = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("packages/*/README.md"))]
PAGES = sorted(path for path in ROOT.glob("docs/**/*.md") if "_build" not in path.parts)
ALL = [*FRONT, *PAGES]
DECISIONS = sorted(ROOT.glob("docs/decisions/0*.md"))

LINK = re.compile(r"\[[^\]]*\]\(([^)#:\s]+)(?:#[^)]*)?\)")
BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)


@cache
def commands() -> dict[str, TyperCommand]:
    """Every command by its words: those of groups have two."""
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    context = group.make_context("mqperf", [], resilient_parsing=True)
    named = {name: group.get_command(context, name) for name in group.list_commands(context)}
    for name, inner in [*named.items()]:
        if isinstance(inner, TyperGroup):
            del named[name]
            named |= {f"{name} {word}": command for word, command in inner.commands.items()}
    return {name: command for name, command in named.items() if isinstance(command, TyperCommand)}


def blocks(page: Path, *languages: str) -> Iterator[str]:
    for _, language, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language in languages:
            yield text


def typed(page: Path) -> Iterator[list[str]]:
    """Every mqperf command line that a page shows, as arguments."""
    lines = [line for text in blocks(page, "sh") for line in text.splitlines()]
    for text in blocks(page, "console"):
        lines += [line[2:] for line in text.splitlines() if line.startswith("$ ")]
    for line in lines:
        for command in re.split(r"[|;&]", line):
            words = shlex.split(command, comments=True)
            if words[:1] in (["nohup"], ["sudo"]):
                words = words[1:]
            if words[:1] in (["mqperf"], [".venv/bin/mqperf"]):
                arguments = words[1:]
                if " ".join(arguments[:2]) in commands():
                    arguments = [" ".join(arguments[:2]), *arguments[2:]]
                yield [word for word in arguments if not re.match(r"\d?>", word)]


@cache
def sessions() -> set[str]:
    text = (ROOT / "noxfile.py").read_text(encoding="utf-8")
    return set(re.findall(r"@nox\.session\ndef (\w+)", text))


def test_every_command_is_documented() -> None:
    """Each command is shown on a hand-written page, beside its generated reference."""
    shown = {words[0] for page in ALL for words in typed(page) if words}
    assert commands().keys() - shown == set()


def test_every_command_teaches_by_example() -> None:
    """Each command's help holds an example of itself."""
    helps = {name: f"{command.help} ".replace("`", " ") for name, command in commands().items()}
    assert {name for name, text in helps.items() if f"mqperf {name} " not in text} == set()


@pytest.fixture
def plan_keys(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    text: str = import_module("mqperf_docs.plan_keys").markdown()
    return text


def test_every_plan_key_is_explained(plan_keys: str) -> None:
    """The plan reference has a row for each key, settings of systems included."""
    models = (Plan, SystemPlan, LoadPlan, SystemSettings)
    keys = {key for model in models for key in model.model_fields}
    keys |= {key for model in SystemSettings.__subclasses__() for key in model.model_fields}
    assert {key for key in keys if f"| `{key}` |" not in plan_keys} == set()


def test_every_limit_of_a_plan_is_documented(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan reference has the limits that errors name."""
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    text = import_module("mqperf_docs.plan_keys").limits()
    for limit in (MAX_CASES, MAX_THREADS, MAX_BYTES, MAX_VALUES, MAX_DEPTH):
        assert f"| {limit:,} |" in text


def test_every_topology_and_kind_of_queue_is_explained(plan_keys: str) -> None:
    """The plan reference has a row for each name that some system offers."""
    names = {name for system in SYSTEMS.values() for name in (*system.topologies, *system.queues)}
    assert {name for name in names if f"| `{name}` |" not in plan_keys} == set()


def test_every_test_case_is_explained(plan_keys: str) -> None:
    """The plan reference has a row for each, with the generators that support it."""
    section = plan_keys.partition("## Test cases")[2].partition("\n## ")[0]
    for name in TEST_CASES:
        [row] = (line for line in section.splitlines() if line.startswith(f"| `{name}` |"))
        doing = {each.name for each in GENERATORS.values() if name in each.test_cases}
        assert {*re.findall(r"`([^`]+)`", row)} == {name, *doing}


def test_packages_of_each_page_have_all_that_they_need() -> None:
    """No row of the table leaves out a package on which one of its own depends."""
    text = (ROOT / "docs" / "howto" / "install.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\{doc\}.*?) \| (.*?) \|$", text, re.MULTILINE)
    assert len(rows) > 20
    lacking = {}
    for pages, packages in rows:
        named = {*re.findall(r"`([a-z0-9-]+)`", packages)}
        if missing := {need for name in named for need in needed_by(name)} - named:
            lacking[pages] = missing
    assert lacking == {}


def needed_by(package: str) -> Iterator[str]:
    """The packages of the repository on which this one depends, by their short names."""
    file = ROOT / "packages" / f"mqperf-{package}" / "pyproject.toml"
    for need in tomllib.loads(file.read_text(encoding="utf-8"))["project"]["dependencies"]:
        if need.startswith("mqperf-"):
            yield need.removeprefix("mqperf-")


def test_every_doubt_has_advice() -> None:
    """The how-to on doubts has an entry for each kind."""
    text = (ROOT / "docs" / "howto" / "interpret-doubts.md").read_text(encoding="utf-8")
    assert {kind for kind in CHECKS if f"`{kind}`" not in text} == set()


def test_every_doubt_has_its_limits() -> None:
    """The methodology has the limit at which each doubt is raised."""
    text = (ROOT / "docs" / "methodology.md").read_text(encoding="utf-8")
    limits = text.partition("Their limits:")[2]
    assert {kind for kind in CHECKS if f"`{kind}`" not in limits} == set()


@pytest.fixture
def _with_password(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable that pages have readers export for the URLs of plans."""
    monkeypatch.setenv("MQ_PASSWORD", "secret")


@pytest.mark.usefixtures("_with_password")
@pytest.mark.parametrize("page", ALL, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_page_is_right(page: Path) -> None:
    """Commands, sessions, links, files, excerpts, results, plans, and the form of decisions."""
    text = page.read_text(encoding="utf-8")
    faults = [*commands_refused(page), *sessions_missing(text), *links_broken(page, text)]
    faults += [*files_missing(text), *excerpts_that_differ(page), *plans_refused(page)]
    faults += [*results_without(page)]
    faults += decision_faults(page, text) if page in DECISIONS else []
    assert faults == []


def test_every_fault_of_a_page_is_found(tmp_path: Path) -> None:
    """A page with one fault of each kind has all of them reported at once."""
    page = tmp_path / "000-page.md"
    text = textwrap.dedent(WRONG).lstrip()
    page.write_text(text, encoding="utf-8")
    assert [*commands_refused(page)] == [
        "no command mqperf rum",
        "mqperf run: No such option: --hostess",
    ]
    assert [*sessions_missing(text)] == ["no session nowhere"]
    assert [*links_broken(page, text)] == ["a link to absent.md"]
    assert [*files_missing(text)] == ["no file plans/absent.yaml"]
    assert [*excerpts_that_differ(page)] == ["not in mqperf/__main__.py: nothing = None"]
    assert [*results_without(page)] == ["results has no tables", "results has no table nowhere"]
    refused, senseless = plans_refused(page)
    assert refused.startswith("shown.yaml:2: load.green_threads")
    assert senseless.startswith("shown.yaml:3: load.ramp_steps")
    assert [*decision_faults(page, "# 001 A page\n")] == ["its title does not begin with 000"]
    assert [*decision_faults(page, "# 000 A page\n" * 26)] == [
        "26 lines, a decision has at most 25"
    ]


WRONG = """
    # 001 A page [of](absent.md) `plans/absent.yaml`

    ```sh
    mqperf rum plans/smoke.yaml
    mqperf run plans/smoke.yaml --hostess
    ./noxw -s nowhere
    ```

    ```python
    # from mqperf/__main__.py
    nothing = None
    ```

    ```python
    results.tables["runs"]
    results["nowhere"]
    ```

    ```yaml
    systems: {rabbitmq: {topologies: [cmsm]}}
    load: {green_threads: none, duration_s: 1}
    ```

    ```yaml
    systems: {rabbitmq: {topologies: [cmsm]}}
    test_cases: [rpc-call]
    load: {green_threads: 1, duration_s: 24, rate_msg_s: 10, ramp_to_msg_s: 100, ramp_steps: 26}
    ```
"""


def commands_refused(page: Path) -> Iterator[str]:
    """The commands that a page shows are accepted as they stand."""
    for name, *rest in typed(page):
        if name not in commands():
            yield f"no command mqperf {name}"
            continue
        try:
            commands()[name].make_context(name, rest)
        except Exception as error:  # noqa: BLE001 (what typer raises has no public name)
            yield f"mqperf {name}: {error}"


def sessions_missing(text: str) -> Iterator[str]:
    """Every ./noxw -s that a page names is a session of the noxfile."""
    for name in sorted({*re.findall(r"\./noxw -s (\w+)", text)} - sessions()):
        yield f"no session {name}"


def links_broken(page: Path, text: str) -> Iterator[str]:
    """Every relative link leads to a file of the repository."""
    for link in LINK.findall(text):
        if not (page.parent / link.replace("\\_", "_")).exists():
            yield f"a link to {link}"


def files_missing(text: str) -> Iterator[str]:
    """A file of the repository that a page names by its path is there."""
    folders = "mqperf|packages|tests|plans|docs|notebooks"
    named = {*re.findall(rf"`((?:{folders})/[\w/-]+\.\w+)`", text)}
    for name in sorted(name for name in named if "bunny" not in name):
        if not (ROOT / name).exists():
            yield f"no file {name}"


def excerpts_that_differ(page: Path) -> Iterator[str]:
    """An excerpt of a file that a page shows is in this file word for word."""
    for text in blocks(page, "python"):
        if text.startswith("# from "):
            head, excerpt = text.split("\n", 1)
            source = head.removeprefix("# from ")
            if excerpt not in (ROOT / source).read_text(encoding="utf-8"):
                yield f"not in {source}: {excerpt.strip()}"


def results_without(page: Path) -> Iterator[str]:
    """What Python on a page reads from ``results`` is an attribute or a table of results."""
    for text in blocks(page, "python"):
        for name in re.findall(r"\bresults\.(\w+)", text):
            if name not in {*dir(Results), "source"}:
                yield f"results has no {name}"
        for name in re.findall(r'\bresults\["(\w+)"\]', text):
            if name not in TABLES:
                yield f"results has no table {name}"


def plans_refused(page: Path) -> Iterator[str]:
    """Every complete plan that a page shows can be run."""
    for text in blocks(page, "yaml"):
        if "systems" in (yaml.safe_load(text) or {}):
            try:
                parse_plan(text, Path("shown.yaml"), problems_of)
            except PlanError as error:
                yield str(error)


def decision_faults(page: Path, text: str) -> Iterator[str]:
    """A decision is numbered in file name and title, and short enough to be read."""
    lines = text.splitlines()
    if not lines[0].startswith(f"# {page.name[:3]} "):
        yield f"its title does not begin with {page.name[:3]}"
    if len(lines) > 25:
        yield f"{len(lines)} lines, a decision has at most 25"
