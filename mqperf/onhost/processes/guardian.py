"""Ends everything that was started through it; run as a script, by ``processes.child_handle``.

A guardian is the parent of what mqperf starts.  Its standard input is a socket; each message on it
passes a link (another socket) and the standard files of one program.  For each program it forks a
guardian of that program alone, which

- reads from the link what to start, and reports on it the program's pid, and how it ended;
- adopts (``PR_SET_CHILD_SUBREAPER``) orphans among the program's descendants, even daemons;
- kills all of them when the program ends, when the link is closed, or when mqperf dies.

The first guardian watches the others in the same way: when one of them is killed or stopped, the
first one ends what it watched.  Reapers of scratch folders are spared.

It imports only a little of the standard library, so that it starts quickly and stays small.
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
"""A report on a link: first the pids of program and guardian (or a negative errno and the length of
a file name, which follows), and at the end the exit code and 0."""

SIZE = struct.Struct("=q")
FILES = 4
"""Number of files in a request: the link, standard input, output and error."""

PATIENCE_S = 20.0
IGNORED = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
CHANGED = (*IGNORED, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ)
"""Signals whose handling here, or in Python, is not the default that a program expects."""

prctl = ctypes.CDLL(None).prctl


class Events:
    """The events of a guardian: its owner's death, data on a socket, the end of a child."""

    def __init__(self, owner: int | None, line: int) -> None:
        """Watch the owner (a pidfd, if the kernel has them), a socket and the children."""
        self._owner, self._line = owner, line
        self._children, wake = os.pipe()
        for end in (self._children, wake):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._poll = select.poll()
        for file in (owner, line, self._children):
            if file is not None:
                self._poll.register(file, select.POLLIN)

    def wait(self) -> tuple[bool, bool]:
        """Wait for an event; return whether the owner died, and whether the socket is readable."""
        ready = {file for file, _ in self._poll.poll()}
        if self._children in ready:
            os.read(self._children, 4096)
        return self._owner in ready, self._line in ready


def main(owner: int) -> None:
    """Start requested programs until the owner is gone; then end everything."""
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    os.chdir("/")
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    prctl(PR_SET_PDEATHSIG, signal.SIGCONT)  # Resumes a stopped guardian when the owner dies.
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    line = socket.socket(fileno=os.dup(0))
    os.dup2(1, 0)
    owner_pidfd = _pidfd(owner)
    gc.freeze()
    events = Events(owner_pidfd, line.fileno())
    guardians: set[int] = set()
    while os.getppid() == owner:
        owner_died, requested = events.wait()
        if owner_died:
            break
        if requested:
            _, files, _, _ = socket.recv_fds(line, 1, FILES)
            if len(files) < FILES:
                break
            for file in files:
                os.set_inheritable(file, False)  # noqa: FBT003
            guardians |= _guard(line, files, owner_pidfd)
        ended = {pid for pid in _reaped() if pid in guardians}
        guardians -= ended
        if ended:
            end_all(spared=guardians)
    end_all()


def _pidfd(pid: int) -> int | None:
    """Return a file that becomes readable when a process ends; None on kernels before 5.3.

    The socket shows that, too, unless a process that lives on has inherited its other end.
    """
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def _guard(line: socket.socket, files: list[int], owner: int | None) -> set[int]:
    """Fork the guardian of one program, and return its pid; empty when the kernel refuses."""
    try:
        pid = os.fork()
    except OSError as error:
        _report(files[0], -(error.errno or 1), 0)
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
    """Start a program, and leave none of its processes when this one ends."""
    link, *standard = files
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    events = Events(owner, link)
    [size] = SIZE.unpack(_read(link, SIZE.size))
    argv, env, cwd = marshal.loads(_read(link, size))  # noqa: S302 (from the owner)
    program, refusal = _start(argv, env, cwd, standard)
    for file in standard:
        os.close(file)
    if refusal:
        number, _, name = refusal.partition(b" ")
        _report(link, -int(number), len(name), name)
        os._exit(0)
    _report(link, program, os.getpid())
    code = _watch(program, link, events)
    ended = end_all()
    _report(link, ended.get(program, -signal.SIGKILL) if code is None else code, 0)
    os._exit(0)


def _watch(program: int, link: int, events: Events) -> int | None:
    """Pass signals on until the program ends; return its exit code, or None to have it killed."""
    while True:
        ended = _reaped()
        if program in ended:
            return ended[program]
        owner_died, readable = events.wait()
        signals = _read_some(link) if readable else b""
        if owner_died or (readable and not signals):
            return None
        for number in signals:
            with suppress(OSError):  # It runs as another user.
                os.kill(program, number)


def _start(
    argv: list[bytes], env: dict[bytes, bytes], cwd: bytes, standard: list[int]
) -> tuple[int, bytes]:
    """Fork and execute; return the pid, and errno and file name if that was refused."""
    guardian = os.getpid()
    refusals, refused = os.pipe()
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
            os.execvpe(argv[0], argv, env)  # noqa: S606 (without a shell on purpose)
        except OSError as error:
            name = error.filename if isinstance(error.filename, bytes) else argv[0]
            os.write(refused, b"%d %s" % (error.errno or 1, name))
        finally:
            os._exit(127)
    os.close(refused)
    refusal = os.read(refusals, 4096)  # Empty: a successful execution closes the other end.
    os.close(refusals)
    return pid, refusal


def _reaped() -> dict[int, int]:
    """Reap the children that have ended; return their exit codes, negative for signals."""
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
    """Kill all children, then adopted ones, until none are left; return their exit codes."""
    codes: dict[int, int] = {}
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        codes |= _reaped()
        killed = [_kill(pid) for pid in _children() if pid not in spared]
        if not any(killed):
            break
        time.sleep(0.002)
    return codes


def await_reapers(spared: int, limit_s: float) -> None:
    """Wait at most ``limit_s`` until all children but one have ended: reapers that still work."""
    deadline = time.monotonic() + limit_s
    while any(pid != spared for pid in _children()) and time.monotonic() < deadline:
        _reaped()
        time.sleep(0.01)


def _kill(pid: int) -> bool:
    """Kill a child; return False for a reaper, and for one that may not be killed."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            argv = file.read().split(b"\0")
        if any(os.path.basename(argument) == b"reaper.py" for argument in argv[1:4]):
            return False
        os.kill(pid, signal.SIGKILL)
    except PermissionError:
        return False
    except OSError:
        pass  # It has ended meanwhile: the next round finds the orphans that it left.
    return True


def _children() -> list[int]:
    """Return the pids of all children; not by ``/proc/self/task``, which not every kernel has."""
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


def _report(link: int, first: int, second: int, more: bytes = b"") -> None:
    with suppress(OSError):  # The other end was closed.
        os.write(link, RECORD.pack(first, second) + more)


def _read(link: int, size: int) -> bytes:
    """Read ``size`` bytes; exit this process if the other end was closed."""
    content = b""
    while len(content) < size:
        block = _read_some(link, size - len(content))
        if not block:
            os._exit(0)
        content += block
    return content


def _read_some(link: int, size: int = 1 << 16) -> bytes:
    try:
        return os.read(link, size)
    except OSError:
        return b""


if __name__ == "__main__":
    main(int(sys.argv[1]))
