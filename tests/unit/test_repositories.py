"""Files of git repositories in plans, fetched by the real git from a local folder."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from mqperf.base.errors import PlanError
from mqperf.base.redaction import without_passwords
from mqperf.lab.systems.in_plans import problems_of
from mqperf.plan import Plan
from mqperf.plan.file import parse_plan
from mqperf.plan.file.copied import public
from mqperf.plan.file.repositories import path_in, repositories

pytestmark = pytest.mark.starts_programs

SCRIPT = "#!/bin/sh\necho closing\n"
PLAN = """\
systems: {{rabbitmq: {{topologies: [cmsm]}}}}
test_cases: [rpc-call]
load: {{green_threads: 1, duration_s: 9}}
actions:
  - {{do: script, host: local, at_s: 1, for_s: 2, script_file: "{name}", more_files: ["{more}"]}}
"""

Commit = Callable[[str], None]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a branch, a tag on its first commit, an outward link, and a binary file."""
    folder = tmp_path / "faults"
    (folder / "close").mkdir(parents=True)
    (folder / "close" / "all.sh").write_text(SCRIPT)
    (folder / "words.txt").write_text("some\r\nwords\n")
    (folder / "outside").symlink_to("/etc/hostname")
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder)
    git(folder, "tag", "v1")
    return folder


def git(folder: Path, *argv: str) -> None:
    """Run git with a fixed identity and without user configuration."""
    who = ("-c", "user.name=nobody", "-c", "user.email=nobody@localhost")
    subprocess.run(["git", "-C", folder, *who, *argv], check=True)


def commit(folder: Path) -> None:
    """Commit all files of the folder."""
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message=more")


def source(repository: Path, path: str, revision: str = "main") -> str:
    """The reference to a file of the repository, as in a plan."""
    return f"git+file://{repository}@{revision}#{path}"


def plan(name: str, more: str, folder: Path) -> Plan:
    """A plan that runs the script, read as before a run."""
    text = PLAN.format(name=name, more=more)
    return parse_plan(text, folder / "plan.yaml", problems_of)


def of(read: Plan) -> dict[str, str]:
    """The files of a plan by name, without digest."""
    return {pin.partition(" (")[0]: text.decode() for pin, text in read.files.items()}


@pytest.mark.parametrize("revision", ["main", "v1"])
def test_files_of_a_repository_are_read_with_the_plan(
    repository: Path, tmp_path: Path, revision: str
) -> None:
    """The content is that of the branch or of the tag."""
    script = source(repository, "close/all.sh", revision)
    words = source(repository, "words.txt", revision)
    files = of(plan(script, words, tmp_path))
    assert files == {script: SCRIPT, words: "some\r\nwords\n"}


def test_what_counts_is_the_content_and_not_the_commit(repository: Path, tmp_path: Path) -> None:
    """A new commit on the branch with the same file gives the same cases; so does a tag."""
    script, words = source(repository, "close/all.sh"), source(repository, "words.txt", "v1")
    before = plan(script, words, tmp_path)
    (repository / "words.txt").write_text("others\n")
    commit(repository)
    assert plan(script, words, tmp_path).files == before.files
    (repository / "close" / "all.sh").write_text(SCRIPT + "echo more\n")
    commit(repository)
    after = plan(script, words, tmp_path)
    assert after.files != before.files
    [action], [changed] = before.actions, after.actions
    assert action.model_dump() != changed.model_dump()


def test_a_copied_plan_says_when_the_branch_has_changed(repository: Path, tmp_path: Path) -> None:
    """The copy beside the runs has digests, and can be run as long as they match."""
    script, words = source(repository, "close/all.sh"), source(repository, "words.txt")
    [action] = plan(script, words, tmp_path).actions
    pinned = str(action.model_dump()["script_file"])
    copy = public(PLAN.format(name=pinned, more=words))
    assert pinned in copy
    parse_plan(copy, tmp_path / "plan.yaml", problems_of)
    (repository / "close" / "all.sh").write_text(SCRIPT + "echo more\n")
    commit(repository)
    with pytest.raises(PlanError, match=r"plan\.yaml:5: .*has changed since the plan was copied"):
        parse_plan(copy, tmp_path / "plan.yaml", problems_of)


@pytest.mark.parametrize(
    "name",
    [
        "git+ssh://git@example.org/faults@main#all.sh",
        "git+ssh://git@example.org:22/faults@main#all.sh",
        "git+https://example.org:8443/faults@v1.0/a#some words.sh",
    ],
)
def test_what_is_no_secret_stays_in_a_copied_plan(name: str) -> None:
    """Without the SSH user or the port, the copy would be another plan."""
    assert name in public(PLAN.format(name=name, more="words.txt"))
    assert without_passwords(f"cannot read {name}") == f"cannot read {name}"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("git+file://{0}@main#close/none.sh", "not in main of file://.*did not match"),
        ("git+file://{0}@main#close", "Is a directory"),
        ("git+file://{0}@main#../faults/words.txt", "not in main of .*is outside repository"),
        ("git+file://{0}@main#:(glob)**/all.sh", "not in main of file://.*did not match"),
        ("git+file://{0}@main#.git/config", "not in main of file://.*did not match"),
        ("git+file://{0}@none#close/all.sh", "cannot fetch none of file://.*: fatal: .*none"),
        ("git+file://{0}/none@main#a.sh", "cannot fetch main of file://.*none"),
        ("git+file://{0}#close/all.sh", r"is git\+https://HOST/REPOSITORY@REVISION#PATH"),
        ("git+file://{0}@main", r"is git\+https://HOST/REPOSITORY@REVISION#PATH"),
        ("git+file://{0}@--all#a.sh", r"is git\+https://HOST/REPOSITORY@REVISION#PATH"),
        ("git+file://{0}@main:main#a.sh", r"is git\+https://HOST/REPOSITORY@REVISION#PATH"),
        ("git+ext://touch%20x@main#a.sh", r"is git\+https://HOST/REPOSITORY@REVISION#PATH"),
        ("git+https://me:word@localhost/a@main#b.sh", "without a password or token"),
        ("git+https://token@localhost/a@main#b.sh", "without a password or token"),
        ("git+ssh://me:word@localhost/a@main#b.sh", "without a password or token"),
    ],
)
def test_what_cannot_be_fetched_is_told_before_anything_starts(
    name: str, words: str, repository: Path, tmp_path: Path
) -> None:
    """The error is one line with the place in the plan, and never has a password."""
    with pytest.raises(
        PlanError,
        match=rf"plan\.yaml:5: actions entry 1.script_file: the file cannot be used: .*{words}",
    ) as error:
        plan(name.format(repository), source(repository, "words.txt"), tmp_path)
    assert "\n" not in str(error.value)
    assert "word@" not in str(error.value)


def test_the_error_has_the_reason_of_git(repository: Path, tmp_path: Path) -> None:
    """The last line of git's output is only advice."""
    name = f"git+file://{tmp_path}/nobody@main#words.txt"
    with pytest.raises(PlanError) as refused:
        plan(name, source(repository, "words.txt"), tmp_path)
    why = f"cannot fetch main of file://{tmp_path}/nobody: fatal: "
    assert f"{why}'{tmp_path}/nobody' does not appear to be a git repository" in str(refused.value)


def test_links_out_of_a_repository_are_not_followed(repository: Path, tmp_path: Path) -> None:
    """The content of a link is the path of its target; no file of this machine is read."""
    name = source(repository, "outside")
    assert of(plan(source(repository, "close/all.sh"), name, tmp_path))[name] == "/etc/hostname"


def test_a_machine_without_git_is_told_so(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plans with local files do not need git."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PlanError, match="git is missing or not executable"):
        plan(source(repository, "close/all.sh"), source(repository, "words.txt"), tmp_path)


def test_nothing_is_left_of_what_was_fetched(repository: Path) -> None:
    """There is one folder per commit, removed when the plan has been read."""
    with repositories() as fetched:
        places = [fetched.place(source(repository, name)) for name in ("words.txt", "close/all.sh")]
        assert all(place.is_file() for place in places)
        roots = {places[0].parent, places[1].parents[1]}
        assert len(roots) == 1
    assert not roots.pop().exists()


def test_the_path_in_a_repository_is_its_own() -> None:
    """The revision does not affect it."""
    assert path_in("git+https://example.org/a@release/1#b/c.sh") == "b/c.sh"
