"""Completion for shells: a script with all commands, options and shipped plans in it.

The script starts no program, so that completion does not wait for Python.  It does not know the
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
"""Kinds of a command's arguments: plans by name or file, folders, those of runs first, or files."""

KINDS: Mapping[str, str] = {
    "PLAN": PLANS,
    "[NAME]": PLANS,
    "RUNS": FOLDERS,
    "PATH": FOLDERS,
    "A": FOLDERS,
    "B": FOLDERS,
    "DIR": FOLDERS,
}
"""Metavariable of a command's argument -> its kind; all others are files."""

RUNS = "data/runs"
CHOICES = re.compile(r"[<\[{]([\w.-]+(?:\|[\w.-]+)+)[>\]}]")
"""Pattern of the choices of a value in help texts."""


@dataclass(frozen=True, slots=True)
class Completed:
    """What may follow a command: words, options, an argument's kind, and the choices of options."""

    words: Sequence[str] = ()
    options: Sequence[str] = ()
    kind: str = ""
    choices: Mapping[str, Sequence[str]] = field(default_factory=dict)


def commands() -> dict[str, Completed]:
    """Return completions by command; those of groups have two words, mqperf itself is empty."""
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
    """Return the names of the shipped plans."""
    return sorted(file.stem for file in shipped("plans").glob("*.yaml"))


def bash() -> str:
    """Return a function for bash, and its registration for mqperf."""
    known = commands()
    choices = [
        f'        "{name} {option}") words="{" ".join(values)}" ;;'
        for name, completed in known.items()
        for option, values in completed.choices.items()
    ]
    cases = [
        f'        "{name}") words="{" ".join(completed.words)}"'
        f' options="{" ".join(completed.options)}" kind="{completed.kind}" ;;'
        for name, completed in known.items()
    ]
    return BASH.substitute(
        groups="|".join(_groups(known)),
        choices="\n".join(choices),
        cases="\n".join(cases),
        plans=" ".join(plans()),
        runs=RUNS,
    )


def zsh() -> str:
    """Return bash's script for zsh, which has a module for its completion functions."""
    return ZSH + bash()


def fish() -> str:
    """Return functions and commands for fish."""
    known = commands()
    lines = [FISH.substitute(groups=" ".join(_groups(known)), runs=RUNS), "complete -c mqperf -f"]
    for name, completed in known.items():
        complete = f"complete -c mqperf -n '__mqperf_at {name}'"
        lines += [f"{complete} -a '{' '.join(completed.words)}'"] if completed.words else []
        for option in completed.options:
            values = " ".join(completed.choices.get(option, ()))
            flag = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
            lines.append(f"{complete} {flag}" + (f" -x -a '{values}'" if values else ""))
        lines += [f"{complete} -F"] if completed.kind else []
        lines += [f"{complete} -a '{' '.join(plans())}'"] if completed.kind == PLANS else []
        lines += [f"{complete} -a '(__mqperf_runs)'"] if completed.kind == FOLDERS else []
    return "\n".join(lines) + "\n"


def _groups(known: Mapping[str, Completed]) -> list[str]:
    """Return the commands that have subcommands."""
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
