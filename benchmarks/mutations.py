"""What damaged run folders do: no traceback, no hang, and no number that changes in silence.

    ./noxw -s benchmarks -- mutations [COUNT [SEED]]

Copies of recorded runs are damaged in COUNT ways (1200 unless given), each drawn by SEED, and read.
A run must then have the numbers that it had, or be named by a doubt, or not be readable and say
why.  Every damage is done in three manners: the checksums left as they were; those of the files
made right again, but not the seal of ``run.json``; and all of them made right, as by somebody who
records anew.  The last one is judged beside the undamaged runs of its set, and only it may be
silent, for one of the ``REASONS`` why the data cannot show it; such changes are listed.  Every
fiftieth damaged run is read beside a good one, whose numbers must stand, with all doubts.
"""

import json
import os
import random
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from mqperf.base.errors import MqperfError
from mqperf.plan.columns import COLUMNS
from mqperf.record import Run
from mqperf.record.seal import SEAL, checksums, digest
from mqperf.study import tables
from mqperf.study.stats import checks
from mqperf.study.tables.batches import read_attempts

SAMPLES = Path(__file__).parent.parent / "data/samples/runs"
RUNS = (
    "rabbitmq-cs1ss2-mirrored-rpc-call-t0001-p1-r1-43ef784e",
    "rabbitmq-cmsm-classic-rpc-call-t0005-p1-r1-367280fe",
    "rabbitmq-cs1ss2-mirrored-notify-t0001-p1-r1-248857b5",
    "rabbitmq-cs1ss2-mirrored-rpc-cast-t0001-p1-r1-5f3e6bab",
)
TIMEOUT_S = 120
HOLE_BYTES = 2**33
BESIDE = 50
SETS = ("mixed-hosts", "mixed-versions", "overlapping-runs", "copied-run")

Json = Any
"""What JSON may hold, and a key of it."""

Manner = Literal["stale checksums", "stale seal", "recorded anew"]
MANNERS: tuple[Manner, ...] = ("stale checksums", "stale seal", "recorded anew")
Outcome = Literal[
    *("same", "doubt", "unreadable", "not shown"),
    *("SILENT", "TRACEBACK", "HANG", "GOOD RUN CHANGED"),
]
BAD = ("SILENT", "TRACEBACK", "HANG", "GOOD RUN CHANGED")

ABSENT = "a figure or word is gone, and nothing is printed in its place"
TEXT = "a text, no number: no second recording of it"
REASONS: dict[tuple[str, str], str] = {
    ("cpu", "total_cores"): "a counter of one process, within bounds: no second recording of it",
    ("cpu", "sys_cores"): "a counter of one process, within bounds: no second recording of it",
    ("cpu", "start_s"): "the instant of a sample, within bounds: no second recording of it",
    ("cpu", "end_s"): "the instant of a sample, within bounds: no second recording of it",
    ("cpu", "rss_bytes"): "memory of a process during the load: no second recording of it",
    ("network", "sent_bytes_s"): "traffic of a card: no second recording of it",
    ("network", "received_bytes_s"): "traffic of a card: no second recording of it",
    ("network", "speed_bytes_s"): "speed of a card: no second recording of it",
    ("network", "retransmitted_share"): "segments of TCP: no second recording of them",
    ("events", "time_s"): "the instant of an event, between its neighbours: no second recording",
    ("runs", "memory_bytes"): "less than 1 % of the memory, as a restart may change it",
    ("runs", "position"): "the place in the sweep: no second recording of it",
    ("runs", "seed"): "the seed of the order: no second recording of it",
    ("runs", "content"): "a checksum",
}
"""Table and column of a number -> why nothing that was recorded contradicts another value."""

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 3, 10**15, 10**30, 0.5, -0.5, 1e15, 1e308),
    *(float("nan"), float("inf"), float("-inf"), "", "x", "x" * 100_000, "../../x", "/etc/passwd"),
    *([], {}, [1], {"a": 1}, [[]], ["x"] * 1000, "1", "2026-01-01", "\0"),
)


@dataclass(frozen=True)
class Mutation:
    """A kind of damage, what it hit, and how the checksums were left."""

    kind: str
    target: str
    manner: Manner

    def __str__(self) -> str:
        return f"{self.kind} of {self.target}, {self.manner}"


class Hang(BaseException):
    """The reader took too long."""


def main(arguments: list[str]) -> None:
    """Damage, read, count; exit with 1 when something happened that must not."""
    count = int(arguments[0]) if arguments else 1200
    seed = int(arguments[1]) if len(arguments) > 1 else 0
    outcomes: Counter[tuple[Manner, Outcome]] = Counter()
    silent: Counter[str] = Counter()
    wrong = 0
    for mutation, outcome, detail in campaign(count, seed):
        outcomes[mutation.manner, outcome] += 1
        if not outcomes.total() % 100:
            print(f"{outcomes.total()} damages", file=sys.stderr, flush=True)
        if outcome == "not shown":
            silent[detail] += 1
        elif outcome in BAD:
            wrong += 1
            print(f"{outcome}: {mutation}\n{detail}", flush=True)
    for manner in MANNERS:
        counts = {name: n for (of, name), n in sorted(outcomes.items()) if of == manner}
        print(f"{manner:16} {sum(counts.values()):5} damages: {counts}")
    for why, number in silent.most_common():
        print(f"  not shown: {number:4} {why}")
    sys.exit(1 if wrong else 0)


def campaign(count: int, seed: int) -> Iterator[tuple[Mutation, Outcome, str]]:
    """Every damage, what became of it, and the traceback or the numbers that changed."""
    drawn = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="mqperf-mutations-") as scratch:
        folder = Path(scratch)
        for number in range(count):
            name = drawn.choice(RUNS)
            run = folder / name
            shutil.copytree(sealed(folder, name), run)
            mutation = mutate(run, drawn, MANNERS[number % len(MANNERS)])
            beside = number % BESIDE == 0
            outcome, detail = read(run, beside=beside, anew=mutation.manner == "recorded anew")
            yield mutation, outcome, detail
            remove(run)


@cache
def sealed(folder: Path, name: str) -> Path:
    """A copy of a recorded run whose ``run.json`` has a seal, as today's runner writes it."""
    copy = folder / "originals" / name
    shutil.copytree(SAMPLES / name, copy)
    make_right(copy, "recorded anew")
    return copy


@cache
def original(path: Path) -> tuple[dict[str, pd.DataFrame], frozenset[tuple[str, str]]]:
    """The numbers of the undamaged run, and the doubts about it."""
    (attempt,) = read_attempts([Run(path, path.name, "done")])
    frames = {name: frame.copy() for name, frame in attempt.frames.items()}
    return frames, doubts(tables.of_runs([Run(path, path.name, "done")]))


def doubts(frames: dict[str, pd.DataFrame]) -> frozenset[tuple[str, str]]:
    """Kind and text of every doubt about these tables."""
    frame = checks.doubts(frames)
    return frozenset(zip(frame["kind"], frame["text"], strict=True))


def read(path: Path, *, beside: bool, anew: bool) -> tuple[Outcome, str]:
    """Read the damaged run within the time that a hang takes to be one."""

    def too_long(_number: int, _frame: object) -> None:
        raise Hang

    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(TIMEOUT_S)
    try:
        return _read(path, beside=beside, anew=anew)
    except Hang:
        return "HANG", ""
    except Exception:  # noqa: BLE001 (a traceback is what is looked for)
        return "TRACEBACK", traceback.format_exc()
    finally:
        signal.alarm(0)


def _read(path: Path, *, beside: bool, anew: bool) -> tuple[Outcome, str]:
    run = Run(path, path.name, "done")
    whole = path.parent / "originals" / path.name
    frames, known = original(whole)
    if beside and (changed := _good_run_changed(run)):
        return "GOOD RUN CHANGED", changed
    (attempt,) = read_attempts([run])
    if attempt.problem is not None:
        return "unreadable", attempt.problem
    different = dict(_different(frames, dict(attempt.frames)))
    if not different:
        return "same", ""
    if attempt.frames["runs"]["damaged"].notna().any():
        return "doubt", "changed-record"
    return _judged(run, known, different, anew=anew)


def _judged(
    run: Run,
    known: frozenset[tuple[str, str]],
    different: dict[str, str | None],
    *,
    anew: bool,
) -> tuple[Outcome, str]:
    """Whether a doubt names the run, or nothing that was recorded contradicts it."""
    try:
        new = doubts(tables.of_runs([run])) - known
    except MqperfError as error:
        return "unreadable", str(error)
    if new or (anew and _of_another_set(run)):
        return "doubt", ""
    if anew and None not in different.values():
        return "not shown", "; ".join(sorted({str(why) for why in different.values()}))
    return "SILENT", ", ".join(place for place, why in different.items() if why is None)


def _of_another_set(run: Run) -> bool:
    """Whether a doubt says that the run differs from those that were measured with it."""
    others = [sealed(run.path.parent, name) for name in RUNS if name != run.path.name]
    frame = checks.doubts(tables.of_runs([run, *(Run(p, p.name, "done") for p in others)]))
    return bool((frame["run"].eq(run.id) & frame["kind"].isin(SETS)).any())


def _good_run_changed(run: Run) -> str:
    """In which table the numbers of a good run differ for the damaged one beside it."""
    name = next(name for name in RUNS if name != run.path.name)
    good = Run(sealed(run.path.parent, name), name, "done")
    alone = tables.of_runs([good])
    together = tables.of_runs([good, run])
    checks.doubts(together)
    for table, frame in alone.items():
        same = together[table][together[table]["run"] == name].reset_index(drop=True)
        if not same.equals(frame):
            return table
    return ""


def _different(
    before: dict[str, pd.DataFrame], after: dict[str, pd.DataFrame]
) -> Iterator[tuple[str, str | None]]:
    """The columns in which a value differs, and why nothing contradicts it; None if something must.

    Rows that are gone are absent; rows that are added are numbers of their own.
    """
    for name, frame in before.items():
        other = after.get(name, pd.DataFrame())
        if len(frame) != len(other) or list(frame.columns) != list(other.columns):
            yield name, ABSENT if other.empty and name == "network" else None
            continue
        for column in frame:
            unlike = ~(
                frame[column].eq(other[column]) | (frame[column].isna() & other[column].isna())
            )
            if unlike.any():
                yield f"{name}: {column}", _why(name, str(column), other.loc[unlike, column])


def _why(table: str, column: str, now: pd.Series) -> str | None:
    """Why nothing that was recorded contradicts these values."""
    if now.isna().all():
        return ABSENT
    reason = REASONS.get((table, column))
    return TEXT if reason is None and COLUMNS[column].dtype == "string" else reason


# Damages


def mutate(run: Path, drawn: random.Random, manner: Manner) -> Mutation:
    """Damage something in the folder, and leave the checksums as ``manner`` says."""
    damages: dict[str, Callable[[Path, random.Random], str]] = {
        "another value": _value,
        "a deleted key": _deleted,
        "cutting": _cut,
        "zeros": _zeros,
        "a flipped bit": _flipped,
        "another byte": _byte,
        "swapped files": _swapped,
        "a removed file": _removed,
        "something else": _replaced,
        "an extra file": _extra,
        "a repeated line": _repeated,
        "a changed number": _number,
    }
    kind = drawn.choice([*damages, "another value", "a deleted key", "a changed number"])
    target = damages[kind](run, drawn)
    make_right(run, manner)
    return Mutation(kind, target, manner)


def make_right(run: Path, manner: Manner) -> None:
    """The checksums as they are now, if the manner asks for it and ``run.json`` is sound enough."""
    file = run / "run.json"
    if manner == "stale checksums" or not file.is_file() or file.is_symlink():
        return
    if any(path.is_file() and path.stat().st_size >= HOLE_BYTES for path in run.rglob("*")):
        return  # to read a hole from end to end takes long, and it is refused for its size
    try:
        facts = json.loads(file.read_bytes())
        recorded = facts.get("files")
        if isinstance(recorded, dict):
            facts["files"] = checksums(run)
        if manner == "recorded anew":
            facts[SEAL] = digest(facts)
        file.write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n")
    except (ValueError, AttributeError, OSError, MqperfError, RecursionError):
        return


def _files(run: Path) -> list[Path]:
    """All that is read: logs that nobody reads are not of interest."""
    return sorted(
        path
        for path in run.rglob("*")
        if path.is_file() and path.suffix in {".json", ".jsonl", ".messages", ".log"}
    )


def _some_file(run: Path, drawn: random.Random) -> Path:
    read_most = [path for path in _files(run) if path.suffix != ".log"]
    return drawn.choice([*read_most * 4, *_files(run)])


def _name(run: Path, path: Path) -> str:
    return str(path.relative_to(run))


def _places(value: Json, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where values stand in JSON."""
    if at:
        yield at
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _places(inner, (*at, key))
    if isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _places(inner, (*at, number))


def _json(run: Path, drawn: random.Random, change: Callable[[Json, Json], None]) -> str:
    """Change something in a file of JSON, or in one line of JSON lines; most often run.json."""
    files = [path for path in _files(run) if path.suffix in {".json", ".jsonl"}]
    file = drawn.choice([run / "run.json"] * len(files) + files)
    lines = file.read_text().splitlines() if file.suffix == ".jsonl" else [file.read_text()]
    number = drawn.randrange(len(lines))
    content = json.loads(lines[number])
    places = [at for at in _places(content) if at[:1] != ("files",) or len(at) == 1]
    at = drawn.choice(places)
    inner = content
    for key in at[:-1]:
        inner = inner[key]
    change(inner, at[-1])
    lines[number] = json.dumps(content, sort_keys=file.name == "run.json")
    file.write_text("\n".join(lines) + "\n")
    return f"{file.name}: {'.'.join('N' if isinstance(key, int) else str(key) for key in at)}"


def _value(run: Path, drawn: random.Random) -> str:
    value = drawn.choice(VALUES)

    def change(inner: Json, key: Json) -> None:
        inner[key] = value

    return _json(run, drawn, change)


def _deleted(run: Path, drawn: random.Random) -> str:
    def change(inner: Json, key: Json) -> None:
        del inner[key]

    return _json(run, drawn, change)


def _number(run: Path, drawn: random.Random) -> str:
    """A number a little larger or smaller, as a bug would make it."""
    factor = drawn.choice([0.5, 0.99, 1.01, 2.0])

    def change(inner: Json, key: Json) -> None:
        old = inner[key]
        if isinstance(old, int) and not isinstance(old, bool):
            inner[key] = old + drawn.choice([-1, 1])
        elif isinstance(old, float):
            inner[key] = old * factor
        elif isinstance(old, str):
            inner[key] = old[::-1] + "x"

    return _json(run, drawn, change)


def _cut(run: Path, drawn: random.Random) -> str:
    file = _some_file(run, drawn)
    size = file.stat().st_size
    place = drawn.choice([0, 1, size // 3, size // 2, size - 8, size - 2, size - 1])
    os.truncate(file, min(max(0, place), size))
    return _name(run, file)


def _overwritten(file: Path, place: int, content: bytes) -> None:
    with file.open("r+b") as opened:
        opened.seek(place)
        opened.write(content)


def _zeros(run: Path, drawn: random.Random) -> str:
    file = _some_file(run, drawn)
    size = file.stat().st_size
    place = drawn.randrange(size + 1)
    _overwritten(file, place, bytes(min(drawn.choice([1, 8, 512]), size - place)))
    return _name(run, file)


def _flipped(run: Path, drawn: random.Random) -> str:
    file = _some_file(run, drawn)
    content = file.read_bytes()
    if content:
        place = drawn.randrange(len(content))
        _overwritten(file, place, bytes([content[place] ^ 1 << drawn.randrange(8)]))
    return _name(run, file)


def _byte(run: Path, drawn: random.Random) -> str:
    file = _some_file(run, drawn)
    _overwritten(file, drawn.randrange(file.stat().st_size + 1), drawn.randbytes(1))
    return _name(run, file)


def _swapped(run: Path, drawn: random.Random) -> str:
    """A file for one of another process, or of another run."""
    file = _some_file(run, drawn)
    others = [path for path in _files(run) if path.suffix == file.suffix and path != file]
    others += [SAMPLES / name / _name(run, file) for name in RUNS if name != run.name]
    other = drawn.choice(others)
    content = file.read_bytes()
    file.write_bytes(other.read_bytes())
    if other.is_relative_to(run):
        other.write_bytes(content)
    return _name(run, file)


def _removed(run: Path, drawn: random.Random) -> str:
    path = drawn.choice([*_files(run), run / "load", run / "probes", run / "probes/local"])
    remove(path)
    return _name(run, path)


def _replaced(run: Path, drawn: random.Random) -> str:
    """A link, a pipe, a folder, a device's link or a huge hole in the place of a file or folder."""
    path = drawn.choice([*_files(run), run / "load", run / "probes"])
    makers: dict[str, Callable[[Path], object]] = {
        "a link": lambda place: place.symlink_to(SAMPLES / RUNS[0] / "run.json"),
        "a link to nothing": lambda place: place.symlink_to("nowhere"),
        "a link to itself": lambda place: place.symlink_to(place.name),
        "a link to a device": lambda place: place.symlink_to("/dev/zero"),
        "a pipe": os.mkfifo,
        "a folder": Path.mkdir,
        "a hole": _hole,
        "nothing in it": Path.touch,
    }
    kind = drawn.choice(list(makers))
    remove(path)
    makers[kind](path)
    return f"{_name(run, path)}: {kind}"


def _hole(path: Path) -> None:
    path.touch()
    os.truncate(path, HOLE_BYTES)


def _extra(run: Path, drawn: random.Random) -> str:
    """A file that nobody recorded, where files are read."""
    file = _some_file(run, drawn)
    names = {
        ".messages": run / "load/client-9.messages",
        ".json": run / "load/client-9.json",
        ".jsonl": run / "probes/elsewhere/psutil.jsonl",
        ".log": run / "broker/node9.log",
    }
    place = names[file.suffix]
    place.parent.mkdir(exist_ok=True)
    maker = drawn.choice([lambda: shutil.copy(file, place), lambda: os.mkfifo(place)])
    maker()
    return _name(run, place)


def _repeated(run: Path, drawn: random.Random) -> str:
    """A line twice, or two lines the other way round."""
    file = drawn.choice([path for path in _files(run) if path.suffix in {".jsonl", ".log"}])
    lines = file.read_bytes().splitlines(keepends=True)
    if lines:
        place = drawn.randrange(len(lines))
        lines.insert(drawn.choice([place, place, 0, len(lines)]), lines[place])
    file.write_bytes(b"".join(lines))
    return _name(run, file)


def remove(path: Path) -> None:
    """Whatever it is."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


if __name__ == "__main__":
    main(sys.argv[1:])
