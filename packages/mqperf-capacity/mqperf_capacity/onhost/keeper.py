"""The folder of all groups of a run, for as long as this program runs.

Its argument is a JSON list of the resources that are limited.  It prints what it has made as one
line of JSON, ``{"ready": [[controller, version, folder], ...]}``, or ``{"error": reason}``.  The
folders are removed when it ends; if it is killed, by reapers as soon as the kernel lets go of the
folders' locks.  Those of keepers that died with the machine's power are gone with it.
"""

import json
import re
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from mqperf.onhost.errors import HostError
from mqperf.onhost.processes import scratch
from mqperf_capacity.onhost import cgroups

PREFIX = "mqperf-quotas"


def main(resources: str) -> None:
    """Make the folders, and stay until SIGTERM."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with ExitStack() as held:
        try:
            made = [
                (place.controller, place.version, str(held.enter_context(_folder(place))))
                for place in cgroups.places(set(json.loads(resources)))
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


@contextmanager
def _folder(place: cgroups.Place) -> Iterator[Path]:
    cgroups.enable(place, place.folder)
    scratch.sweep(place.folder, re.compile(PREFIX + scratch.RANDOM))
    with scratch.owned(place.folder, PREFIX) as folder:
        cgroups.enable(place, folder)
        yield folder


if __name__ == "__main__":
    main(sys.argv[1])
