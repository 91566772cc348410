"""The documentation is a promise: what it names exists, and what exists is named."""

import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
import typer
import yaml
from typer.core import TyperCommand, TyperGroup

from mqperf.base.document import MAX_BYTES, MAX_DEPTH, MAX_VALUES
from mqperf.front.cli import app
from mqperf.lab.systems import SYSTEMS
from mqperf.lab.systems.settings import SystemSettings
from mqperf.plan import MAX_CASES, MAX_THREADS, LoadPlan, Plan, SystemPlan
from mqperf.plan.file import parse_plan
from mqperf.study.stats.checks import CHECKS

ROOT = Path(__file__).parent.parent.parent
FRONT = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("packages/*/README.md"))]
PAGES = sorted(path for path in ROOT.glob("docs/**/*.md") if "_build" not in path.parts)
ALL = [*FRONT, *PAGES]
DECISIONS = sorted(ROOT.glob("docs/decisions/0*.md"))

LINK = re.compile(r"\[[^\]]*\]\(([^)#:\s]+)(?:#[^)]*)?\)")
BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)

every_page = pytest.mark.parametrize("page", ALL, ids=lambda path: str(path.relative_to(ROOT)))


def commands() -> dict[str, TyperCommand]:
    """Every command by its words: those of groups have two."""
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    context = group.make_context("mqperf", [], resilient_parsing=True)
    found = {name: group.get_command(context, name) for name in group.list_commands(context)}
    for name, inner in [*found.items()]:
        if isinstance(inner, TyperGroup):
            del found[name]
            found |= {f"{name} {word}": one for word, one in inner.commands.items()}
    return {name: one for name, one in found.items() if isinstance(one, TyperCommand)}


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
            if words[:1] == ["nohup"]:
                words = words[1:]
            if words[:1] == ["mqperf"]:
                rest = words[1:]
                if " ".join(rest[:2]) in commands():
                    rest = [" ".join(rest[:2]), *rest[2:]]
                yield [word for word in rest if not re.match(r"\d?>", word)]


def sessions() -> set[str]:
    text = (ROOT / "noxfile.py").read_text(encoding="utf-8")
    return set(re.findall(r"@nox\.session\ndef (\w+)", text))


@pytest.mark.parametrize("name", commands())
def test_every_command_is_told_about(name: str) -> None:
    """Each command is shown in a page that a person wrote, beside its generated reference."""
    assert any(words[:1] == [name] for page in ALL for words in typed(page))


@pytest.mark.parametrize("name", commands())
def test_every_command_teaches_by_example(name: str) -> None:
    """Each command's help holds an example of itself."""
    assert f"mqperf {name} " in f"{commands()[name].help} ".replace("`", " ")


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


def test_every_limit_of_a_plan_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan reference has the limits that errors name."""
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    text = import_module("mqperf_docs.plan_keys").limits()
    for limit in (MAX_CASES, MAX_THREADS, MAX_BYTES, MAX_VALUES, MAX_DEPTH):
        assert f"| {limit:,} |" in text


def test_every_topology_and_kind_of_queue_is_explained(plan_keys: str) -> None:
    """The plan reference has a row for each name that some system offers."""
    names = {name for one in SYSTEMS.values() for name in (*one.topologies, *one.queues)}
    assert {name for name in names if f"| `{name}` |" not in plan_keys} == set()


@pytest.mark.parametrize("kind", CHECKS)
def test_every_doubt_has_advice(kind: str) -> None:
    """Whoever is told of a doubt finds what to do about it."""
    page = ROOT / "docs" / "howto" / "interpret-doubts.md"
    assert f"`{kind}`" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", CHECKS)
def test_every_doubt_has_its_limits(kind: str) -> None:
    """Whoever recomputes a doubt finds from where on it is raised."""
    page = ROOT / "docs" / "methodology.md"
    assert f"`{kind}`" in page.read_text(encoding="utf-8").partition("Their limits:")[2]


@every_page
def test_commands_parse(page: Path) -> None:
    """What a page tells people to type is accepted as it stands."""
    for name, *rest in typed(page):
        assert name in commands(), f"{page}: no command mqperf {name}"
        commands()[name].make_context(name, rest)


@every_page
def test_sessions_exist(page: Path) -> None:
    """Every ./noxw -s that a page names is a session of the noxfile."""
    named = re.findall(r"\./noxw -s (\w+)", page.read_text(encoding="utf-8"))
    assert set(named) <= sessions()


@every_page
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link leads to a file of the repository."""
    links = LINK.findall(page.read_text(encoding="utf-8"))
    missing = [link for link in links if not (page.parent / link.replace("\\_", "_")).exists()]
    assert missing == []


@every_page
def test_named_files_exist(page: Path) -> None:
    """A file of the repository that a page names by its path is there."""
    text = page.read_text(encoding="utf-8")
    folders = "mqperf|packages|tests|plans|docs|notebooks"
    named = set(re.findall(rf"`((?:{folders})/[\w/-]+\.\w+)`", text))
    missing = {name for name in named if not (ROOT / name).exists()}
    assert {name for name in missing if "bunny" not in name} == set()


@every_page
def test_excerpts_are_the_code(page: Path) -> None:
    """What a page shows as an excerpt of a file stands there word for word."""
    for text in blocks(page, "python"):
        if text.startswith("# from "):
            source, excerpt = text.split("\n", 1)
            assert excerpt in (ROOT / source.removeprefix("# from ")).read_text(encoding="utf-8")


@every_page
def test_plans_are_plans(page: Path) -> None:
    """Every whole plan that a page shows is accepted, apart from the passwords it leaves out."""
    for text in blocks(page, "yaml"):
        if "systems" in (yaml.safe_load(text) or {}):
            parse_plan(text, Path("shown.yaml"))


@pytest.mark.parametrize("page", DECISIONS, ids=lambda path: path.stem)
def test_decisions_are_short_and_numbered(page: Path) -> None:
    """A decision is numbered in file name and title, and short enough to be read."""
    lines = page.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith(f"# {page.name[:3]} ")
    assert len(lines) <= 25
