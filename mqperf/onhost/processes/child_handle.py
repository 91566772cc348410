"""Handles of programs that a guardian started: for sending signals and waiting for their end."""

import atexit
import marshal
import os
import select
import shutil
import signal
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from mqperf.onhost.errors import HostError
from mqperf.onhost.processes import child, guardian

START_LIMIT_S = 30.0
END_LIMIT_S = guardian.PATIENCE_S + 5


class ChildHandle:
    """A started program, which ends when its connection is closed or this process dies."""

    def __init__(self, line: socket.socket, pid: int, guardian_pid: int) -> None:
        """Take over the connection on which the program's start was reported."""
        self.pid = pid
        self._line = line
        self._guardian_pid = guardian_pid
        self._code: int | None = None

    def wait(self, timeout_s: float | None = 0.0) -> int | None:
        """Return the exit code, negative for a signal; None if it still runs after ``timeout_s``.

        With ``timeout_s`` None it waits without a limit.
        """
        if self._code is None and _readable(self._line, timeout_s):
            # Without a record the guardian was killed, and the kernel killed the program with it.
            self._code = (_record(self._line) or (-signal.SIGKILL, 0))[0]
            self._line.close()
        return self._code

    def signal(self, number: signal.Signals) -> None:
        """Send a signal; nothing is done when the program has ended."""
        if self.wait() is None:
            with suppress(OSError):
                self._line.send(bytes([number]))

    def stop(self, grace_s: float) -> int:
        """Send SIGTERM, and kill the program after ``grace_s`` seconds; return its exit code.

        A stopped program is continued, as it could not handle SIGTERM otherwise.
        """
        self.signal(signal.SIGTERM)
        self.signal(signal.SIGCONT)
        code = self.wait(grace_s)
        return self.end() if code is None else code

    def end(self) -> int:
        """Kill the program and all that it started; return its exit code."""
        if self.wait() is None:
            with suppress(OSError):
                self._line.shutdown(socket.SHUT_WR)
            if self.wait(END_LIMIT_S) is None:
                # It is stopped, or waits for an unkillable process; the main guardian takes over.
                os.kill(self._guardian_pid, signal.SIGKILL)
        code = self.wait(END_LIMIT_S)
        return -signal.SIGKILL if code is None else code


def started(
    argv: Sequence[str], env: Mapping[str, str] | None, cwd: Path | None, files: Sequence[int]
) -> ChildHandle:
    """Start a program through the guardian; ``files`` are its standard input, output and error.

    ``env`` and ``cwd`` None are those of this process.  Raises ``OSError`` for refusals of the
    kernel, and ``HostError`` when no guardian can be started.
    """
    request = marshal.dumps(_encoded(argv, env, cwd))
    # A second attempt, since the guardian may just have been killed.
    handle = _requested(request, files) or _requested(request, files)
    if handle is None:
        raise HostError(
            f"cannot start {argv[0]}: the guardian process that starts it was killed, or hangs;"
            " repeat the command"
        )
    return handle


def logged(
    label: str, argv: Sequence[str], env: Mapping[str, str] | None, log: Path, cwd: Path | None
) -> ChildHandle:
    """Start a program without input, and with its output appended to ``log``.

    ``env`` and ``cwd`` None are those of this process.  Raises ``HostError``, which names the
    program's ``label``, when it or the log's folder is missing.
    """
    with (
        starting(argv, env, f"{label} ({argv[0]})"),
        log.open("ab") as output,
        Path(os.devnull).open("rb") as null,
    ):
        files = (null.fileno(), output.fileno(), output.fileno())
        return started(argv, env, cwd, files)


@contextmanager
def starting(
    argv: Sequence[str], env: Mapping[str, str] | None, name: str | None = None
) -> Iterator[None]:
    """Raise ``HostError`` when the program is missing, or the kernel refuses to start it.

    ``name`` is that of the program in the error; by default it is ``argv[0]``.
    """
    if shutil.which(argv[0], path=(os.environ if env is None else env).get("PATH")) is None:
        raise HostError(f"{argv[0]} is missing or not executable: install it or correct its path")
    try:
        yield
    except OSError as error:
        where = error.filename or argv[0]
        raise HostError(f"cannot start {name or argv[0]}: {where}: {error.strerror}") from None


def _requested(request: bytes, files: Sequence[int]) -> ChildHandle | None:
    """Request a program from the guardian; None when it did not answer."""
    line, remote = socket.socketpair()
    with ExitStack() as stack:
        stack.enter_context(line)
        with remote:
            _guardian.request([remote.fileno(), *files])
        with suppress(OSError):  # A failure shows as a missing answer just below.
            line.sendall(guardian.SIZE.pack(len(request)) + request)
        answer = _record(line) if _readable(line, START_LIMIT_S) else None
        if answer is None:
            _guardian.replace()
            return None
        first, second = answer
        if first < 0:
            name = os.fsdecode(line.recv(second, socket.MSG_WAITALL)) if second else None
            raise OSError(-first, os.strerror(-first), name)
        stack.pop_all()
        return ChildHandle(line, first, second)


def _encoded(
    argv: Sequence[str], env: Mapping[str, str] | None, cwd: Path | None
) -> tuple[list[bytes], dict[bytes, bytes], bytes]:
    variables = os.environ if env is None else env
    return (
        [os.fsencode(word) for word in argv],
        {os.fsencode(name): os.fsencode(value) for name, value in variables.items()},
        os.fsencode(Path.cwd() if cwd is None else cwd.absolute()),
    )


def _readable(line: socket.socket, timeout_s: float | None) -> bool:
    poll = select.poll()
    poll.register(line, select.POLLIN)
    return bool(poll.poll(None if timeout_s is None else timeout_s * 1000))


def _record(line: socket.socket) -> tuple[int, int] | None:
    """Receive the next record of a guardian; None when it was killed."""
    try:
        record = line.recv(guardian.RECORD.size, socket.MSG_WAITALL)
    except OSError:
        return None
    return guardian.RECORD.unpack(record) if len(record) == guardian.RECORD.size else None


class _Guardian:
    """The main guardian, of all programs of this process; it is started on first use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._line: socket.socket | None = None
        self._pid = 0

    def request(self, files: Sequence[int]) -> None:
        """Send the files of a request, to a new guardian where there is no working one."""
        with self._lock:
            try:
                self._send(files)
            except OSError:
                self._kill()
                self._start()
                self._send(files)

    def replace(self) -> None:
        """Kill it, because it does not answer; programs run on under their own guardians."""
        with self._lock:
            self._kill()

    def end(self) -> None:
        """Have it end all programs, and itself."""
        with self._lock:
            if self._line is not None:
                self._line.close()
                child.await_end(self._pid, END_LIMIT_S)
                self._line = None

    def forget(self) -> None:
        """Drop it in a fork, whose parent owns it."""
        self._lock = threading.Lock()
        if self._line is not None:
            self._line.close()
        self._line, self._pid = None, 0

    def _send(self, files: Sequence[int]) -> None:
        if self._line is None:
            raise BrokenPipeError
        socket.send_fds(self._line, [b"."], files)

    def _start(self) -> None:
        line, remote = socket.socketpair()
        with remote, ExitStack() as stack:
            stack.enter_context(line)
            self._pid = child.begun(guardian.__file__, [str(os.getpid())], remote.fileno())
            stack.pop_all()
        self._line = line

    def _kill(self) -> None:
        if self._line is not None:
            child.await_end(self._pid, 0)  # first, as it would end everything on a closed line
            self._line.close()
            self._line = None


_guardian = _Guardian()
atexit.register(_guardian.end)
os.register_at_fork(after_in_child=_guardian.forget)
