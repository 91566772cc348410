"""The program of the replaying generator: one process of a run.

It writes the messages of a recorded process again, moved to the agreed start and scaled to the
duration of the load.  It uses only the standard library.
"""

import argparse
import json
import signal
import sys
import time
from array import array
from pathlib import Path
from typing import Any

POLL_S = 0.02

Header = dict[str, Any]


def main() -> None:
    """Report ready, wait for the start, play, and write the messages."""
    options = _options()
    if options.fault == "start":
        sys.exit("a fault at the start")
    _report(options, "ready")
    start = _agreed(options.control)
    if options.fault == "load":
        time.sleep(max(0.0, start + 0.5 - time.time()))
        sys.exit("a fault under load")
    header, columns = _recorded(options.sample, options.thinning)
    speed = options.recorded / options.seconds
    played = [
        array("d", (start + (at - options.first) / speed for at in column)) for column in columns
    ]
    _wait(options, start)
    if options.fault == "silence":
        signal.pause()
    if options.fault == "refusal":
        played = _refused(header, played[0])
    if options.kind == "server":
        _report(options, "count", str(len(played[0])))
        _await(options.control / "stop")
    _write(options, header, played, start)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    for name in ("label", "kind", "test-case", "fault"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("control", "out", "sample"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--thinning", type=int, required=True)
    for name in ("seconds", "recorded", "first"):
        parser.add_argument(f"--{name}", type=float, required=True)
    return parser.parse_args()


def _report(options: argparse.Namespace, topic: str, text: str = "") -> None:
    draft = options.control / f"{options.label}.{topic}-draft"
    draft.write_text(text)
    draft.rename(options.control / f"{options.label}.{topic}")


def _agreed(control: Path) -> float:
    _await(control / "start")
    return float(json.loads((control / "start").read_text())["start"])


def _await(file: Path) -> None:
    while not file.exists():
        time.sleep(POLL_S)


def _wait(options: argparse.Namespace, start: float) -> None:
    """Clients end with the load, servers at the stop file."""
    if options.kind == "client":
        time.sleep(max(0.0, start + options.seconds - time.time()))


def _recorded(sample: Path, thinning: int) -> "tuple[Header, list[array[float]]]":
    """The recorded messages, thinned by their start, so that all processes keep the same ones."""
    with sample.open("rb") as file:
        header = json.loads(file.readline())
        columns = []
        for stream in header["streams"]:
            arrays = [array("d") for _ in stream["columns"]]
            for column in arrays:
                column.fromfile(file, stream["count"])
            kept = [at for at, start in enumerate(arrays[0]) if int(start * 1e6) % thinning == 0]
            columns += [array("d", (column[at] for at in kept)) for column in arrays]
            stream["count"] = len(kept)
    return header, columns


def _refused(header: Header, attempts: "array[float]") -> "list[array[float]]":
    """The streams of a load that is refused: each attempt ends at once with an error."""
    columns = []
    for stream in header["streams"]:
        column = attempts if stream["name"] in {"sent", "error"} else array("d")
        stream["count"] = len(column)
        columns += [column] * len(stream["columns"])
    return columns


def _write(
    options: argparse.Namespace, header: Header, columns: "list[array[float]]", start: float
) -> None:
    fields = {"label": options.label, "test_case": options.test_case}
    if options.kind == "client":
        fields["start"] = start
    with (options.out / f"{options.label}.messages").open("wb") as file:
        file.write(json.dumps(header | fields).encode() + b"\n")
        for column in columns:
            column.tofile(file)


if __name__ == "__main__":
    main()
