"""Hosts on which the code that a node or load generator makes has names for perf.

Erlang and Java compile while they run; what they tell perf of it, they write to ``/tmp``.  They are
asked to as they start: Erlang (25 and later) by ``+JPperf``, and Python (3.12 and later) by a
variable; Java keeps frame pointers, and names its code when it is asked.
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
"""Options of the Erlang of a node, and of no other that its scripts start."""

PYTHON, PYTHON_BEGAN = {"PYTHONPERFSUPPORT": "1"}, (3, 12)
TRIAL = ("record", "--quiet", "-a", "-e", EVENT, "-o", "/dev/null", "--", "true")
LAUNCHER = Path("mqperf_flame", "onhost", "launcher.py")
LIMIT_S = 60


class Named(WrappedHost):
    """A host on which what is started names its code to perf, and takes the names along."""

    __slots__ = ()

    @override
    def changed(self, _label: str, argv: Sequence[str], env: Mapping[str, str] | None) -> Start:
        names_code = parsed(self.host.platform.minor) >= PYTHON_BEGAN
        words, variables = naming(argv, env, self.host.python if names_code else "")
        if words != [*argv] or variables != env:
            launcher = self.host.copied(programs("mqperf_flame")) / LAUNCHER
            words = [self.host.python, "-I", "-S", str(launcher), *words]
        return words, variables


def naming(
    argv: Sequence[str], env: Mapping[str, str] | None, python: str
) -> tuple[list[str], Mapping[str, str] | None]:
    """Command and variables of a process that names its code; as they are for one that cannot.

    ``python`` is a Python that can.
    """
    if env is not None and ERLANG in env:
        return [*argv], {**env, ERLANG: f"{env[ERLANG]} +JPperf map"}
    if after := next((n for n, word in enumerate(argv, 1) if Path(word).name == "java"), 0):
        return [*argv[:after], "-XX:+PreserveFramePointer", *argv[after:]], env
    if argv[0] == python and env is not None:
        return [*argv], {**env, **PYTHON}
    return [*argv], env


@contextmanager
def prepared(hosts: Hosts) -> Iterator[Hosts]:
    """The hosts, on which perf may look; raises ``HostError`` for the first that forbids it.

    What nodes and load generators start names its code; what watches a run does not.
    """
    for host in hosts.every:
        check(host)
    yield hosts.wrapped(lambda role, host: Named(host) if role else host)


def check(host: Host) -> None:
    """Raise ``HostError`` when perf cannot record on the host, with what to set there."""
    perf = PERF.on("perf", host)
    trial = host.run([perf, *TRIAL], timeout_s=LIMIT_S)
    if trial.returncode:
        words = one_line(trial.stderr or trial.stdout, 200)
        raise HostError(
            f"{host.name}: perf may not look at processes, which the plan asks for with the probe"
            " flame: run mqperf as root there, or have root type `sysctl"
            " kernel.perf_event_paranoid=0`; in a container, give it the capability PERFMON; or"
            f" leave the probe out. perf says: {words}"
        )
