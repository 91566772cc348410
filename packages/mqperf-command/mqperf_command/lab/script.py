"""Script: a program of the user runs on a host for a while, and its output is kept."""

import shlex
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import PurePosixPath

from pydantic import Field, field_validator

from mqperf.base.errors import SystemFault
from mqperf.base.one_line import one_line
from mqperf.base.problems import Problem, Where
from mqperf.hosts import Host, Restartable
from mqperf.lab.actions.action import Action, ActionFacts, Target
from mqperf.plan import Frozen, Scalar
from mqperf.plan.file.attached import name_of
from mqperf.plan.file.repositories import is_source, path_in

OUTPUT_BYTES = 1_000_000
"""Largest output that is kept; of a larger one, the end."""

END_GRACE_S = 5.0
"""Time to end after SIGTERM."""

BY_SIGTERM = 128 + signal.SIGTERM
"""Exit code of programs that report that SIGTERM ended them."""


class Script(Frozen):
    """The program, its arguments and its files."""

    script_file: str = Field(
        min_length=1,
        max_length=500,
        description="The program: a file of text that begins with ``#!``, in the plan's"
        " folder or below, or of a git repository,"
        " ``git+https://HOST/REPOSITORY@REVISION#PATH``. It is copied to the host.",
    )
    arguments: tuple[Scalar, ...] = Field((), max_length=100, description="Its arguments.")
    more_files: tuple[str, ...] = Field(
        (),
        max_length=100,
        description="Text files that it needs, given likewise. They are copied to where it runs,"
        " under their last names.",
    )

    @field_validator("more_files")
    @classmethod
    def _check_unique_names(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        short = [_last_name(name) for name in names]
        if duplicates := [name for name in short if short.count(name) > 1]:
            raise ValueError(f"two are called {duplicates[0]!r}: rename one")
        return names


def check(target: Target) -> None:
    """Raise ``SystemFault`` if the host is unknown or a file cannot be used."""
    if target.host is None:
        raise SystemFault(
            f"script: it is not known on which host {target.label} runs: say host: instead"
        )
    _program(target)
    for name in _parameters(target).more_files:
        _text(target, name)


@contextmanager
def applied(target: Target) -> Iterator[ActionFacts]:
    """Run the program; at the end of its time, stop it and all that it started."""
    if (host := target.host) is None:
        return
    outcome: ActionFacts = {}
    with host.scratch("script") as folder:
        program, log, work = folder / "script", folder / "output", folder / "work"
        host.write(program, _program(target), 0o700)
        host.make(work)
        for name in _parameters(target).more_files:
            host.write(work / _last_name(name), _text(target, name), 0o700)
        argv = [str(program), *map(str, _parameters(target).arguments)]
        process = host.start("script", argv, env=_variables(target, host), log=log, cwd=work)
        try:
            yield outcome
        finally:
            code = process.poll()
            if code is None and ((code := process.stop(END_GRACE_S)) < 0 or code == BY_SIGTERM):
                code = None  # ended by us, so the code is not its own
            outcome["exit_code"] = code
            output = host.read(log, max(0, host.size(log) - OUTPUT_BYTES))
            target.keep("script.log", output)
    if code:
        *_, last = ["no output", *output.decode(errors="replace").strip().splitlines()]
        raise SystemFault(
            f"script: {_described(target)} ended with exit code {code} on {host.name}:"
            f" {one_line(last)}"
        )


def _variables(target: Target, host: Host) -> dict[str, str]:
    """Return the environment, with ``MQPERF_NODE`` and ``MQPERF_PID`` if the target is a node."""
    service = target.service
    process = service.process if isinstance(service, Restartable) else service
    of_node = {"MQPERF_NODE": target.label, "MQPERF_PID": str(process.pid)} if process else {}
    return {"PATH": host.path, "MQPERF_HOST": host.name, **of_node}


def _parameters(target: Target) -> Script:
    if not isinstance(target.parameters, Script):
        raise TypeError(f"script takes a Script, not {target.parameters!r}")
    return target.parameters


def _described(target: Target) -> str:
    parameters = _parameters(target)
    return shlex.join([name_of(parameters.script_file), *map(str, parameters.arguments)])


def _program(target: Target) -> str:
    """Return the text of the program; raise ``SystemFault`` if it is invalid."""
    return _text(target, _parameters(target).script_file, _program_problem)


def _text(target: Target, name: str, problem: Callable[[bytes], str | None] | None = None) -> str:
    """Return the text of a file that the plan names; raise ``SystemFault`` if it is invalid."""
    if name not in target.files:
        raise SystemFault(f"script: {name}: was not read with the plan: run the plan from its file")
    if why := (problem or _text_problem)(target.files[name]):
        raise SystemFault(f"script: {name}: {why}")
    return target.files[name].decode()


def _text_problem(content: bytes) -> str | None:
    try:
        content.decode()
    except UnicodeDecodeError:
        return "it is no text in UTF-8"
    return None


def _program_problem(content: bytes) -> str | None:
    if content.startswith(b"#!"):
        return _text_problem(content)
    return "it does not begin with #! and the program that reads it"


def file_problems(values: Mapping[str, object], files: Mapping[str, bytes]) -> Iterator[Problem]:
    """Yield problems of the program, and of other files that are not text."""
    names: list[tuple[Where, object]] = [(("script_file",), values.get("script_file"))]
    more = values.get("more_files")
    names += [
        (("more_files", n), entry) for n, entry in enumerate(more if isinstance(more, list) else ())
    ]
    for where, name in names:
        content = files.get(name) if isinstance(name, str) else None
        problem = _program_problem if where == ("script_file",) else _text_problem
        if content is not None and (why := problem(content)):
            yield Problem(where, why)


ACTION = Action(
    "script",
    "where a program of the user's runs, or what it is run for",
    check,
    applied,
    on=("node", "host"),
    parameters=Script,
    file_problems=file_problems,
)


def _last_name(text: str) -> str:
    """Return the last part of a file's path, which is the name of its copy."""
    name = name_of(text)
    return PurePosixPath(path_in(name) if is_source(name) else name).name
