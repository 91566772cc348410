"""The bootstrap program on a host: unpacks the agent, which comes on standard input, and starts it.

It does not import mqperf: its text is passed to a bare Python.  The agent's files are in a private
folder that is removed when it ends.
"""

import fcntl
import json
import os
import shutil
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

NAME = "mqperf-agent-"


def boot(order: dict[str, Any]) -> None:
    """Unpack the agent and run it; if that fails, answer with an error in its place."""
    try:
        base = place(order["folder"])
        folder = unpack(base, order["files"])
    except OSError as error:
        refuse(f"{error.filename or 'temporary files'}: {error.strerror}")
        return
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True
    from mqperf.onhost.agent import agent

    agent.main(folder, order["lease_s"])


def place(folder: str | None) -> Path:
    """Return the folder for temporary files, from which programs must be allowed to run."""
    if folder:
        chosen = Path(folder).expanduser()
        chosen.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.environ["TMPDIR"] = tempfile.tempdir = str(chosen)
    base = tempfile.gettempdir()
    if os.statvfs(base).f_flag & os.ST_NOEXEC:
        raise OSError(0, "it is mounted noexec, so that no program could run there", base)
    return Path(base)


def unpack(base: Path, files: dict[str, str]) -> Path:
    """Write the files into a new folder; its lock shows that its owner is alive."""
    folder = Path(tempfile.mkdtemp(prefix=f".{NAME}", dir=base))
    try:
        fcntl.flock(os.open(folder, os.O_RDONLY), fcntl.LOCK_EX)
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        return folder.rename(base / folder.name.removeprefix("."))
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def refuse(reason: str) -> None:
    """Print one line with the reason why no agent starts."""
    answer = json.dumps({"error": reason, "bytes": 0})
    sys.stdout.write(f"\nmqperf-agent {answer}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    boot(json.loads(zlib.decompress(sys.stdin.buffer.read(int(sys.stdin.buffer.readline())))))
