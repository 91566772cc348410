"""Completion for shells: a script with all commands, options and shipped plans in it.

It starts no program: a key pressed in a shell does not wait for Python.  What it does not know are
commands of packages that are installed later.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from string import Template
from typing import Any

import typer
from typer.core import TyperArgument, TyperGroup

from mqperf.base.shipped import shipped
from mqperf.front.cli import app

PLANS, FOLDERS, FILES = "plans", "folders", "files"
"""What the words of a command may be: plans by name or file, folders of runs first, or files."""

KINDS: Mapping[str, str] = {
    "PLAN": PLANS,
    "[NAME]": PLANS,
    "RUNS": FOLDERS,
    "PATH": FOLDERS,
    "A": FOLDERS,
    "B": FOLDERS,
    "DIR": FOLDERS,
}
"""By how a command calls its argument; files for all others."""

RUNS = "data/runs"
CHOICES = re.compile(r"[<\[{]([\w.-]+(?:\|[\w.-]+)+)[>\]}]")
"""How help shows that a value is one of several."""


@dataclass(frozen=True, slots=True)
class Completed:
    """What may follow a command: words, options, and values of options that are one of several."""

    words: Sequence[str] = ()
    options: Sequence[str] = ()
    kind: str = ""
    choices: Mapping[str, Sequence[str]] = field(default_factory=dict)


def commands() -> dict[str, Completed]:
    """By command, those of groups with two words; the empty one is mqperf itself."""
    return dict(_commands("", typer.main.get_command(app)))


def _commands(
    name: str,
    command: Any,  # noqa: ANN401 (classes of typer have private bases)
) -> Iterator[tuple[str, Completed]]:
    context = command.make_context("mqperf", [], resilient_parsing=True)
    if isinstance(command, TyperGroup):
        names = command.list_commands(context)
        yield name, Completed(words=names, options=() if name else ("--help", "--version"))
        for inner in names:
            yield from _commands(f"{name} {inner}".strip(), command.get_command(context, inner))
        return
    options: list[str] = []
    words: Sequence[str] = ()
    choices: dict[str, Sequence[str]] = {}
    kind = ""
    for parameter in command.get_params(context):
        match = CHOICES.search((parameter.get_help_record(context) or ("",))[0])
        values = match[1].split("|") if match else ()
        if isinstance(parameter, TyperArgument):
            words = values or words
            kind = kind or ("" if words else KINDS.get(str(parameter.metavar), FILES))
        else:
            spellings = [*parameter.opts, *parameter.secondary_opts]
            options += spellings
            choices |= dict.fromkeys(spellings, values) if values else {}
    yield name, Completed(words, options, kind, choices)


def plans() -> list[str]:
    """The names of the shipped plans."""
    return sorted(file.stem for file in shipped("plans").glob("*.yaml"))


def bash() -> str:
    """A function for bash, and its use for mqperf."""
    known = commands()
    choices = [
        f'        "{name} {option}") words="{" ".join(values)}" ;;'
        for name, of in known.items()
        for option, values in of.choices.items()
    ]
    cases = [
        f'        "{name}") words="{" ".join(of.words)}"'
        f' options="{" ".join(of.options)}" kind="{of.kind}" ;;'
        for name, of in known.items()
    ]
    return BASH.substitute(
        groups="|".join(_groups(known)),
        choices="\n".join(choices),
        cases="\n".join(cases),
        plans=" ".join(plans()),
        runs=RUNS,
    )


def zsh() -> str:
    """The same for zsh, which has a module for such functions."""
    return ZSH + bash()


def fish() -> str:
    """Functions and commands for fish."""
    known = commands()
    lines = [FISH.substitute(groups=" ".join(_groups(known)), runs=RUNS), "complete -c mqperf -f"]
    for name, of in known.items():
        here = f"complete -c mqperf -n '__mqperf_at {name}'"
        lines += [f"{here} -a '{' '.join(of.words)}'"] if of.words else []
        for option in of.options:
            values = " ".join(of.choices.get(option, ()))
            flag = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
            lines.append(f"{here} {flag}" + (f" -x -a '{values}'" if values else ""))
        lines += [f"{here} -F"] if of.kind else []
        lines += [f"{here} -a '{' '.join(plans())}'"] if of.kind == PLANS else []
        lines += [f"{here} -a '(__mqperf_runs)'"] if of.kind == FOLDERS else []
    return "\n".join(lines) + "\n"


def _groups(known: Mapping[str, Completed]) -> list[str]:
    """The commands that have commands of their own."""
    return [name for name in known if any(other.startswith(f"{name} ") for other in known)]


SHELLS: Mapping[str, Callable[[], str]] = {"bash": bash, "zsh": zsh, "fish": fish}

BASH = Template(
    """\
_mqperf() {
    local rest="${COMP_LINE#* }" at="" words="" options="" kind=""
    case "$$rest" in *" "*) at="$${rest%% *}" rest="$${rest#* }" ;; esac
    case "$$at" in $groups) case "$$rest" in *" "*) at="$$at $${rest%% *}" ;; esac ;; esac
    case "$$at $$3" in
$choices
        *) case "$$at" in
$cases
        esac ;;
    esac
    case "$$2" in -*) words="$$options" kind="" ;; esac
    case "$$kind" in
        plans) words="$$words $plans" ;;
        folders) words="$$words $$(compgen -d -- $runs/)" ;;
    esac
    COMPREPLY=($$(compgen -W "$$words" -- "$$2"))
    case "$$kind" in
        plans|files) COMPREPLY+=($$(compgen -f -- "$$2")) ;;
        folders) COMPREPLY+=($$(compgen -d -- "$$2")) ;;
    esac
}
complete -o filenames -F _mqperf mqperf
""".replace("${COMP_LINE", "$${COMP_LINE")
)

ZSH = """\
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
autoload -Uz bashcompinit && bashcompinit
"""

FISH = Template("""\
function __mqperf_at
    set -l words (commandline -opc)[2..]
    if contains -- "$$argv" '' $groups
        test "$$words" = "$$argv"
    else
        set -l first $$words[1..(count $$argv)]
        test "$$first" = "$$argv"
    end
end
function __mqperf_runs
    set -l folders $runs/*/
    string trim --right --chars / $$folders
end""")
