"""A folder of runs, or of published tables, as a report: notebooks executed, then all built."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import repeat
from pathlib import Path

from mqperf import guarded, stats, tables
from mqperf.errors import ReportError
from mqperf.report import executed
from mqperf.report.build import build

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def publish(path: Path, out: Path, *, notebooks: bool = True) -> Path:
    """Write the report on ``path`` into ``out``, and give the page to open first.

    With ``notebooks`` they are executed on the same folder and linked; they measure nothing.
    Raises ``ReportError`` when one fails, or there is nothing to report.
    """
    frames = stats.complete(tables.read(path))
    with _executed(path if notebooks else None) as copies:
        return build(frames, out, title=tables.title(path), notebooks=copies)


@contextmanager
def _executed(path: Path | None) -> Iterator[list[Path]]:
    if path is None:
        yield []
        return
    with guarded.scratch("notebooks") as folder:
        yield execute(path, folder)


def execute(path: Path, folder: Path) -> list[Path]:
    """The notebooks that fit ``path``, executed on it into ``folder``, as many at once as cores.

    They get ``path`` as it was given, so that what they show names no other folder.
    """
    if not NOTEBOOKS.is_dir():
        raise ReportError(f"{NOTEBOOKS}: no notebooks here; give --no-notebooks")
    parameters: dict[str, Mapping[str, object]] = {
        "node_cpu": {"runs": str(path)},
        "report": {"runs": str(path), "out": ""},
    }
    if (plan := path / "plan.yaml").exists():
        sweep = {"plan": str(plan), "runs": str(path), "run_pending": False}
        parameters = {"thread_sweep": sweep, **parameters}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        names, values = parameters.keys(), parameters.values()
        return list(pool.map(_execute, names, values, repeat(folder)))


def _execute(name: str, parameters: Mapping[str, object], folder: Path) -> Path:
    """Execute a notebook in a process of its own, whose end its kernel does not outlive."""
    copy = folder / f"{name}.ipynb"
    argv = [sys.executable, "-P", executed.__file__, str(NOTEBOOKS / copy.name), str(copy)]
    # Files by which a kernel is found belong into the folder that vanishes, too.
    env = {**os.environ, "JUPYTER_RUNTIME_DIR": str(folder / "runtime")}
    done = guarded.run([*argv, json.dumps(parameters)], env=env)
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"ended with exit code {done.returncode}"]
        raise ReportError(f"notebook {name}: {said[-1]}")
    _forget_folders(copy)
    return copy


def _forget_folders(notebook: Path) -> None:
    """Keep only the names of files in what papermill notes: a report names no folder of ours."""
    content = json.loads(notebook.read_text(encoding="utf-8"))
    noted = content["metadata"]["papermill"]
    noted |= {key: Path(noted[key]).name for key in ("input_path", "output_path")}
    notebook.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
