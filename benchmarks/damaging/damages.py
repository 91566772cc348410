"""Damages of recorded runs, as caused by faults of a disk, a person or a program."""

import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from typing_extensions import override

from mqperf.base.errors import MqperfError
from mqperf.record.seal import SEAL, checksums, digest

SAMPLES = Path(__file__).parents[2] / "data/samples/runs"
RUNS = (
    "rabbitmq-cs1ss2-mirrored-rpc-call-t0001-p1-r1-43ef784e",
    "rabbitmq-cmsm-classic-rpc-call-t0005-p1-r1-367280fe",
    "rabbitmq-cs1ss2-mirrored-notify-t0001-p1-r1-248857b5",
    "rabbitmq-cs1ss2-mirrored-rpc-cast-t0001-p1-r1-5f3e6bab",
)
HOLE_BYTES = 2**33

Json = Any
"""A value of JSON, or a key."""

Manner = Literal["stale checksums", "stale seal", "recorded anew"]
MANNERS: tuple[Manner, ...] = ("stale checksums", "stale seal", "recorded anew")

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 3, 10**15, 10**30, 0.5, -0.5, 1e15, 1e308),
    *(float("nan"), float("inf"), float("-inf"), "", "x", "x" * 100_000, "../../x", "/etc/passwd"),
    *([], {}, [1], {"a": 1}, [[]], ["x"] * 1000, "1", "2026-01-01", "\0"),
)


@dataclass(frozen=True)
class Mutation:
    """A kind of damage, its target, and the state of the checksums."""

    kind: str
    target: str
    manner: Manner

    @override
    def __str__(self) -> str:
        return f"{self.kind} of {self.target}, {self.manner}"


def mutate(run: Path, rng: random.Random, manner: Manner) -> Mutation:
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
    kind = rng.choice([*damages, "another value", "a deleted key", "a changed number"])
    target = damages[kind](run, rng)
    make_right(run, manner)
    return Mutation(kind, target, manner)


def make_right(run: Path, manner: Manner) -> None:
    """Update the checksums, if the manner asks for it and ``run.json`` is sound enough."""
    file = run / "run.json"
    if manner == "stale checksums" or not file.is_file() or file.is_symlink():
        return
    if any(path.is_file() and path.stat().st_size >= HOLE_BYTES for path in run.rglob("*")):
        return  # reading such a hole takes long, and it is refused for its size anyway
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
    """Return the files that mqperf reads; other logs are not of interest."""
    return sorted(
        path
        for path in run.rglob("*")
        if path.is_file() and path.suffix in {".json", ".jsonl", ".messages", ".log"}
    )


def _some_file(run: Path, rng: random.Random) -> Path:
    read_most = [path for path in _files(run) if path.suffix != ".log"]
    return rng.choice([*read_most * 4, *_files(run)])


def _name(run: Path, path: Path) -> str:
    return str(path.relative_to(run))


def _places(value: Json, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value in JSON, as keys and indices."""
    if at:
        yield at
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _places(inner, (*at, key))
    if isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _places(inner, (*at, number))


def _json(run: Path, rng: random.Random, change: Callable[[Json, Json], None]) -> str:
    """Change something in a file of JSON, or in one line of JSON lines; most often run.json."""
    files = [path for path in _files(run) if path.suffix in {".json", ".jsonl"}]
    file = rng.choice([run / "run.json"] * len(files) + files)
    lines = file.read_text().splitlines() if file.suffix == ".jsonl" else [file.read_text()]
    number = rng.randrange(len(lines))
    content = json.loads(lines[number])
    places = [at for at in _places(content) if at[:1] != ("files",) or len(at) == 1]
    at = rng.choice(places)
    inner = content
    for key in at[:-1]:
        inner = inner[key]
    change(inner, at[-1])
    lines[number] = json.dumps(content, sort_keys=file.name == "run.json")
    file.write_text("\n".join(lines) + "\n")
    return f"{file.name}: {'.'.join('N' if isinstance(key, int) else str(key) for key in at)}"


def _value(run: Path, rng: random.Random) -> str:
    value = rng.choice(VALUES)

    def change(inner: Json, key: Json) -> None:
        inner[key] = value

    return _json(run, rng, change)


def _deleted(run: Path, rng: random.Random) -> str:
    def change(inner: Json, key: Json) -> None:
        del inner[key]

    return _json(run, rng, change)


def _number(run: Path, rng: random.Random) -> str:
    """Make a number a little larger or smaller, as a bug would."""
    factor = rng.choice([0.5, 0.99, 1.01, 2.0])

    def change(inner: Json, key: Json) -> None:
        old = inner[key]
        if isinstance(old, int) and not isinstance(old, bool):
            inner[key] = old + rng.choice([-1, 1])
        elif isinstance(old, float):
            inner[key] = old * factor
        elif isinstance(old, str):
            inner[key] = old[::-1] + "x"

    return _json(run, rng, change)


def _cut(run: Path, rng: random.Random) -> str:
    file = _some_file(run, rng)
    size = file.stat().st_size
    place = rng.choice([0, 1, size // 3, size // 2, size - 8, size - 2, size - 1])
    os.truncate(file, min(max(0, place), size))
    return _name(run, file)


def _overwritten(file: Path, place: int, content: bytes) -> None:
    with file.open("r+b") as opened:
        opened.seek(place)
        opened.write(content)


def _zeros(run: Path, rng: random.Random) -> str:
    file = _some_file(run, rng)
    size = file.stat().st_size
    place = rng.randrange(size + 1)
    _overwritten(file, place, bytes(min(rng.choice([1, 8, 512]), size - place)))
    return _name(run, file)


def _flipped(run: Path, rng: random.Random) -> str:
    file = _some_file(run, rng)
    content = file.read_bytes()
    if content:
        place = rng.randrange(len(content))
        _overwritten(file, place, bytes([content[place] ^ 1 << rng.randrange(8)]))
    return _name(run, file)


def _byte(run: Path, rng: random.Random) -> str:
    file = _some_file(run, rng)
    _overwritten(file, rng.randrange(file.stat().st_size + 1), rng.randbytes(1))
    return _name(run, file)


def _swapped(run: Path, rng: random.Random) -> str:
    """Replace a file by that of another process, or of another run."""
    file = _some_file(run, rng)
    others = [path for path in _files(run) if path.suffix == file.suffix and path != file]
    others += [SAMPLES / name / _name(run, file) for name in RUNS if name != run.name]
    other = rng.choice(others)
    content = file.read_bytes()
    file.write_bytes(other.read_bytes())
    if other.is_relative_to(run):
        other.write_bytes(content)
    return _name(run, file)


def _removed(run: Path, rng: random.Random) -> str:
    path = rng.choice([*_files(run), run / "load", run / "probes", run / "probes/local"])
    remove(path)
    return _name(run, path)


def _replaced(run: Path, rng: random.Random) -> str:
    """Put a link, a pipe, a folder, a device's link or a huge hole in place of a file or folder."""
    path = rng.choice([*_files(run), run / "load", run / "probes"])
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
    kind = rng.choice(list(makers))
    remove(path)
    makers[kind](path)
    return f"{_name(run, path)}: {kind}"


def _hole(path: Path) -> None:
    path.touch()
    os.truncate(path, HOLE_BYTES)


def _extra(run: Path, rng: random.Random) -> str:
    """Add a file that was not recorded, where files are read."""
    file = _some_file(run, rng)
    names = {
        ".messages": run / "load/client-9.messages",
        ".json": run / "load/client-9.json",
        ".jsonl": run / "probes/elsewhere/psutil.jsonl",
        ".log": run / "broker/node9.log",
    }
    place = names[file.suffix]
    place.parent.mkdir(exist_ok=True)
    makers: list[Callable[[], object]] = [
        lambda: shutil.copy(file, place),
        lambda: os.mkfifo(place),
    ]
    rng.choice(makers)()
    return _name(run, place)


def _repeated(run: Path, rng: random.Random) -> str:
    """Repeat a line of a file, at the same place, at the beginning or at the end."""
    file = rng.choice([path for path in _files(run) if path.suffix in {".jsonl", ".log"}])
    lines = file.read_bytes().splitlines(keepends=True)
    if lines:
        place = rng.randrange(len(lines))
        lines.insert(rng.choice([place, place, 0, len(lines)]), lines[place])
    file.write_bytes(b"".join(lines))
    return _name(run, file)


def remove(path: Path) -> None:
    """Remove a file, link or folder."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
