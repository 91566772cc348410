"""The probe flame: folding of perf's output, and how processes are started for it."""

import os
import signal
import sys
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from mqperf_toys.known import known
from patience import await_file, eventually

from mqperf.base.errors import HostError, ProbeError, SystemFault
from mqperf.hosts import Hosts, LocalHost
from mqperf.lab.runner import Silent, sweep
from mqperf.plan.file import parse_plan
from mqperf_flame.lab.named import ERLANG, Named, naming, prepared
from mqperf_flame.onhost.folding import folded, written
from mqperf_flame.onhost.reaper import LEFT
from mqperf_flame.pages.sheet import Box, boxes, flame_sheet
from mqperf_flame.record.recorded import recorded
from mqperf_flame.study.functions import OTHERS, by_function, pruned

# perf 6.1, Erlang 25 with +JPperf true, sorting lists
SCRIPT = """\
 4061/4071  56604.046683:   10101010
            7f92e3e53c0f $lists:seq_loop/3 (/tmp/perf-4061.map)
            7f92e3eff97c $l:g/1 (/tmp/perf-4061.map)
            7f92e3eff8d0 $l:f/1 (/tmp/perf-4061.map)
            7f9362a36e38 $erts_beamasm:normal_exit/0 (/tmp/perf-4061.map)

 4061/4071  56604.184357:   10101010
            7f92e3e5cb5b $lists:mergel/2 (/tmp/perf-4061.map)
            7f92e3eff9e0 $l:g/1 (/tmp/perf-4061.map)
            7f92e3eff8d0 $l:f/1 (/tmp/perf-4061.map)
            7f9362a36e38 $erts_beamasm:normal_exit/0 (/tmp/perf-4061.map)

 4061/4071  56604.330960:   10101010
                  2036da [unknown] (/usr/lib/erlang/erts-13.1.5/bin/beam.smp)
                       0 [unknown] ([unknown])
                       0 [unknown] ([unknown])

 4061/4071  56605.063087:   10101010
                  2036ee [unknown] (/usr/lib/erlang/erts-13.1.5/bin/beam.smp)
                       0 [unknown] ([unknown])
                       0 [unknown] ([unknown])

 4061/4071  56607.237935:   10101010
        ffffffff813a2313 finish_task_switch.isra.0 ([kernel.kallsyms])
        ffffffff821f8054 __schedule ([kernel.kallsyms])
        ffffffff821f8c03 schedule ([kernel.kallsyms])
        ffffffff821f3130 irqentry_exit_to_user_mode ([kernel.kallsyms])
        ffffffff81000e46 asm_sysvec_reschedule_ipi ([kernel.kallsyms])
                  203b71 [unknown] (/usr/lib/erlang/erts-13.1.5/bin/beam.smp)
                       0 [unknown] ([unknown])
                       0 [unknown] ([unknown])
"""
# perf 6.1, Java 17 with frame pointers, adding numbers
OF_JAVA = """\
12357/12367 56604.944478:   10101010
            7f1128ec7f35 long L.g(long) (/tmp/perf-12357.map)
            7f1121401bfc void L.f() (/tmp/perf-12357.map)
            7f1128941260 Interpreter (/tmp/perf-12357.map)
            7f1128938cc9 StubRoutines (1) (/tmp/perf-12357.map)
                  8282d2 JavaCalls::call_helper (/usr/lib/jvm/lib/server/libjvm.so)
"""
# perf 6.12, Python 3.13 with -X perf
OF_PYTHON = """\
 4061/4071  56604.046683:   10101010
            7f92e3e53c0f py::Consumer._attend:/opt/onhost/consumer.py (/tmp/perf-4061.map)
"""
START = 56604
CALLS = "erts_beamasm:normal_exit/0_[j];l:f/1_[j];l:g/1_[j]"
KERNEL = (
    "asm_sysvec_reschedule_ipi_[k];irqentry_exit_to_user_mode_[k];schedule_[k];__schedule_[k];"
    "finish_task_switch.isra.0_[k]"
)
FOLDED = [
    "0;Broker;[beam.smp] 1\n",
    f"0;Broker;{CALLS};lists:mergel/2_[j] 1\n",
    f"0;Broker;{CALLS};lists:seq_loop/3_[j] 1\n",
    "1;Broker;[beam.smp] 1\n",
    f"3;Broker;[beam.smp];{KERNEL} 1\n",
]
ABOUT = '{"version": "perf version 6.1", "period_ns": 10101010, "seconds": 4}'
STACKS = {("a", "b", "a"): 5, ("a", "c"): 3, ("a",): 1, ("d", "e"): 1}

PLAN = """\
systems: {toy: {topologies: [direct], queues: [none]}}
test_cases: [rpc-call]
probes: [flame]
load: {generator: replay, green_threads: [1], duration_s: 1}
"""


def second(instant: float) -> int:
    return int((instant - START) // 1)


def test_stacks_are_folded_by_second_and_process() -> None:
    """Outermost first, Erlang and kernel marked, no address, path or id; no other process."""
    assert [*written(folded(SCRIPT.splitlines(), {4061: "Broker"}, second))] == FOLDED
    prologue = SCRIPT.replace("seq_loop/3", "seq_loop/3-CodeInfoPrologue")  # by Erlang 27
    assert [*written(folded(prologue.splitlines(), {4061: "Broker"}, second))] == FOLDED
    assert not folded(SCRIPT.splitlines(), {4071: "Broker"}, second)
    [python] = written(folded(OF_PYTHON.splitlines(), {4061: "Broker"}, second))
    assert python == "0;Broker;py::Consumer._attend:consumer.py_[j] 1\n"
    [java] = written(folded(OF_JAVA.splitlines(), {12357: "Broker"}, second))
    stack = "JavaCalls::call_helper;StubRoutines (1)_[j];Interpreter_[j];L.f_[j];L.g_[j]"
    assert java == f"0;Broker;{stack} 1\n"
    late = folded(SCRIPT.splitlines(), {4061: "Broker"}, lambda instant: second(instant - 1))
    assert {key[0] for key in late} == {0, 2}


@pytest.fixture
def record(tmp_path: Path) -> Path:
    (tmp_path / "flame.json").write_text(ABOUT)
    (tmp_path / "flame.folded").write_text("".join(FOLDED))
    return tmp_path


def test_a_record_gives_the_seconds_of_the_window(record: Path) -> None:
    """Only whole seconds within the window count."""
    read = recorded(record)
    assert read.within(0, 4)["Broker"].total() == 5
    assert read.within(1, 3) == {"Broker": Counter({("[beam.smp]",): 1})}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (" 1\n0;", " one\n0;", r"flame\.folded:1: no folded stack"),
        ("0;Broker;", "", r"flame\.folded:1: no folded stack"),
        ("3;Broker", "4;Broker", r"flame\.folded:5: second 4 of a load of 4 s"),
        ("isra.0_[k] 1\n", "isra", r"flame\.folded:5: the record is cut short"),
    ],
)
def test_a_damaged_record_is_an_error(record: Path, old: str, new: str, words: str) -> None:
    """The error has file and line in one sentence."""
    file = record / "flame.folded"
    file.write_text(file.read_text().replace(old, new, 1))
    with pytest.raises(ProbeError, match=words):
        recorded(record)
    (record / "flame.json").write_text("{}")
    with pytest.raises(ProbeError, match=r"flame\.json:1: version: field required"):
        recorded(record)
    (record / "flame.json").unlink()
    with pytest.raises(ProbeError, match="no record of the probe flame: No such file"):
        recorded(record)


def test_a_function_counts_once_in_a_stack() -> None:
    """Recursion counts once; the samples of a function itself are those in which it ran."""
    ran, called = by_function(STACKS)
    assert ran == {"a": 6, "c": 3, "e": 1}
    assert called == {"a": 9, "b": 5, "c": 3, "d": 1, "e": 1}


def test_rare_stacks_end_at_their_caller() -> None:
    """No sample is lost when they are cut."""
    assert pruned(STACKS, 3) == {("a", "b", "a"): 5, ("a", "c"): 3, ("a",): 1, (OTHERS,): 1}


def test_a_box_is_as_wide_as_its_samples() -> None:
    """A callee is drawn on its caller; each panel has its number of samples."""
    folded_stacks = {";".join(stack): samples for stack, samples in STACKS.items()}
    drawn = {*boxes(folded_stacks)}
    assert {Box("a", 0, 0, 9), Box("d", 0, 9, 1), Box("c", 1, 6, 3)} <= drawn
    assert len(drawn) == 6
    rows = pd.DataFrame(folded_stacks.items(), columns=["stack", "stack_samples"])
    parts = [rows.assign(process="Broker"), rows.assign(process="client-1")]
    figure = flame_sheet(pd.concat(parts))
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "Broker: 10 samples",
        "client-1: 10 samples",
    ]


def test_code_is_named_by_who_makes_it() -> None:
    """Erlang and Java get an option, our Python a variable; other commands stay as they are."""
    node = ["rabbitmq-server"]
    assert naming(node, {ERLANG: "-a b"}, "python") == (node, {ERLANG: "-a b +JPperf map"})
    java, options = naming(["/usr/bin/java", "-Xmx1m"], {}, "python")
    assert (java[1:], options) == (["-XX:+PreserveFramePointer", "-Xmx1m"], {})
    assert naming(["python", "-m", "x"], {}, "python")[1] == {"PYTHONPERFSUPPORT": "1"}
    assert naming(["epmd"], {}, "python") == (["epmd"], {})


MAPPED = """
import os, sys, time
from pathlib import Path
Path(f"/tmp/perf-{os.getpid()}.map").write_text("0 1 a\\n")
Path(sys.argv[1]).write_text(str(os.getpid()))
time.sleep(600)
"""
KILLED = """
import os, signal, sys, time
from pathlib import Path
from mqperf.hosts import LocalHost
from mqperf_flame.lab.named import ERLANG, Named
folder = Path(sys.argv[1])
pid_file = folder / "pid"
argv = [sys.executable, "-c", sys.argv[2], str(pid_file)]
process = Named(LocalHost()).start("mapped", argv, env={ERLANG: ""}, log=folder / "log")
while not pid_file.exists() or not pid_file.read_text():
    time.sleep(0.02)
os.kill(os.getpid(), signal.SIGKILL)
"""


def names_of(pid: int) -> Path:
    return Path(LEFT[0].format(pid))


@pytest.mark.starts_programs
def test_names_vanish_with_their_process(tmp_path: Path) -> None:
    """The file with names is removed when the process or its starter is killed."""
    pid_file, host = tmp_path / "pid", LocalHost()
    argv = [sys.executable, "-c", MAPPED, str(pid_file)]
    process = Named(host).start("mapped", argv, env={ERLANG: ""}, log=tmp_path / "log")
    await_file(pid_file)
    names = names_of(process.pid)
    assert eventually(names.exists)
    os.kill(process.pid, signal.SIGKILL)
    assert eventually(lambda: not names.exists())
    process.stop(0)
    pid_file.unlink()
    host.run([sys.executable, "-c", KILLED, str(tmp_path), MAPPED], timeout_s=60)
    assert eventually(pid_file.read_text)
    assert eventually(lambda: not names_of(int(pid_file.read_text())).exists())


def test_a_host_without_perf_is_named_before_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says what to do; nothing is started, and no folder is made."""
    known(monkeypatch)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemFault, match=r"perf is not installed: .* apt-get install linux-perf"):
        sweep(parse_plan(PLAN, Path("toy.yaml")), PLAN, tmp_path / "runs", Silent())
    assert not (tmp_path / "runs").exists()


@pytest.mark.starts_programs
def test_a_host_that_forbids_perf_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to set there, and has the words of perf."""
    (perf := tmp_path / "perf").write_text("#!/bin/sh\necho access is limited >&2\nexit 255\n")
    perf.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    words = r"local: perf may not look .*perf_event_paranoid=0`.* perf says: access is limited"
    with pytest.raises(HostError, match=words), prepared(Hosts.alone(LocalHost())):
        pass
