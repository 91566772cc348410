"""What an agent does when it is asked to: one method each."""

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

    Arguments and results are what JSON knows; what is read is given as bytes.  Raises ``HostError``
    or ``OSError`` when the host refuses.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self._links: dict[int, ChildHandle] = {}
        self._held: dict[str, ExitStack] = {}

    def hello(self) -> dict[str, Any]:
        """Who answers."""
        platform = here()
        return {
            "pid": os.getpid(),
            "python": sys.executable,
            "platform": [platform.python, platform.machine, platform.libc],
            "path": self._path(),
            # client's address and port, then ours: by which we were reached
            "address": os.environ.get("SSH_CONNECTION", "").split(" ")[2:3],
        }

    def start(
        self, label: str, argv: list[str], env: dict[str, str] | None, log: str, cwd: str | None
    ) -> int:
        """Start a process with its output appended to ``log``; its pid."""
        link = logged(label, argv, env, Path(log), Path(cwd) if cwd else None)
        self._links[link.pid] = link
        return link.pid

    def run(self, argv: list[str], env: dict[str, str] | None, limit_s: float) -> list[int | str]:
        """Run a command to its end; its exit code and both outputs."""
        return [*completed(argv, env, None, limit_s)]

    def poll(self, pid: int) -> int | None:
        """Exit code of a process; None while it runs."""
        return self._links[pid].wait()

    def stop(self, pid: int, grace_s: float) -> int:
        """End a process and all that it started; its exit code."""
        return self._links[pid].stop(grace_s)

    def signal(self, pid: int, number: int) -> None:
        """Send a signal to a process."""
        self._links[pid].signal(signal.Signals(number))

    def signal_tree(self, pid: int, number: int, last_first: bool) -> None:  # noqa: FBT001
        """Send a signal to a process and all that it started."""
        if self.poll(pid) is None:
            proc.signal_tree(pid, number, last_first=last_first)

    def look(self, pid: int) -> dict[str, Any]:
        """Memory of a process, whether it was stopped, and when it was started, if it lives."""
        return {
            "rss_bytes": proc.rss_bytes(pid),
            "frozen": proc.frozen(pid),
            "create_time": proc.create_time(pid),
        }

    def listener(self, address: str, port: int, program: str) -> list[Any] | None:
        """Pid and start of somebody's process that listens on a port of ours."""
        pid = proc.listener(address, port, program)
        return None if pid is None else [pid, proc.create_time(pid)]

    def scratch(self, prefix: str) -> str:
        """Make a private folder that vanishes when it is released, or with us."""
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
        """Give a folder or ports back."""
        self._held.pop(held).close()

    def make(self, path: str) -> None:
        """Make a private folder, which must not be there."""
        files.make(Path(path))

    def make_all(self, path: str) -> None:
        """Make a private folder, unless it is there."""
        with files.host_errors(Path(path), "make"):
            Path(path).mkdir(mode=0o700, parents=True, exist_ok=True)

    def write(self, path: str, mode: int, data: bytes) -> None:
        """Write a file, which appears whole."""
        files.write(Path(path), data, mode)

    def write_all(self, path: str, heads: list[tuple[str, int, int]], data: bytes) -> None:
        """Write files below a folder, one after the other: name, mode and size of each."""
        start = 0
        for name, mode, size in heads:
            files.write(Path(path, name), data[start : start + size], mode)
            start += size

    def write_part(self, path: str, start: int, data: bytes) -> None:
        """Write the draft of a file from a position to its end."""
        files.write_part(Path(path), data, start)

    def finish(self, path: str, mode: int) -> None:
        """Put the draft of a file in its place."""
        files.finish(Path(path), mode)

    def names(self, path: str) -> list[str]:
        """Names of all that is in a folder."""
        return sorted(files.names(Path(path)))

    def read(self, path: str, start: int, longest: int) -> bytes:
        """So many bytes of a file, or fewer at its end."""
        return files.read(Path(path), start, longest)

    def size(self, path: str) -> int:
        """How many bytes a file has."""
        return files.size(Path(path))

    def listing(self, path: str) -> list[tuple[str, int]]:
        """Files below a folder with their sizes; folders end with a slash; no links or devices."""
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
        """Refuse when nothing more can be written into a folder."""
        files.check_room(Path(path))

    def room_bytes(self) -> int:
        """Free space for temporary files."""
        return shutil.disk_usage(tempfile.gettempdir()).free

    def which(self, programs: list[str]) -> dict[str, str | None]:
        """Where these programs are, also those for administrators."""
        return {name: shutil.which(name, path=self._path()) for name in programs}

    def facts(self) -> dict[str, Any]:
        """What must be known of the machine, and its kernel's view of its clock."""
        return {**facts.host_facts(), "network": None, "kernel_clock": kernel_clock()}

    def _path(self) -> str:
        return f"{os.environ.get('PATH', os.defpath)}:{facts.SYSTEM_PATH}"
