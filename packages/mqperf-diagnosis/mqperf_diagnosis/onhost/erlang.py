"""A node of RabbitMQ, observed from outside: which of its Erlang processes work all the time.

``erl_call``, which every Erlang has, evaluates one expression in the node, as ``rabbitmqctl eval``
would, for a few milliseconds of CPU.  The name of the node, the port mapper and the cookie are
taken from the environment of its process.
"""

import base64
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

LOOKS, APART_MS, RANKING_MS = 18, 40, 100
"""Looks at processes in a second, the time between looks, and the time before them over which the
processes are ranked by their reductions."""

MOST_WATCHED, MOST_KNOWN, MOST_ASKED = 6, 300, 4
"""The most processes that are looked at, that are ranked, and queues whose messages are counted, of
which queues that are looked at come first."""

TIMEOUT_S = 5

EXPRESSION = f"""
Pid = fun({{N, _}}) -> whereis(N); (P) -> P end,
Local = [Q || Q <- rabbit_amqqueue:list(), P <- [Pid(amqqueue:get_pid(Q))], is_pid(P),
  node(P) =:= node()],
Name = fun(Q) -> element(4, amqqueue:get_name(Q)) end,
Known = lists:sublist([{{queue, Name(Q), Pid(amqqueue:get_pid(Q))}} || Q <- Local]
  ++ [{{channel, <<>>, P}} || P <- pg_local:get_members(rabbit_channels)]
  ++ [{{connection, <<>>, P}} || P <- pg_local:get_members(rabbit_connections)], {MOST_KNOWN}),
Work = fun(P) -> case process_info(P, reductions) of {{_, R}} -> R; _ -> 0 end end,
Before = [Work(P) || {{_, _, P}} <- Known],
timer:sleep({RANKING_MS}),
Ranked = [T || {{_, T}} <- lists:sublist(lists:reverse(lists:keysort(1,
  [{{Work(P) - B, T}} || {{{{_, _, P}} = T, B}} <- lists:zip(Known, Before)])), {MOST_WATCHED})],
Held = fun(queue, _) -> 0;
  (_, P) -> case process_info(P, dictionary) of
    {{_, D}} -> case proplists:get_value(credit_blocked, D, []) of [] -> 0; _ -> 1 end;
    _ -> 0 end end,
Look = fun({{K, _, P}}) -> case process_info(P, [status, message_queue_len]) of
  [{{_, running}}, {{_, L}}] -> {{1, 0, L, Held(K, P)}};
  [{{_, garbage_collecting}}, {{_, L}}] -> {{1, 0, L, Held(K, P)}};
  [{{_, runnable}}, {{_, L}}] -> {{0, 1, L, Held(K, P)}};
  [_, {{_, L}}] -> {{0, 0, L, Held(K, P)}};
  _ -> {{0, 0, 0, 0}} end end,
Looks = [begin timer:sleep({APART_MS}), [Look(T) || T <- Ranked] end
  || _ <- lists:seq(1, {LOOKS})],
Sum = fun(I, J) -> lists:sum([element(J, lists:nth(I, Row)) || Row <- Looks]) end,
Text = fun(Form, Values) -> io_lib:format(Form, Values) end,
Processes = [Text("process ~s ~s ~b ~b ~b ~b;", [K, base64:encode(N), Sum(I, 1), Sum(I, 2),
  Sum(I, 3), Sum(I, 4)]) || {{I, {{K, N, _}}}} <- lists:zip(lists:seq(1, length(Ranked)), Ranked)],
Ask = fun(Q) -> try erpc:call(node(), rabbit_amqqueue, info,
    [Q, [messages_ready, messages_unacknowledged, consumers]], 300) of
  [{{_, R}}, {{_, U}}, {{_, C}}] ->
    [Text("messages ~s ~b ~b ~b;", [base64:encode(Name(Q)), R, U, C])];
  _ -> [] catch _:_ -> [] end end,
{{Busy, Idle}} = lists:partition(
  fun(Q) -> lists:keymember(Pid(amqqueue:get_pid(Q)), 3, Ranked) end, Local),
Alarms = try rabbit_alarm:get_alarms() catch _:_ -> [] end,
Sync = try proplists:get_value({{io_sync, time}}, file_handle_cache_stats:get(), -1)
  catch _:_ -> -1 end,
lists:flatten([Processes, lists:map(Ask, lists:sublist(Busy ++ Idle, {MOST_ASKED})),
  Text("node ~b ~b ~b ~b", [erlang:statistics(run_queue), length(Alarms), Sync,
    erlang:system_info(schedulers_online)])]).
"""
"""Prints text that ``of_text`` parses.  A process that waits for credit is held by flow control."""

PROCESS = re.compile(r"process (\w+) (\S*) (\d+) (\d+) (\d+) (\d+)")
MESSAGES = re.compile(r"messages (\S*) (\d+) (\d+) (\d+)")
NODE = re.compile(r"node (\d+) (\d+) (-?\d+) (\d+)")


class ErlangNode:
    """A node, by the id of its operating system process."""

    def __init__(self, pid: int) -> None:
        """Read its environment; raises ``OSError`` without permission, or without the process."""
        content = Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace")
        variables = dict(entry.partition("=")[::2] for entry in content.split("\0") if entry)
        needed = ("HOME", "ERL_EPMD_PORT", "ERL_EPMD_ADDRESS", "LD_LIBRARY_PATH", "PATH")
        self.env = {name: variables[name] for name in needed if name in variables}
        name = variables.get("RABBITMQ_NODENAME", "")
        option = "-name" if variables.get("RABBITMQ_USE_LONGNAME") == "true" else "-sname"
        program = Path(f"/proc/{pid}/exe").readlink().with_name("erl_call")
        self.argv = (str(program), option, name, "-timeout", str(TIMEOUT_S), "-e")

    def state(self) -> Mapping[str, Any]:
        """The state of the node over a second; only ``error`` where it does not answer."""
        try:
            done = subprocess.run(
                self.argv,
                input=EXPRESSION,
                capture_output=True,
                text=True,
                env=self.env,
                timeout=2 * TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.SubprocessError) as error:
            return {"error": type(error).__name__}
        if not NODE.search(done.stdout):
            return {"error": " ".join((done.stderr or done.stdout).split())[:200] or "no answer"}
        return of_text(done.stdout)


def is_node(pid: int) -> bool:
    """Whether the process is an Erlang node that this process may observe."""
    try:
        return Path(f"/proc/{pid}/exe").readlink().name == "beam.smp"
    except OSError:
        return False


def of_text(text: str) -> dict[str, Any]:
    """Parse the answer of a node into the form of the log."""
    [run_queue, alarms, sync_us, schedulers] = map(int, NODE.findall(text)[-1])
    return {
        "run_queue": run_queue,
        "alarms": alarms,
        "sync_s": None if sync_us < 0 else sync_us / 1e6,
        "schedulers": schedulers,
        "looks": LOOKS,
        "processes": [*_processes(text)],
        "queues": [
            {"name": _name(name), "ready": int(ready), "unacked": int(unacked), "consumers": int(n)}
            for name, ready, unacked, n in MESSAGES.findall(text)
        ],
    }


def _processes(text: str) -> Iterator[dict[str, Any]]:
    for kind, name, *counts in PROCESS.findall(text):
        running, runnable, waiting, held = map(int, counts)
        yield {
            "kind": kind,
            "name": _name(name),
            "running": running,
            "runnable": runnable,
            "waiting": waiting,
            "held": held,
        }


def _name(encoded: str) -> str:
    return base64.b64decode(encoded).decode(errors="replace")
