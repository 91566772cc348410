"""The agent for other hosts runs with only Python's standard library."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mqperf.hosts.place import Place
from mqperf.hosts.remote import payload, ssh

pytestmark = pytest.mark.starts_programs

SOURCES = payload.sources()


HOSTILE = (
    "python3; touch ran",
    "$(touch ran)",
    "`touch ran`",
    "a' || touch ran; '",
    'a" && touch ran',
)


@pytest.mark.parametrize(
    "name", [*HOSTILE, "python3\ntouch ran", "-c 'touch ran'", "*", "a b;'\"$(x)é"]
)
def test_an_interpreter_is_a_name_and_no_text_of_a_shell(tmp_path: Path, name: str) -> None:
    """Shells on the way, as sshd starts them, run the program of this name and nothing else."""
    boot = b"print('started')"
    *_, script = ssh.command(Place("h1", "192.0.2.1", python=name), boot)
    done = sh(script, boot, tmp_path)
    assert (done.returncode, done.stdout) == (1, b"")
    assert ssh.refusal(Place("h1", "192.0.2.1"), done.stderr.decode(), 1).startswith("it has no Py")
    if not name.startswith("-"):
        (tmp_path / name).symlink_to(sys.executable)
        assert sh(script, boot, tmp_path).stdout == b"started\n"
    assert not (tmp_path / "ran").exists()


def sh(script: str, stdin: bytes, folder: Path) -> "subprocess.CompletedProcess[bytes]":
    """Runs a script in a folder, which is also on the PATH."""
    env = {"PATH": f"{folder}:/usr/bin:/bin"}
    argv = ["/bin/sh", "-c", script]
    return subprocess.run(argv, input=stdin, cwd=folder, env=env, capture_output=True, check=False)


def test_the_agent_runs_without_anything_installed(tmp_path: Path) -> None:
    """It greets, answers, and leaves no file, whatever the name of its folder."""
    folder = tmp_path / "a b;'\"$(touch ran)`touch ran`"
    code = f"import sys; exec(sys.stdin.buffer.read({len(payload.boot())}))"
    argv = [sys.executable, "-I", "-S", "-c", code]
    request = b'{"id": 1, "op": "names", "path": "%s", "bytes": 0}\n' % bytes(tmp_path)
    content = payload.boot() + payload.packed(SOURCES, str(folder), 10) + request
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        agent.stdin.write(content)
        agent.stdin.flush()
        assert agent.stdout.readline() == b"\n"
        assert agent.stdout.readline().startswith(b"mqperf-agent {")
        answer = json.loads(agent.stdout.readline())
        agent.stdin.close()
        agent.wait()
    assert answer == {"id": 1, "ok": [folder.name], "bytes": 0}
    assert list(folder.iterdir()) == []
