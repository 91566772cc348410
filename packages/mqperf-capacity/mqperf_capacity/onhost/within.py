"""Executes a program within control groups: a script that is put before the program's command line.

Its first argument is JSON: a list of groups, each with its folder and the texts to write into its
files.  A group is made if it does not exist.  The program replaces this process, and keeps its
parent, id and environment.
"""

import json
import os
import sys
from pathlib import Path


def main(groups: str, *argv: str) -> None:
    """Enter the groups, and execute the program in this process."""
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
