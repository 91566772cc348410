"""The operations of an agent, one method each."""

import os
import shutil
import signal
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from mqperf.onhost.errors import HostError
from mqperf.onhost.machine import facts, files, ports, proc
from mqperf.onhost.machine.kernel_clock import kernel_clock
from mqperf.onhost.machine.platforms import here
from mqperf.onhost.processes.child_handle import ChildHandle, logged
from mqperf.onhost.processes.completed import completed
from mqperf.onhost.processes.scratch import scratch


class Operations:
    """The processes, folders and ports of a host that its controller holds.

    Arguments and results are JSON data; content of files is bytes.  Raises ``HostError`` or
    ``OSError`` when the host refuses.
    """

    def __init__(self) -> None:
        """Start without any of these."""
        self._handles: dict[int, ChildHandle] = {}
        self._held: dict[str, ExitStack] = {}

    def hello(self) -> dict[str, Any]:
        """Describe this agent and its platform."""
        platform = here()
        return {
            "pid": os.getpid(),
            "python": sys.executable,
            "platform": [platform.python, platform.machine, platform.libc],
            "path": self._path(),
            # client's address and port, then this host's: the third is how it was reached
            "address": os.environ.get("SSH_CONNECTION", "").split(" ")[2:3],
        }

    def start(
        self, label: str, argv: list[str], env: dict[str, str] | None, log: str, cwd: str | None
    ) -> int:
        """Start a process with its output appended to ``log``; return its pid."""
        handle = logged(label, argv, env, Path(log), Path(cwd) if cwd else None)
        self._handles[handle.pid] = handle
        return handle.pid

    def run(self, argv: list[str], env: dict[str, str] | None, limit_s: float) -> list[int | str]:
        """Run a command to its end; return its exit code and both outputs."""
        return [*completed(argv, env, None, limit_s)]

    def poll(self, pid: int) -> int | None:
        """Return the exit code of a process; None while it runs."""
        return self._handles[pid].wait()

    def stop(self, pid: int, grace_s: float) -> int:
        """End a process and all that it started; return its exit code."""
        return self._handles[pid].stop(grace_s)

    def signal(self, pid: int, number: int) -> None:
        """Send a signal to a process."""
        self._handles[pid].signal(signal.Signals(number))

    def signal_tree(self, pid: int, number: int, last_first: bool) -> None:  # noqa: FBT001
        """Send a signal to a process and all that it started."""
        if self.poll(pid) is None:
            proc.signal_tree(pid, number, last_first=last_first)

    def look(self, pid: int) -> dict[str, Any]:
        """Return memory, frozen state and start time of a process."""
        return {
            "rss_bytes": proc.rss_bytes(pid),
            "frozen": proc.frozen(pid),
            "create_time": proc.create_time(pid),
        }

    def listener(self, address: str, port: int, program: str) -> list[Any] | None:
        """Return pid and start time of a program's process that listens on a port of this host."""
        pid = proc.listener(address, port, program)
        return None if pid is None else [pid, proc.create_time(pid)]

    def scratch(self, prefix: str) -> str:
        """Make a private folder that is removed when it is released, or when the agent ends."""
        with ExitStack() as stack:
            folder = str(stack.enter_context(scratch(prefix)))
            self._held[folder] = stack.pop_all()
        return folder

    def ports(self, count: int, first: int | None) -> list[int]:
        """Reserve ports that are free on every address, until the first of them is released."""
        with ExitStack() as stack:
            block = stack.enter_context(ports.reserved(count, ports.EVERY, first))
            self._held[str(block[0])] = stack.pop_all()
        return list(block)

    def release(self, held: str) -> None:
        """Release a folder or ports."""
        self._held.pop(held).close()

    def make(self, path: str) -> None:
        """Make a private folder, which must not exist."""
        files.make(Path(path))

    def make_all(self, path: str) -> None:
        """Make a private folder, unless it exists."""
        with files.host_errors(Path(path), "make"):
            Path(path).mkdir(mode=0o700, parents=True, exist_ok=True)

    def write(self, path: str, mode: int, data: bytes) -> None:
        """Write a file atomically."""
        files.write(Path(path), data, mode)

    def write_all(self, path: str, heads: list[tuple[str, int, int]], data: bytes) -> None:
        """Write several files below a folder; ``heads`` has name, mode and size of each."""
        start = 0
        for name, mode, size in heads:
            files.write(Path(path, name), data[start : start + size], mode)
            start += size

    def write_part(self, path: str, start: int, data: bytes) -> None:
        """Write into the draft of a file at a position; its new end is behind the data."""
        files.write_part(Path(path), data, start)

    def finish(self, path: str, mode: int) -> None:
        """Move the draft of a file to its final name."""
        files.finish(Path(path), mode)

    def names(self, path: str) -> list[str]:
        """Return the names of all entries of a folder."""
        return sorted(files.names(Path(path)))

    def read(self, path: str, start: int, longest: int) -> bytes:
        """Read at most ``longest`` bytes of a file from a position on."""
        return files.read(Path(path), start, longest)

    def size(self, path: str) -> int:
        """Return the size of a file in bytes."""
        return files.size(Path(path))

    def listing(self, path: str) -> list[tuple[str, int]]:
        """List files below a folder with sizes, and folders with a final slash; nothing else."""
        root = Path(path)
        if not root.is_dir():
            raise HostError(f"{path}: there is no such folder")
        listed = []
        for entry in root.rglob("*"):
            name = str(entry.relative_to(root))
            if entry.is_symlink():
                continue
            if entry.is_dir():
                listed.append((f"{name}/", 0))
            elif entry.is_file():
                listed.append((name, entry.stat().st_size))
        return listed

    def check_room(self, path: str) -> None:
        """Raise ``HostError`` when nothing more can be written into a folder."""
        files.check_room(Path(path))

    def room_bytes(self) -> int:
        """Return the free space for temporary files."""
        return shutil.disk_usage(tempfile.gettempdir()).free

    def which(self, programs: list[str]) -> dict[str, str | None]:
        """Find programs in PATH, and in the folders for administrators."""
        return {name: shutil.which(name, path=self._path()) for name in programs}

    def facts(self) -> dict[str, Any]:
        """Return facts about the machine, and the kernel's state of its clock."""
        return {**facts.host_facts(), "network": None, "kernel_clock": kernel_clock()}

    def _path(self) -> str:
        return f"{os.environ.get('PATH', os.defpath)}:{facts.SYSTEM_PATH}"
