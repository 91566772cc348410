"""Keeps the folder of all groups of a run for as long as this program runs.

Its argument is a JSON list of the resources that are limited.  It prints the folders as one line
of JSON, ``{"ready": [[controller, version, folder], ...]}``, or ``{"error": reason}``.  The folders
are removed when it ends; if it is killed, by reapers as soon as the kernel releases the locks of
the folders.  No folder survives a restart of the machine.
"""

import json
import re
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from mqperf.onhost.errors import HostError
from mqperf.onhost.processes import scratch
from mqperf_capacity.onhost import cgroups

if TYPE_CHECKING:
    from pathlib import Path

PREFIX = "mqperf-quotas"


def main(resources: str) -> None:
    """Make the folders, and stay until SIGTERM."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with ExitStack() as stack:
        try:
            made = [
                (place.controller, place.version, str(place.folder))
                for place in made_in(stack, set(json.loads(resources)))
            ]
        except (OSError, HostError) as error:
            print(json.dumps({"error": _reason(error)}), flush=True)
            sys.exit(1)
        print(json.dumps({"ready": made}), flush=True)
        while True:
            time.sleep(3600)


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def made_in(stack: ExitStack, resources: set[str]) -> Iterator[cgroups.GroupRoot]:
    """Make a folder in each hierarchy, for all of its controllers, until ``stack`` closes."""
    folders: dict[Path, Path] = {}
    for place in cgroups.places(resources):
        root = place.folder
        if root not in folders:
            scratch.sweep(root, re.compile(PREFIX + scratch.RANDOM))
            folders[root] = stack.enter_context(scratch.owned(root, PREFIX))
        for folder in (root, folders[root]):
            cgroups.enable(place, folder)
        yield replace(place, folder=folders[root])


if __name__ == "__main__":
    main(sys.argv[1])
