"""Ends everything that was started through it; run as a script, by ``processes.child_handle``.

A guardian is the parent of what mqperf starts.  It asks for a socket on its standard input; each
message on it brings a link (a socket) and the standard files of one program.  For each program it
forks a guardian of that program alone, which

- reads from the link what to start, and tells on it the program's pid, and how it ended;
- adopts (``PR_SET_CHILD_SUBREAPER``) whatever the program's descendants leave, however they detach;
- kills all of it when the program ends, when the link is closed, or when mqperf dies.

The first guardian watches over the others in the same way: when one of them is killed or frozen,
what it watched is ended by the first.  Reapers of scratch folders are spared.

It imports the standard library only, and little of that: it must start quickly and stay small.
"""

import ctypes
import gc
import marshal
import os
import select
import signal
import socket
import struct
import sys
import time
from contextlib import suppress
from typing import NoReturn

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
RECORD = struct.Struct("=qq")
"""What is told on a link: pid of program and guardian (or minus an errno and the length of a file's
name, which follows), and at the end exit code and 0."""

SIZE = struct.Struct("=q")
FILES = 4
"""Files that come with a request: the link, standard input, output and error."""

PATIENCE_S = 20.0
IGNORED = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
CHANGED = (*IGNORED, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ)
"""Signals which do not mean to us, or to Python, what a program expects them to mean."""

prctl = ctypes.CDLL(None).prctl


class Events:
    """What a guardian waits for: its owner's death, a socket, the end of a child."""

    def __init__(self, owner: int | None, line: int) -> None:
        """Watch the owner (a pidfd, where there are such), a socket and our children."""
        self._owner, self._line = owner, line
        self._children, wake = os.pipe()
        for end in (self._children, wake):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._poll = select.poll()
        for watched in (owner, line, self._children):
            if watched is not None:
                self._poll.register(watched, select.POLLIN)

    def wait(self) -> tuple[bool, bool]:
        """Return when something has happened: whether the owner died, whether the line has news."""
        ready = {file for file, _ in self._poll.poll()}
        if self._children in ready:
            os.read(self._children, 4096)
        return self._owner in ready, self._line in ready


def main(owner: int) -> None:
    """Start what we are asked to start, until the owner is gone; then end all that is left."""
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    os.chdir("/")
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    prctl(PR_SET_PDEATHSIG, signal.SIGCONT)  # Wakes us, if we were frozen, when the owner dies.
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    line = socket.socket(fileno=os.dup(0))
    os.dup2(1, 0)
    alive = _pidfd(owner)
    gc.freeze()
    events = Events(alive, line.fileno())
    guardians: set[int] = set()
    while os.getppid() == owner:
        owner_died, asked = events.wait()
        if owner_died:
            break
        if asked:
            _, files, _, _ = socket.recv_fds(line, 1, FILES)
            if len(files) < FILES:
                break
            for file in files:
                os.set_inheritable(file, False)  # noqa: FBT003
            guardians |= _guard(line, files, alive)
        ended = {pid for pid in _reaped() if pid in guardians}
        guardians -= ended
        if ended:
            end_all(spared=guardians)
    end_all()


def _pidfd(pid: int) -> int | None:
    """A file that tells of a process's end; None on kernels before 5.3.

    The line tells it, too, unless its other end was inherited by somebody who lives on.
    """
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def _guard(line: socket.socket, files: list[int], owner: int | None) -> set[int]:
    """Fork the guardian of one program, and give its pid; nobody when the kernel refuses."""
    try:
        pid = os.fork()
    except OSError as error:
        _tell(files[0], -(error.errno or 1), 0)
        pids = set()
    else:
        if pid == 0:
            try:
                line.close()
                _serve(files, owner)
            finally:
                os._exit(1)
        pids = {pid}
    for file in files:
        os.close(file)
    return pids


def _serve(files: list[int], owner: int | None) -> NoReturn:
    """Start a program, and see to it that nothing of it is left when we end."""
    link, *standard = files
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    events = Events(owner, link)
    [size] = SIZE.unpack(_read(link, SIZE.size))
    argv, env, cwd = marshal.loads(_read(link, size))  # noqa: S302 (from our owner)
    program, trouble = _start(argv, env, cwd, standard)
    for file in standard:
        os.close(file)
    if trouble:
        number, _, name = trouble.partition(b" ")
        _tell(link, -int(number), len(name), name)
        os._exit(0)
    _tell(link, program, os.getpid())
    code = _watched(program, link, events)
    ended = end_all()
    _tell(link, ended.get(program, -signal.SIGKILL) if code is None else code, 0)
    os._exit(0)


def _watched(program: int, link: int, events: Events) -> int | None:
    """Pass signals on until the program ends; its exit code, or None when we are to end it."""
    while True:
        ended = _reaped()
        if program in ended:
            return ended[program]
        owner_died, readable = events.wait()
        signals = _read_some(link) if readable else b""
        if owner_died or (readable and not signals):
            return None
        for number in signals:
            with suppress(OSError):  # It runs as somebody else.
                os.kill(program, number)


def _start(
    argv: list[bytes], env: dict[bytes, bytes], cwd: bytes, standard: list[int]
) -> tuple[int, bytes]:
    """Fork and execute; gives the pid, and errno and file name when that was refused."""
    guardian = os.getpid()
    report, trouble = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != guardian:
                os._exit(1)
            os.setsid()
            signal.set_wakeup_fd(-1)
            for number in CHANGED:
                signal.signal(number, signal.SIG_DFL)
            for target, file in enumerate(standard):
                os.dup2(file, target)
            os.chdir(cwd)
            os.execvpe(argv[0], argv, env)  # noqa: S606 (no shell is what we want)
        except OSError as error:
            name = error.filename if isinstance(error.filename, bytes) else argv[0]
            os.write(trouble, b"%d %s" % (error.errno or 1, name))
        finally:
            os._exit(127)
    os.close(trouble)
    refusal = os.read(report, 4096)  # Its end is closed by a successful execution.
    os.close(report)
    return pid, refusal


def _reaped() -> dict[int, int]:
    """Exit codes, negative for signals, of the children that have ended since the last call."""
    codes: dict[int, int] = {}
    try:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return codes
            codes[pid] = os.waitstatus_to_exitcode(status)
    except ChildProcessError:
        return codes


def end_all(spared: set[int] | frozenset[int] = frozenset()) -> dict[int, int]:
    """Kill all children, then those whom they leave to us, until nobody is left; exit codes."""
    codes: dict[int, int] = {}
    limit = time.monotonic() + PATIENCE_S
    while time.monotonic() < limit:
        codes |= _reaped()
        killed = [_killed(pid) for pid in _children() if pid not in spared]
        if not any(killed):
            break
        time.sleep(0.002)
    return codes


def await_reapers(spared: int, limit_s: float) -> None:
    """Wait until all children but one have ended, for so long at most: reapers with work to do."""
    limit = time.monotonic() + limit_s
    while any(pid != spared for pid in _children()) and time.monotonic() < limit:
        _reaped()
        time.sleep(0.01)


def _killed(pid: int) -> bool:
    """Kill a child; false for a reaper, and for one that is not ours to kill."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read().split(b"\0")
        if any(os.path.basename(word) == b"reaper.py" for word in words[1:4]):
            return False
        os.kill(pid, signal.SIGKILL)
    except PermissionError:
        return False
    except OSError:
        pass  # It vanished while we looked: whom it left we find in the next round.
    return True


def _children() -> list[int]:
    """Pids of our children; not from ``/proc/self/task``, which not every kernel has."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return []
    parent = os.getpid()
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and _parent(name) == parent]


def _parent(pid: str) -> int | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, IndexError):
        return None


def _tell(link: int, first: int, second: int, more: bytes = b"") -> None:
    with suppress(OSError):  # Nobody listens any more.
        os.write(link, RECORD.pack(first, second) + more)


def _read(link: int, size: int) -> bytes:
    """So many bytes, or the end of this process: who asked has gone."""
    content = b""
    while len(content) < size:
        part = _read_some(link, size - len(content))
        if not part:
            os._exit(0)
        content += part
    return content


def _read_some(link: int, size: int = 1 << 16) -> bytes:
    try:
        return os.read(link, size)
    except OSError:
        return b""


if __name__ == "__main__":
    main(int(sys.argv[1]))
