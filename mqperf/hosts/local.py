"""This machine as a host."""

import errno
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path

from pydantic import JsonValue

from mqperf import guarded
from mqperf.errors import HostError
from mqperf.guarded import ForeignProcess, Process, scratch_errors
from mqperf.hosts import facts, listeners, ports
from mqperf.hosts.host import HostKind

PAGE_BYTES = 4096
"""A file system that takes a page takes a line of a log."""

FULL = {errno.ENOSPC, errno.EDQUOT}
NO_ROOM = "make room there, or set TMPDIR to another folder"


class LocalHost:
    """This machine: its processes, scratch folders, loopback ports and facts."""

    name = "local"

    def start(
        self,
        label: str,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        log: Path,
        cwd: Path | None = None,
    ) -> Process:
        """Start a process that dies with us; see ``guarded.start``."""
        return guarded.start(label, argv, env=env, log=log, cwd=cwd)

    def run(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        timeout_s: float,
    ) -> subprocess.CompletedProcess[str]:
        """Run a short command to its end; see ``guarded.run``."""
        return guarded.run(argv, env=env, timeout_s=timeout_s)

    def scratch(self, prefix: str) -> AbstractContextManager[Path]:
        """Make a private folder that vanishes at the end; see ``guarded.scratch``."""
        return guarded.scratch(prefix)

    def make(self, folder: Path) -> None:
        """Make a folder for its owner only, and those that lead to it; it must not be there."""
        with host_errors(folder, "make"):
            folder.mkdir(mode=0o700, parents=True)

    def write(self, path: Path, text: str, mode: int = 0o600) -> None:
        """Write a file for its owner only, and the folders that lead to it; it appears whole."""
        draft = path.with_name(f".{path.name}.draft")
        with host_errors(path, "write"):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            draft.touch(mode=0o600)
            draft.write_text(text, encoding="utf-8")
            draft.chmod(mode)
            draft.replace(path)

    def read(self, path: Path, start: int = 0) -> bytes:
        """Give the content of a file from a position on."""
        with host_errors(path, "read"), path.open("rb") as file:
            file.seek(start)
            return file.read()

    def size(self, path: Path) -> int:
        """Tell how many bytes a file has."""
        with host_errors(path, "read"):
            return path.stat().st_size

    def names(self, folder: Path) -> set[str]:
        """Give the names of all that is in a folder now."""
        with host_errors(folder, "read"):
            return {entry.name for entry in folder.iterdir()}

    def check_room(self, folder: Path) -> None:
        """Raise ``HostError`` when nothing more can be written into the folder."""
        probe = folder / ".room"
        try:
            with scratch_errors(folder):
                probe.write_bytes(bytes(PAGE_BYTES))
        finally:
            with suppress(OSError):
                probe.unlink(missing_ok=True)

    def ports(self, count: int) -> AbstractContextManager[tuple[int, ...]]:
        """Reserve consecutive free loopback ports; see ``ports.reserved``."""
        return ports.reserved(count)

    def listener(self, label: str, address: str, port: int, program: str) -> ForeignProcess | None:
        """Find who listens on a port of an address of ours; see ``listeners.listener``."""
        return listeners.listener(label, address, port, program)

    def own_processes(self) -> Mapping[str, int]:
        """Tell that mqperf itself runs here."""
        return {"mqperf": os.getpid()}

    def facts(self) -> dict[str, JsonValue]:
        """Tell what somebody who reads a measurement must know about this machine."""
        return {"label": self.name, **facts.host_facts()}


@contextmanager
def host_errors(path: Path, what: str) -> Iterator[None]:
    """Turn the system's refusal into one sentence about the file."""
    try:
        yield
    except OSError as error:
        advice = f"; {NO_ROOM}" if error.errno in FULL else ""
        raise HostError(
            f"{error.filename or path}: cannot {what} it: {error.strerror}{advice}"
        ) from None


KIND = HostKind("local", "this machine", lambda: nullcontext(LocalHost()))
