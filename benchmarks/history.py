"""The same load measured by several commits of mqperf, and the trend of its figures.

    ./noxw -s benchmarks -- history [FOLDER COMMIT COMMIT...]

Each commit has a folder of runs in FOLDER, named by its day and hash; existing runs are not
measured again.  The trend is written to FOLDER-trend.  Commits run with the libraries of today.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLAN = Path(__file__).with_suffix(".yaml")
DEFAULT = ("data/runs/history", "HEAD~20", "HEAD~10", "HEAD")
MQPERF = (sys.executable, "-c", "from mqperf.front.cli import main; main()")


def main(arguments: list[str]) -> None:
    """Measure every commit, and publish their trend."""
    out, *commits = arguments or DEFAULT
    folders = [Path(out) / label(commit) for commit in commits]
    for commit, folder in zip(commits, folders, strict=True):
        print(f"{folder.name}:", flush=True)
        measure(commit, folder.absolute())
    command = [*MQPERF, "trend", *map(str, folders), "--out", f"{Path(out)}-trend"]
    subprocess.run(command, check=True)


def label(commit: str) -> str:
    """Return the day and the short hash of a commit."""
    form = ["--no-patch", "--date=short", "--format=%cd-%h", "--abbrev=7"]
    return git(ROOT, "show", *form, commit).strip()


def measure(commit: str, runs: Path) -> None:
    """Run the plan with a clone of the commit."""
    with tempfile.TemporaryDirectory(prefix="mqperf-history-") as name:
        clone = Path(name)
        git(ROOT, "clone", "--quiet", "--shared", "--no-checkout", str(ROOT), name)
        git(clone, "checkout", "--quiet", "--detach", git(ROOT, "rev-parse", commit).strip())
        env = {**os.environ, "PYTHONPATH": name, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [*MQPERF, "run", str(PLAN), "--runs", str(runs)]
        subprocess.run(command, check=True, cwd=name, env=env)


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder; return its output."""
    argv = ["git", "-C", str(folder), *arguments]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main(sys.argv[1:])
