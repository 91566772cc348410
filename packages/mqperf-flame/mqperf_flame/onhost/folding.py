"""What ``perf script`` prints, as folded stacks: a line for each stack with its number of samples.

The form is that of ``stackcollapse-perf.pl`` of FlameGraph: frames from the outermost to the one
that ran, separated by semicolons, then a blank and the count.  Names end with ``_[k]`` in the
kernel, and with ``_[j]`` in code that an Erlang, Java or Python has made.  What has no name is
called by the file that it is in, ``[beam.smp]``.  No address, path, thread or process id is left.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import PurePath

FIELDS = "pid,tid,time,period,ip,sym,dso"
"""What ``perf script`` is asked for."""

SAMPLE = re.compile(r"^ *(\d+)/\d+ +(\d+\.\d+): +(\d+) *$")
FRAME = re.compile(r"^\s+([0-9a-f]+) (.*) \((.*)\)$")
MAP = re.compile(r"perf-\d+\.map$")
METHOD = re.compile(r"\S+ ([\w.$<>]+)\(.*\)")
"""What Java names: type, method, types of its arguments."""

FUNCTION = re.compile(r"(py::.+):(/.*)")
"""What Python names, from 3.12 on: qualified name and file."""

PROLOGUE = "-CodeInfoPrologue"
"""What Erlang 27 calls the part of a function before its first instruction."""

KERNEL = 1 << 63
"""From this address on it is the kernel's."""

UNNAMED = "[unknown]"
LONGEST = 200
"""Characters of a name."""

Stack = tuple[int, str, tuple[str, ...]]
"""Second, label of the process, frames from the outermost on."""


def folded(
    lines: Iterable[str], labels: dict[int, str], second: Callable[[float], int]
) -> Counter[Stack]:
    """How often each stack was seen: of processes with a label, in seconds from 0 on."""
    counts: Counter[Stack] = Counter()
    for pid, time, frames in _samples(lines):
        if pid in labels and (number := second(time)) >= 0:
            counts[number, labels[pid], tuple(_stack(frames))] += 1
    return counts


def written(counts: Counter[Stack]) -> Iterator[str]:
    """The lines, in order: second and label come before the frames."""
    for (second, label, frames), count in sorted(counts.items()):
        yield f"{';'.join((str(second), _clean(label), *frames))} {count}\n"


def _samples(lines: Iterable[str]) -> Iterator[tuple[int, float, list[str]]]:
    """Process, instant, and lines of frames, the one that ran first."""
    head: re.Match[str] | None = None
    frames: list[str] = []
    for line in chain(lines, ["0/0 0.0: 0"]):  # ends the last one
        if (match := SAMPLE.match(line)) is None:
            frames.append(line)
            continue
        if head is not None:
            yield int(head[1]), float(head[2]), frames
        head, frames = match, []


def _stack(lines: Iterable[str]) -> Iterator[str]:
    """The names of a stack; those without a name that follow one another are one."""
    before = ""
    for line in reversed([*lines]):
        if (frame := FRAME.match(line)) is None:
            continue
        name = _name(int(frame[1], 16), frame[2], frame[3].removesuffix(" (deleted)"))
        if name and not (name == before and name.startswith("[")):
            yield name
            before = name


def _name(address: int, symbol: str, file: str) -> str:
    """What a frame is called; nothing where neither name nor file is known."""
    if address >= KERNEL:
        return ("[kernel]" if symbol == UNNAMED else _clean(symbol)) + "_[k]"
    if symbol == UNNAMED:
        place = PurePath(file).name
        return "" if place in {"", UNNAMED} else f"[{_clean(place).strip('[]')}]"
    return _clean(_made(symbol)) + "_[j]" if MAP.search(file) else _clean(symbol)


def _made(symbol: str) -> str:
    """What code is called that an Erlang, Java or Python has made."""
    if of_java := METHOD.fullmatch(symbol):
        return of_java[1]
    if of_python := FUNCTION.fullmatch(symbol):
        return f"{of_python[1]}:{PurePath(of_python[2]).name}"
    return symbol.removeprefix("$").removeprefix("global::").removesuffix(PROLOGUE)


def _clean(name: str) -> str:
    """A name that is no two, on one line."""
    shown = "".join(each if each.isprintable() else "?" for each in name)
    return shown.replace(";", ":")[:LONGEST]
