"""The tables of the probe: the functions that use CPU, and the stacks in which they are called."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from mqperf.plan.columns import Table, count, share, text
from mqperf.plan.columns.column import cpu
from mqperf_flame.onhost.recorder import HERTZ
from mqperf_flame.record.recorded import Frames
from mqperf_flame.study.profiles import profiles

if TYPE_CHECKING:
    from mqperf.study.tables.of_run import Reading

LEAST = 0.005
"""Share of a process's samples below which a function has no row, and a stack is cut."""

UNKNOWN, OTHERS = "[unknown]", "[others]"
"""The function of a sample without names, and the stack that collects those with few samples."""


def hot_functions(reading: "Reading") -> Iterator[dict[str, Any]]:
    """Yield a row for each function of a process with enough samples, the hottest first."""
    for profile in profiles(reading.run):
        ran, called = by_function(profile.stacks)
        total = profile.samples
        for name, samples in sorted(called.items(), key=lambda each: (-ran[each[0]], -each[1])):
            if samples >= LEAST * total:
                yield {
                    "host": profile.host,
                    "process": profile.process,
                    "function": name,
                    "function_cores": profile.cores(ran[name]),
                    "function_share": ran[name] / total,
                    "function_called_share": samples / total,
                }


def by_function(stacks: Mapping[Frames, int]) -> tuple[Counter[str], Counter[str]]:
    """Return the samples in which each function ran itself, and those with it in the stack."""
    ran: Counter[str] = Counter()
    called: Counter[str] = Counter()
    for frames, samples in stacks.items():
        ran[frames[-1] if frames else UNKNOWN] += samples
        for name in {*frames} or {UNKNOWN}:
            called[name] += samples
    return ran, called


def stacks(reading: "Reading") -> Iterator[dict[str, Any]]:
    """Yield a row for each stack of a process; calls with too few samples end at their caller."""
    for profile in profiles(reading.run):
        process = {"host": profile.host, "process": profile.process}
        for frames, samples in sorted(pruned(profile.stacks, LEAST * profile.samples).items()):
            yield {**process, "stack": ";".join(frames), "stack_samples": samples}


def pruned(stacks: Mapping[Frames, int], least: float) -> Counter[Frames]:
    """Return the stacks, each cut to the outer frames that at least ``least`` samples share."""
    common: Counter[Frames] = Counter()
    for frames, samples in stacks.items():
        for depth in range(1, len(frames) + 1):
            common[frames[:depth]] += samples
    kept: Counter[Frames] = Counter()
    for frames, samples in stacks.items():
        depth = len(frames)
        while depth and common[frames[:depth]] < least:
            depth -= 1
        kept[frames[:depth] or (OTHERS,)] += samples
    return kept


HOT_FUNCTIONS = Table(
    name="hot_functions",
    row="a function of a process of a run, and how much CPU it used in the window",
    own=(
        "host",
        "process",
        text(
            "function",
            "Its name; `_[k]` behind one of the kernel, `_[j]` behind one that Erlang or Java has"
            " compiled while it ran, or of Python; `[file]` where only the file is known.",
            "function",
        ),
        cpu("function_cores", "Cores on which it ran itself.", "CPU of the function"),
        share("function_share", "Share of the process's CPU in which it ran itself.", "itself"),
        share(
            "function_called_share",
            "Share of the process's CPU in which it, or what it called, ran.",
            "with what it calls",
        ),
    ),
    rows=hot_functions,
)

STACKS = Table(
    name="stacks",
    row="a stack of calls of a process of a run, and in how many samples of the window it was",
    own=(
        "host",
        "process",
        text(
            "stack",
            "Its functions, the outermost first, with semicolons between; `[others]` are those"
            " that were seen too rarely.",
            "stack",
        ),
        count("stack_samples", f"Samples in which it was, {HERTZ} in a second of CPU.", unit=""),
    ),
    rows=stacks,
)
