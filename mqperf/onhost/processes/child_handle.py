"""The link to a program that a guardian started: its signals, and how it ends."""

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
    """A program which was started, and ends when this is closed or we die."""

    def __init__(self, line: socket.socket, pid: int, guardian_pid: int) -> None:
        """Take over a connection on which the program's start was reported."""
        self.pid = pid
        self._line = line
        self._guardian_pid = guardian_pid
        self._code: int | None = None

    def wait(self, timeout_s: float | None = 0.0) -> int | None:
        """Exit code, negative for a signal; None when it still runs after so many seconds.

        With ``timeout_s`` None it waits for as long as it takes.
        """
        if self._code is None and _readable(self._line, timeout_s):
            # A guardian that was killed cannot tell, and the kernel killed the program with it.
            self._code = (_record(self._line) or (-signal.SIGKILL, 0))[0]
            self._line.close()
        return self._code

    def signal(self, number: signal.Signals) -> None:
        """Send a signal; a program that is already gone is left in peace."""
        if self.wait() is None:
            with suppress(OSError):
                self._line.send(bytes([number]))

    def stop(self, grace_s: float) -> int:
        """Ask the program to end, and kill it after so many seconds; its exit code.

        A frozen one is woken, or it would sleep through its SIGTERM.
        """
        self.signal(signal.SIGTERM)
        self.signal(signal.SIGCONT)
        code = self.wait(grace_s)
        return self.end() if code is None else code

    def end(self) -> int:
        """Kill the program and all that it started; its exit code."""
        if self.wait() is None:
            with suppress(OSError):
                self._line.shutdown(socket.SHUT_WR)
            if self.wait(END_LIMIT_S) is None:
                # Frozen, or it waits for what cannot be killed; the guardian of all takes over.
                os.kill(self._guardian_pid, signal.SIGKILL)
        code = self.wait(END_LIMIT_S)
        return -signal.SIGKILL if code is None else code


def started(
    argv: Sequence[str], env: Mapping[str, str] | None, cwd: Path | None, files: Sequence[int]
) -> ChildHandle:
    """Have a program started, with these as standard input, output and error.

    ``env`` and ``cwd`` None are ours.  Raises ``OSError`` for what the kernel refuses, and
    ``HostError`` when no guardian can be had.
    """
    wanted = marshal.dumps(_encoded(argv, env, cwd))
    # Once more when the guardian was killed at that very moment.
    link = _asked(wanted, files) or _asked(wanted, files)
    if link is None:
        raise HostError(
            f"cannot start {argv[0]}: the guardian process that starts it was killed, or hangs;"
            " repeat the command"
        )
    return link


def logged(
    label: str, argv: Sequence[str], env: Mapping[str, str] | None, log: Path, cwd: Path | None
) -> ChildHandle:
    """Have a program started that reads nothing, with its output appended to ``log``.

    ``env`` and ``cwd`` None are ours.  Raises ``HostError``, by the program's ``label``, when it or
    the log's folder is missing.
    """
    with (
        starting(argv, env, f"{label} ({argv[0]})"),
        log.open("ab") as output,
        Path(os.devnull).open("rb") as nothing,
    ):
        files = (nothing.fileno(), output.fileno(), output.fileno())
        return started(argv, env, cwd, files)


@contextmanager
def starting(
    argv: Sequence[str], env: Mapping[str, str] | None, called: str | None = None
) -> Iterator[None]:
    """Raise ``HostError`` when there is no such program, or the kernel refuses to start it.

    ``called`` is how that names the program; None is as it was given.
    """
    if shutil.which(argv[0], path=(os.environ if env is None else env).get("PATH")) is None:
        raise HostError(f"{argv[0]} is missing or not executable: install it or correct its path")
    try:
        yield
    except OSError as error:
        where = error.filename or argv[0]
        raise HostError(f"cannot start {called or argv[0]}: {where}: {error.strerror}") from None


def _asked(wanted: bytes, files: Sequence[int]) -> ChildHandle | None:
    """Ask for a program; None when nobody answered."""
    ours, theirs = socket.socketpair()
    with ExitStack() as stack:
        stack.enter_context(ours)
        with theirs:
            _ours.ask([theirs.fileno(), *files])
        with suppress(OSError):  # What became of it is said just below.
            ours.sendall(guardian.SIZE.pack(len(wanted)) + wanted)
        answer = _record(ours) if _readable(ours, START_LIMIT_S) else None
        if answer is None:
            _ours.replace()
            return None
        first, second = answer
        if first < 0:
            name = os.fsdecode(ours.recv(second, socket.MSG_WAITALL)) if second else None
            raise OSError(-first, os.strerror(-first), name)
        stack.pop_all()
        return ChildHandle(ours, first, second)


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
    """The next record on a link; None when its guardian was killed."""
    try:
        record = line.recv(guardian.RECORD.size, socket.MSG_WAITALL)
    except OSError:
        return None
    return guardian.RECORD.unpack(record) if len(record) == guardian.RECORD.size else None


class _Guardian:
    """The guardian of all that this process starts, made on first use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._line: socket.socket | None = None
        self._pid = 0

    def ask(self, files: Sequence[int]) -> None:
        """Pass a request on, to a new guardian when there is none that takes it."""
        with self._lock:
            try:
                self._send(files)
            except OSError:
                self._replace()
                self._begin()
                self._send(files)

    def replace(self) -> None:
        """Give it up, because it does not answer; programs run on under their own guardians."""
        with self._lock:
            self._replace()

    def end(self) -> None:
        """Let it end everything, and itself."""
        with self._lock:
            if self._line is not None:
                self._line.close()
                child.await_end(self._pid, END_LIMIT_S)
                self._line = None

    def forget(self) -> None:
        """After a fork: it is the parent's."""
        self._lock = threading.Lock()
        if self._line is not None:
            self._line.close()
        self._line, self._pid = None, 0

    def _send(self, files: Sequence[int]) -> None:
        if self._line is None:
            raise BrokenPipeError
        socket.send_fds(self._line, [b"."], files)

    def _begin(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs, ExitStack() as stack:
            stack.enter_context(ours)
            self._pid = child.begun(guardian.__file__, [str(os.getpid())], theirs.fileno())
            stack.pop_all()
        self._line = ours

    def _replace(self) -> None:
        if self._line is not None:
            child.await_end(
                self._pid, 0
            )  # before it can learn of a closed line, and end everything
            self._line.close()
            self._line = None


_ours = _Guardian()
atexit.register(_ours.end)
os.register_at_fork(after_in_child=_ours.forget)
