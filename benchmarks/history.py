"""The same load measured by commits of mqperf itself, and how its figures went over them.

    ./noxw -s benchmarks -- history [FOLDER COMMIT COMMIT...]

For each commit a folder of runs in FOLDER, named by its day and itself; what is there already is
not measured again.  Then the trend is in FOLDER-trend.  Commits run with the libraries of today.
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
    places = [Path(out) / label(commit) for commit in commits]
    for commit, place in zip(commits, places, strict=True):
        print(f"{place.name}:", flush=True)
        measure(commit, place.absolute())
    command = [*MQPERF, "trend", *map(str, places), "--out", f"{Path(out)}-trend"]
    subprocess.run(command, check=True)


def label(commit: str) -> str:
    """The day of a commit, and its short name."""
    form = ["--no-patch", "--date=short", "--format=%cd-%h", "--abbrev=7"]
    return git(ROOT, "show", *form, commit).strip()


def measure(commit: str, place: Path) -> None:
    """Run the plan with a clone of that commit."""
    with tempfile.TemporaryDirectory(prefix="mqperf-history-") as name:
        clone = Path(name)
        git(ROOT, "clone", "--quiet", "--shared", "--no-checkout", str(ROOT), name)
        git(clone, "checkout", "--quiet", "--detach", git(ROOT, "rev-parse", commit).strip())
        env = {**os.environ, "PYTHONPATH": name, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [*MQPERF, "run", str(PLAN), "--runs", str(place)]
        subprocess.run(command, check=True, cwd=name, env=env)


def git(folder: Path, *words: str) -> str:
    """What git says."""
    done = subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True, text=True)
    return done.stdout


if __name__ == "__main__":
    main(sys.argv[1:])
