"""Hosts on which nodes and load generators publish the symbols of JIT-compiled code for perf.

Such symbols are in map files in ``/tmp``.  Erlang (25 and later) writes its map if it is started
with ``+JPperf``, Python (3.12 and later) if an environment variable is set.  Java is started so
that it keeps frame pointers; it writes its map on request.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from typing_extensions import override

from mqperf.base.errors import HostError
from mqperf.base.one_line import one_line
from mqperf.base.releases import parsed
from mqperf.hosts import Host, Hosts
from mqperf.hosts.software import programs
from mqperf.hosts.wrapped import Start, WrappedHost
from mqperf.lab.tool import Tool
from mqperf_flame.onhost.recorder import EVENT

PERF = Tool(
    "perf",
    "perf",
    packages=(),
    by_hand="the probe flame needs it: sudo apt-get install linux-perf on Debian,"
    " linux-tools-generic on Ubuntu",
)
ERLANG = "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS"
"""The variable with options for the Erlang VM of the node alone, not for those of its scripts."""

PYTHON, PYTHON_SINCE = {"PYTHONPERFSUPPORT": "1"}, (3, 12)
TRIAL = ("record", "--quiet", "-a", "-e", EVENT, "-o", "/dev/null", "--", "true")
LAUNCHER = Path("mqperf_flame", "onhost", "launcher.py")
LIMIT_S = 60


class Named(WrappedHost):
    """A host on which started processes write symbol maps for perf, removed when they end."""

    __slots__ = ()

    @override
    def changed(self, _label: str, argv: Sequence[str], env: Mapping[str, str] | None) -> Start:
        names_code = parsed(self.host.platform.minor) >= PYTHON_SINCE
        command, variables = naming(argv, env, self.host.python if names_code else "")
        if command != [*argv] or variables != env:
            launcher = self.host.copied(programs("mqperf_flame")) / LAUNCHER
            command = [self.host.python, "-I", "-S", str(launcher), *command]
        return command, variables


def naming(
    argv: Sequence[str], env: Mapping[str, str] | None, python: str
) -> tuple[list[str], Mapping[str, str] | None]:
    """Return command and variables that have a process write its symbol map, if it can write one.

    ``python`` is the path of a Python with that ability; both are unchanged for other programs.
    """
    if env is not None and ERLANG in env:
        return [*argv], {**env, ERLANG: f"{env[ERLANG]} +JPperf map"}
    if options_at := next((n for n, word in enumerate(argv, 1) if Path(word).name == "java"), 0):
        return [*argv[:options_at], "-XX:+PreserveFramePointer", *argv[options_at:]], env
    if argv[0] == python and env is not None:
        return [*argv], {**env, **PYTHON}
    return [*argv], env


@contextmanager
def prepared(hosts: Hosts) -> Iterator[Hosts]:
    """Yield the hosts, wrapped so that nodes and load generators write symbol maps; probes do not.

    Raises ``HostError`` for the first host on which perf may not record.
    """
    for host in hosts.every:
        check(host)
    yield hosts.wrapped(lambda role, host: Named(host) if role else host)


def check(host: Host) -> None:
    """Raise ``HostError`` with the necessary settings if perf cannot record on the host."""
    perf = PERF.on("perf", host)
    trial = host.run([perf, *TRIAL], timeout_s=LIMIT_S)
    if trial.returncode:
        message = one_line(trial.stderr or trial.stdout, 200)
        raise HostError(
            f"{host.name}: perf may not look at processes, which the plan asks for with the probe"
            " flame: run mqperf as root there, or have root type `sysctl"
            " kernel.perf_event_paranoid=0`; in a container, give it the capability PERFMON; or"
            f" leave the probe out. perf says: {message}"
        )
