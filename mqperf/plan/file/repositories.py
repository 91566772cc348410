"""Files of git repositories, ``git+https://HOST/REPOSITORY@REVISION#PATH``, read with a plan.

A repository is fetched by the user's own git, at most once a plan: of one commit what is asked for,
into a folder that is removed again.  What a plan pins is the content of the file, so that a branch
that has moved on is told from one in which this file stayed.
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
"""Of a fetch."""

_PREFIX = "git+"
_ELSEWHERE = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"})
"""What git sets where it runs programs of ours, and what would lead it back there."""

_AS_IT_IS = ("-c", "core.symlinks=false", "-c", "core.autocrlf=false", "--literal-pathspecs")
"""A link is a text with the name of its target: it leads nowhere."""


_CAUSE = re.compile(r"(?!warning:|hint:|fatal: Could not read from remote)\S+: \S")
"""What git, or what it runs, says of a failure: ``fatal: ...``, ``ssh: ...``."""


def is_source(name: str) -> bool:
    """Whether a file's name means one of a repository."""
    return name.startswith(_PREFIX)


def path_in(name: str) -> str:
    """The path in its repository, of what ``is_source``."""
    return name.partition("#")[2]


@dataclass(slots=True)
class Repositories:
    """Repositories as they are fetched; an error is kept, too, for the other files of the same."""

    _stack: ExitStack
    _known: dict[tuple[str, str], Path | UnreadableError] = field(default_factory=dict)

    def place(self, name: str) -> Path:
        """Where the file stands until the end; raises ``UnreadableError``."""
        if (match := REPOSITORY_FILE.fullmatch(name)) is None:
            raise UnreadableError(
                f"a file of a repository is {FORM}, without a password or token: these are for"
                " git's credential helper"
            )
        url, revision, path = match["url"], match["revision"], match["path"]
        try:
            folder = self._fetched(url, revision)
            taken = _git(folder, *_AS_IT_IS, "checkout", "--quiet", "FETCH_HEAD", "--", path)
        except HostError as error:
            raise UnreadableError(str(error)) from None
        if taken.returncode:
            raise UnreadableError(f"not in {revision} of {url}: {_words(taken)}")
        return folder / path

    def _fetched(self, url: str, revision: str) -> Path:
        key = (url, revision)
        if key not in self._known:
            folder = self._stack.enter_context(scratch("git"))
            problem = _fetch(folder, url, revision)
            self._known[key] = UnreadableError(problem) if problem else folder
        fetched = self._known[key]
        if isinstance(fetched, UnreadableError):
            raise fetched
        return fetched


@contextmanager
def repositories() -> Iterator[Repositories]:
    """None yet; what was fetched is removed at the end."""
    with ExitStack() as stack:
        yield Repositories(stack)


def _fetch(folder: Path, url: str, revision: str) -> str | None:
    """Fetch one commit without its files, which come as they are asked for; or what went wrong."""
    for argv in (
        ("init", "--quiet"),
        ("remote", "add", "origin", url),
        ("fetch", "--quiet", "--no-tags", "--depth=1", "--filter=blob:none", "origin", revision),
    ):
        ended = _git(folder, *argv)
        if ended.returncode:
            return f"cannot fetch {revision} of {url}: {_words(ended)}"
    return None


def _words(ended: CompletedProcess[str]) -> str:
    """The first line in which somebody says what is wrong, else the last of what git said."""
    *_, last = lines = ["git says nothing", *ended.stderr.strip().splitlines()]
    return one_line(next(filter(_CAUSE.match, lines), last))


def _git(folder: Path, *argv: str) -> CompletedProcess[str]:
    """Raises ``HostError`` when there is no git, or it takes too long; it never asks."""
    inherited = {key: value for key, value in os.environ.items() if key not in _ELSEWHERE}
    env = {**inherited, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C.UTF-8"}
    return run(["git", "-C", str(folder), *argv], env=env, timeout_s=LIMIT_S)
