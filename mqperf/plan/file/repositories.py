"""Files of git repositories, ``git+https://HOST/REPOSITORY@REVISION#PATH``, read with a plan.

A repository is fetched by the user's own git, at most once for a plan: the requested files of one
commit, into a temporary folder.  A plan pins the content of the file, not the commit, so that a
branch may move on as long as this file stays the same.
"""

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import CompletedProcess

from mqperf.base.errors import HostError
from mqperf.base.one_line import one_line
from mqperf.base.processes import run, scratch
from mqperf.base.urls import REPOSITORY_FILE
from mqperf.plan.file.reading import UnreadableError

FORM = "git+https://HOST/REPOSITORY@REVISION#PATH, or with ssh or file in place of https"
LIMIT_S = 120.0
"""Time limit of each git command."""

_PREFIX = "git+"
_ELSEWHERE = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"})
"""Set by git in hooks that run mqperf; they would make git use the hook's repository."""

_VERBATIM = ("-c", "core.symlinks=false", "-c", "core.autocrlf=false", "--literal-pathspecs")
"""Check out a link as a text file with its target's name, so that it leads nowhere."""


_CAUSE = re.compile(r"(?!warning:|hint:|fatal: Could not read from remote)\S+: \S")
"""A line of git, or of a program it runs, with a cause of failure: ``fatal: ...``, ``ssh: ...``."""


def is_source(name: str) -> bool:
    """Whether a file name refers to a repository."""
    return name.startswith(_PREFIX)


def path_in(name: str) -> str:
    """Return the path within the repository, for a name that ``is_source``."""
    return name.partition("#")[2]


@dataclass(slots=True)
class Repositories:
    """Repositories, each fetched once; an error is kept, too, for other files of the same one."""

    _stack: ExitStack
    _results: dict[tuple[str, str], Path | UnreadableError] = field(default_factory=dict)

    def place(self, name: str) -> Path:
        """Check out the file, until the context ends; raises ``UnreadableError``."""
        if (match := REPOSITORY_FILE.fullmatch(name)) is None:
            raise UnreadableError(
                f"a file of a repository is {FORM}, without a password or token: these are for"
                " git's credential helper"
            )
        url, revision, path = match["url"], match["revision"], match["path"]
        try:
            folder = self._fetched(url, revision)
            done = _git(folder, *_VERBATIM, "checkout", "--quiet", "FETCH_HEAD", "--", path)
        except HostError as error:
            raise UnreadableError(str(error)) from None
        if done.returncode:
            raise UnreadableError(f"not in {revision} of {url}: {_reason(done)}")
        return folder / path

    def _fetched(self, url: str, revision: str) -> Path:
        key = (url, revision)
        if key not in self._results:
            folder = self._stack.enter_context(scratch("git"))
            problem = _fetch(folder, url, revision)
            self._results[key] = UnreadableError(problem) if problem else folder
        result = self._results[key]
        if isinstance(result, UnreadableError):
            raise result
        return result


@contextmanager
def repositories() -> Iterator[Repositories]:
    """Yield an empty set of repositories; whatever was fetched is removed at the end."""
    with ExitStack() as stack:
        yield Repositories(stack)


def _fetch(folder: Path, url: str, revision: str) -> str | None:
    """Fetch one commit, its files only on demand; return the error, or None."""
    for argv in (
        ("init", "--quiet"),
        ("remote", "add", "origin", url),
        ("fetch", "--quiet", "--no-tags", "--depth=1", "--filter=blob:none", "origin", revision),
    ):
        done = _git(folder, *argv)
        if done.returncode:
            return f"cannot fetch {revision} of {url}: {_reason(done)}"
    return None


def _reason(done: CompletedProcess[str]) -> str:
    """Return the first line of the errors that names a cause, else the last line."""
    *_, last = lines = ["git says nothing", *done.stderr.strip().splitlines()]
    return one_line(next(filter(_CAUSE.match, lines), last))


def _git(folder: Path, *argv: str) -> CompletedProcess[str]:
    """Run git without prompts; raises ``HostError`` when it is missing or takes too long."""
    inherited = {key: value for key, value in os.environ.items() if key not in _ELSEWHERE}
    env = {**inherited, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C.UTF-8"}
    return run(["git", "-C", str(folder), *argv], env=env, timeout_s=LIMIT_S)
