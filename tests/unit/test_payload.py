"""What is sent to other hosts runs there: on a Python with nothing but its standard library."""

import json
import subprocess
import sys
from pathlib import Path

from mqperf.hosts.remote import payload

SOURCES = payload.sources()


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
