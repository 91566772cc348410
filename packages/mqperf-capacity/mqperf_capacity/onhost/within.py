"""Executes a program within control groups: run as a script, before the program's own words.

Its first argument is JSON: a list of groups, each with its folder and what is written into which of
its files.  A group is made if it is not there.  The program is this process: its parent, its id and
its variables stay.
"""

import json
import os
import sys
from pathlib import Path


def main(groups: str, *argv: str) -> None:
    """Enter the groups, and become the program."""
    for folder, files in json.loads(groups):
        Path(folder).mkdir(exist_ok=True)
        for name, text in files.items():
            Path(folder, name).write_text(text)
        Path(folder, "cgroup.procs").write_text(str(os.getpid()))
    os.execvp(argv[0], argv)  # noqa: S606 (no shell is what we want)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except OSError as error:
        sys.exit(f"{error.filename or sys.argv[2]}: {error.strerror}")
