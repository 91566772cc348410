"""Processes that end with us, and leave nothing."""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import psutil

from mqperf.base.errors import HostError
from mqperf.onhost.processes import guardian
from mqperf.onhost.processes.child_handle import ChildHandle, check_program, started

BLOCK = 1 << 16

USUAL = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "TMPDIR", "XDG_CACHE_HOME", "LD_LIBRARY_PATH")
"""Variables of ours that any program may need; others may hold the password of a broker."""


@dataclass(frozen=True, slots=True)
class ForeignProcess:
    """Somebody else's process: watched, never signalled."""

    label: str
    pid: int
    create_time: float

    @property
    def alive(self) -> bool:
        """Whether this very process still runs, and not another one under its pid."""
        try:
            process = psutil.Process(self.pid)
            return (
                process.status() != psutil.STATUS_ZOMBIE
                and abs(process.create_time() - self.create_time) < 1
            )
        except psutil.NoSuchProcess:
            return False

    @property
    def frozen(self) -> bool:
        """Whether it was stopped by a signal, or by a debugger, and not continued."""
        return _is_frozen(self.pid)


@dataclass(frozen=True, slots=True)
class Process:
    """A process of ours, leader of a session of its own; its output goes to ``log``."""

    label: str
    pid: int
    create_time: float
    log: Path
    _link: ChildHandle = field(repr=False, compare=False)

    def poll(self) -> int | None:
        """Exit code, negative for a signal; None while it runs."""
        return self._link.wait()

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self.poll() is None

    @property
    def frozen(self) -> bool:
        """Whether it was stopped by a signal, or by a debugger, and not continued."""
        return _is_frozen(self.pid)

    @property
    def rss_bytes(self) -> int | None:
        """Memory that it holds; None when it is gone."""
        with suppress(psutil.NoSuchProcess):
            return int(psutil.Process(self.pid).memory_info().rss)
        return None

    def signal(self, number: signal.Signals) -> None:
        """Send a signal; a process that is already gone is left in peace."""
        self._link.signal(number)

    def suspend(self) -> None:
        """Stop it and all that it started, the starter first: SIGSTOP."""
        for process in self._tree():
            with suppress(psutil.NoSuchProcess):
                process.suspend()

    def resume(self) -> None:
        """Let all of them go on, the starter last: SIGCONT."""
        for process in reversed(self._tree()):
            with suppress(psutil.NoSuchProcess):
                process.resume()

    def _tree(self) -> list[psutil.Process]:
        """The process and its descendants; none when it is gone."""
        try:
            first = psutil.Process(self.pid)
            return [first, *first.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []

    def stop(self, grace_s: float) -> int:
        """End it: SIGTERM, after ``grace_s`` seconds SIGKILL; its exit code.

        Whatever it started ends with it.  A frozen process is woken, or it would sleep through its
        SIGTERM.
        """
        self.signal(signal.SIGTERM)
        self.signal(signal.SIGCONT)
        code = self._link.wait(grace_s)
        return self._link.end() if code is None else code


def _is_frozen(pid: int) -> bool:
    try:
        after_name = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2]
    except OSError:
        return False
    return after_name.split()[0] in {b"T", b"t"}


def start(
    label: str,
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None,
    log: Path,
    cwd: Path | None,
) -> Process:
    """Start ``argv`` with its output appended to ``log``; it ends with us, however we end.

    When it ends, whatever it started ends, too.  ``env`` None inherits ours.  May be called from
    any thread.  Raises ``HostError`` when the program or the log's folder is missing.
    """
    check_program(argv, env)
    try:
        with log.open("ab") as output, Path(os.devnull).open("rb") as nothing:
            files = (nothing.fileno(), output.fileno(), output.fileno())
            link = started(argv, env, cwd, files)
    except OSError as error:
        raise HostError(
            f"cannot start {label} ({argv[0]}): {error.filename or log}: {error.strerror}"
        ) from None
    try:
        create_time = psutil.Process(link.pid).create_time()
    except psutil.NoSuchProcess:
        create_time = time.time()
    return Process(label, link.pid, create_time, log, link)


def run(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    timeout_s: float | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run ``argv`` to its end, and all that it started; give its exit code and output.

    Raises ``HostError`` when it is missing, or has not ended after ``timeout_s`` seconds.
    """
    check_program(argv, env)
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    with ExitStack() as stack:
        nothing = stack.enter_context(Path(os.devnull).open("rb"))
        (output, stdout), (complaints, stderr) = (stack.enter_context(_pipe()) for _ in range(2))
        try:
            link = started(argv, env, cwd, [end.fileno() for end in (nothing, stdout, stderr)])
        except OSError as error:
            raise HostError(f"cannot run {error.filename}: {error.strerror}") from None
        stack.callback(link.end)
        stdout.close()
        stderr.close()
        outputs = _read((output, complaints), deadline)
        code = link.wait(_left(deadline))
        if outputs is None or code is None:
            words = " ".join(map(str, argv[:2]))
            raise HostError(f"{words} did not end within {timeout_s:g} s")
        return subprocess.CompletedProcess(argv, code, *outputs)


def usual_variables() -> dict[str, str]:
    """Those of our variables that any program may have."""
    return {name: os.environ[name] for name in USUAL if name in os.environ}


def end_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent dies, for workers forked by a pool."""
    guardian.prctl(guardian.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _read(outputs: Sequence[BinaryIO], deadline: float | None) -> list[str] | None:
    """Every output to its end; None when the deadline passes first."""
    content = {output.fileno(): bytearray() for output in outputs}
    with selectors.DefaultSelector() as selector:
        for output in outputs:
            selector.register(output, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(_left(deadline))
            if not ready and deadline is not None and time.monotonic() >= deadline:
                return None
            for key, _ in ready:
                part = os.read(key.fd, BLOCK)
                content[key.fd] += part
                if not part:
                    selector.unregister(key.fileobj)
    return [part.decode(errors="replace") for part in content.values()]


def _left(deadline: float | None) -> float | None:
    return None if deadline is None else max(0.0, deadline - time.monotonic())


@contextmanager
def _pipe() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    read, write = os.pipe()
    with os.fdopen(read, "rb", 0) as output, os.fdopen(write, "wb", 0) as feed:
        yield output, feed
