"""The parameters of a plan for a command."""

import re
import shlex
from typing import Annotated

from pydantic import AfterValidator, Field

from mqperf.base.redaction import suspicious, without_passwords
from mqperf.plan import Case, CaseParameters
from mqperf.plan.load.generator import Generator, clients
from mqperf_command.plan.test_case import TEST_CASE

LONGEST = 1_000

_SECRET = re.compile(
    r"(?!.*file)-*([\w-]*[-_])?(pass|passw\w*|passphrase|pwd|secret|token|api-?key)([-_][\w-]*)?(=.*)?",
    re.IGNORECASE,
)
"""A word that contains or names a password: an option, or a variable that is set."""


def _runnable(line: str) -> str:
    """Return a command line; raise ``ValueError`` if it is malformed or may have a password."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise ValueError(f"cannot be split into words: {error}") from None
    if not words:
        raise ValueError("names no program")
    if any(map(_may_be_secret, words)):
        raise ValueError(
            "may hold a password, which everybody could read: put it into a file that the command"
            " reads by itself, such as clouds.yaml"
        )
    return line


def _may_be_secret(word: str) -> bool:
    if "://" in word:
        return without_passwords(word) != word
    return suspicious(word) or _SECRET.fullmatch(word) is not None


class Parameters(CaseParameters):
    """Each is a column of tables, and may be a list."""

    command: Annotated[str, AfterValidator(_runnable)] = Field(
        min_length=1,
        max_length=LONGEST,
        description="The command line, split into words as a shell does; there is no shell.",
    )


def words_of(case: Case) -> list[str]:
    """Return the words of a case's command line."""
    return shlex.split(Parameters.of_case(case).command)


GENERATOR = Generator(
    name="command",
    title="Command",
    link="https://docs.python.org/3/library/subprocess.html",
    test_cases=(TEST_CASE.name,),
    parameters=Parameters,
    members=clients,
    encrypts=True,
    one_core=False,  # its CPU is that of the commands that it runs at the same time, too
)
