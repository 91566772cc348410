"""The developer's manual, in the form of commands: ./noxw --list names them.

All sessions work in one environment, .venv, which is built from requirements/dev.txt with mqperf
and everything under packages/ installed in place. It is built once, and again only when its
ingredients change.
"""

import atexit
import hashlib
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nox

nox.options.sessions = []  # ./noxw alone runs nothing: it lists what there is to run
nox.options.default_venv_backend = "none"

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Some container images set it; every program started here would compile all that it imports.

ROOT = Path(__file__).parent
VENV = ROOT / ".venv"
LOCK = Path("requirements/dev.txt")
LOAD_LOCKS = "**/lab/**/locks/*.in"
CORES = os.cpu_count() or 1
TODAY = int(time.time() // 86400)
"""The number of the day: what is too long for every day alternates by it."""

WAITING = min(5, CORES + 2)
"""Processes for all tests: two more than cores, as many tests wait; limited by brokers' memory."""


def side_by_side(processes: int) -> tuple[str, ...]:
    """Return pytest's options by which processes share the tests; each runs whole files."""
    return (f"--numprocesses={processes}", "--no-loadscope-reorder")


# What a user runs


@nox.session
def quickstart(session: nox.Session) -> None:
    """Measure a plan and publish it: plans/quickstart.yaml, or the one named after --."""
    environment(session)
    plan = Path(session.posargs[0] if session.posargs else "plans/quickstart.yaml")
    runs, report = Path("data/runs", plan.stem), Path("reports", plan.stem)
    try:
        run(session, "mqperf", "run", plan)
    except nox.command.CommandFailed:
        if any(runs.glob("*/run.json")):  # what was measured is published all the same
            publish(session, runs, report)
        raise
    publish(session, runs, report)


@nox.session
def lab(session: nox.Session) -> None:
    """Open the project in JupyterLab, on this machine only; options follow --."""
    environment(session)
    root = ["--allow-root"] if os.geteuid() == 0 else []
    first = "--LabApp.default_url=/lab/tree/notebooks/thread_sweep.ipynb"
    run(session, "jupyter", "lab", "--ip=127.0.0.1", first, *root, *session.posargs)


@nox.session
def wheels(session: nox.Session) -> None:
    """Build the wheels of mqperf and of all its packages into dist/, to install them elsewhere."""
    environment(session)
    for project in (Path("pyproject.toml"), *sorted(Path("packages").glob("*/pyproject.toml"))):
        options = "--quiet --wheel --no-build-isolation --out-dir dist --python".split()
        session.run("uv", "build", *options, VENV, project.parent)


# What a developer runs


@nox.session
def tests(session: nox.Session) -> None:
    """Check everything: lint, types and docs, then the tests.

    Of the long ones, in tests/long_tests.py, each day runs a part; -- --day all runs all.
    """
    lint(session)
    with ThreadPoolExecutor() as pool:
        for check in [pool.submit(step, session) for step in (types, docs, collected)]:
            check.result()
    pytest(session, "tests", "--complete", f"--day={TODAY}", *side_by_side(WAITING))


@nox.session
def quick(session: nox.Session) -> None:
    """Run in a minute tests that start no program and read few records; options follow --."""
    pytest(
        session, "tests/unit", "-m", "not starts_programs and not takes_long", *side_by_side(CORES)
    )


@nox.session
def fresh(session: nox.Session) -> None:
    """Run the first command of the README, with a small plan, on a fresh Debian; as root.

    Suites follow --, such as bookworm; without any, Debian 13 and its successor alternate daily.
    """
    if os.geteuid() != 0:
        session.skip("only root can make the folder of another Debian")
    if shutil.which("debootstrap") is None:
        session.skip("debootstrap is missing: apt-get install debootstrap")
    if subprocess.run(["unshare", "--mount", "true"], check=False).returncode:
        session.skip("namespaces of mounts are forbidden here")
    first = "./noxw -s quickstart -- plans/smoke.yaml".split()
    in_turn = ("trixie", "forky")[TODAY % 2]
    for suite in session.posargs or [in_turn]:
        session.run("tests/fresh/debian", suite, *first, external=True)


@nox.session
def lint(session: nox.Session) -> None:
    """Check the style with ruff: -- --fix repairs what it can."""
    environment(session)
    repair = "--fix" in session.posargs
    run(session, "ruff", "check", "--fix" if repair else "--no-fix")
    run(session, "ruff", "format", *([] if repair else ["--diff"]))


@nox.session
def types(session: nox.Session) -> None:
    """Check the type hints with mypy."""
    environment(session)
    run(session, "mypy")
    run(session, "mypy", "--explicit-package-bases", "benchmarks")  # scripts side by side


@nox.session
def unit(session: nox.Session) -> None:
    """Test without broker and network; pytest's options follow --."""
    pytest(session, "tests/unit")


@nox.session
def integration(session: nox.Session) -> None:
    """Test with real brokers, private to the tests."""
    pytest(session, "tests/integration", "--complete")


@nox.session
def notebooks(session: nox.Session) -> None:
    """Run every notebook, through papermill, on data/samples."""
    pytest(session, "tests/notebooks")


@nox.session
def docs(session: nox.Session) -> None:
    """Build docs/ into docs/_build/html; a warning is an error."""
    environment(session)
    run(session, "sphinx-build", "-q", "-W", "--keep-going", "docs", "docs/_build/html")


@nox.session
def benchmarks(session: nox.Session) -> None:
    """Measure mqperf itself: every script in benchmarks/, or the one named after --."""
    scripts = {script.stem: script for script in sorted(Path("benchmarks").glob("*.py"))}
    name, *arguments = session.posargs or [""]
    if name and Path(name).stem not in scripts:
        session.error(f"no benchmark {name!r}; there are: {', '.join(scripts)}")
    environment(session)
    for script in [scripts[Path(name).stem]] if name else scripts.values():
        run(session, "python", script, *arguments)


@nox.session
def lock(session: nox.Session) -> None:
    """Renew the locked requirements of mqperf, .tool, the load generators and Ansible."""
    renew(session, LOCK, "pyproject.toml", "--all-extras", "--group", "dev")
    locks = [file for top in ("mqperf", "packages") for file in sorted(Path(top).glob(LOAD_LOCKS))]
    others = *locks, Path("mqperf/hosts/ansible/locks/ansible.in")
    for requirements in Path("requirements/tool.in"), *others:
        renew(session, requirements.with_suffix(".txt"), requirements)


# How they do it


def run(session: nox.Session, tool: str, *arguments: str | Path) -> None:
    """Run a tool of .venv."""
    session.run(VENV / "bin" / tool, *arguments)


def pytest(session: nox.Session, *arguments: str) -> None:
    """Run pytest; its exit code is the session's."""
    environment(session)
    run(session, "pytest", *arguments, *session.posargs)


def collected(session: nox.Session) -> None:
    """Collect all tests, so that Python compiles once what parallel processes import later."""
    environment(session)
    session.run(VENV / "bin" / "pytest", "tests", "--collect-only", "-qq", silent=True)


def environment(session: nox.Session) -> None:
    """Build .venv with exactly the locked packages, unless it is up to date."""
    projects = [Path("pyproject.toml"), *sorted(Path("packages").glob("*/pyproject.toml"))]
    files = b"".join(file.read_bytes() for file in (LOCK, *projects))
    digest = hashlib.sha256(files + f"{VENV} {sys.version}".encode()).hexdigest()
    stamp = VENV / "built-from"
    if stamp.exists() and stamp.read_text() == digest:
        return
    into = ("--quiet", "--python", VENV)
    session.run("uv", "venv", "--quiet", "--clear", "--python", sys.executable, VENV)
    in_place = [argument for file in projects for argument in ("-e", file.parent)]
    # Byte code is left to the first import: compiling all of it takes three times as long.
    session.run("uv", "pip", "sync", *into, "--require-hashes", LOCK)
    session.run("uv", "pip", "install", *into, "--no-deps", "--no-build-isolation", *in_place)
    stamp.write_text(digest)
    if shutil.which("git"):
        # In a fresh clone, git would read all files in every check for changes.
        subprocess.run(["git", "update-index", "-q", "--refresh"], check=False, capture_output=True)


def publish(session: nox.Session, runs: Path, report: Path) -> None:
    """Publish runs, and print the page to open as the last line, after nox's own."""
    run(session, "mqperf", "report", runs, "--out", report)
    atexit.register(print, ROOT / report / "html" / "index.html")


def renew(session: nox.Session, lock: Path, *source: str | Path) -> None:
    """Resolve again, for every platform, with hashes and without the name of any package index."""
    options = "--quiet --upgrade --universal --generate-hashes --no-emit-index-url".split()
    options += "--no-annotate --no-header --python-version 3.11".split()
    session.run("uv", "pip", "compile", *options, *source, "--output-file", lock)
