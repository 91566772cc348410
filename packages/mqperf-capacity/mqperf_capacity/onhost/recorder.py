"""The probe of quotas: counts once a second how often groups of a run had used up their CPU.

It reads the counters of the kernel at whole seconds after the agreed start, hence at both ends of
the measured window, and writes one JSON line per sample::

    {"epoch": ..., "groups": {group: [periods, throttled periods, throttled seconds]},
     "outside": [label, ...]}

``outside`` are the labels of watched processes that are not in the group where they should be.
"""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from mqperf.onhost.probes import sampling
from mqperf_capacity.onhost import cgroups


def main(arguments: Sequence[str] | None = None) -> None:
    """Sample from the agreed start until the load's end."""
    options = sampling.parsed(arguments)
    options.talk.say("ready")
    start = options.talk.wait_for_start()
    with options.out.open("w") as out:
        for _ in sampling.each_second(options.talk, start, options.seconds):
            config = json.loads(options.targets.read_text())
            folder = Path(config["folder"])
            groups = {
                name: cgroups.throttled(folder / name)
                for name in config["groups"]
                if (folder / name).exists()
            }
            outside = [*_outside(folder, config["groups"])]
            line = {"epoch": time.time(), "groups": groups, "outside": outside}
            out.write(json.dumps(line) + "\n")
            out.flush()


def _outside(folder: Path, groups: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Labels of processes that are running, but not in their group."""
    for group, pids in groups.items():
        inside = cgroups.members(folder / group) if (folder / group).exists() else set()
        for label, pid in pids.items():
            if pid not in inside and Path(f"/proc/{pid}").exists():
                yield label


if __name__ == "__main__":
    main()
