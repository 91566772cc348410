"""What is sent to other hosts runs there: on a Python with nothing but its standard library."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from mqperf.hosts.remote import payload

SOURCES = payload.sources()


def imported(text: str) -> set[str]:
    """Modules that a text imports when it runs, not those that only its types name."""
    tree = ast.parse(text)
    typing_only = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
    ]
    skipped = {inner for node in typing_only for inner in ast.walk(node)}
    found: set[str] = set()
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = str(node.module)
            names = {f"{module}.{alias.name}" for alias in node.names}
            found |= (
                names
                if module in {"mqperf.base.processes", "mqperf.hosts", "mqperf.hosts.remote"}
                else {module}
            )
    return found


@pytest.mark.parametrize("path", SOURCES)
def test_a_module_imports_the_standard_library_and_what_comes_with_it(path: str) -> None:
    """A new import of something else would fail on the first host."""
    for module in imported(SOURCES[path]):
        sent = f"{module.replace('.', '/')}.py" in SOURCES
        assert sent or module.partition(".")[0] in sys.stdlib_module_names, module


def test_the_agent_runs_without_anything_installed(tmp_path: Path) -> None:
    """It greets, answers, and leaves nothing when its input ends."""
    code = f"import sys; exec(sys.stdin.buffer.read({len(payload.boot())}))"
    argv = [sys.executable, "-I", "-S", "-c", code]
    request = b'{"id": 1, "op": "names", "path": "%s", "bytes": 0}\n' % bytes(tmp_path)
    told = payload.boot() + payload.packed(SOURCES, str(tmp_path / "there"), 10) + request
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        agent.stdin.write(told)
        agent.stdin.flush()
        assert agent.stdout.readline() == b"\n"
        assert agent.stdout.readline().startswith(b"mqperf-agent {")
        answer = json.loads(agent.stdout.readline())
        agent.stdin.close()
        agent.wait()
    assert answer == {"id": 1, "ok": ["there"], "bytes": 0}
    assert list((tmp_path / "there").iterdir()) == []
