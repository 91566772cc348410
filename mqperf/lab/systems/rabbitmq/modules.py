"""Loading of all of RabbitMQ's modules at once, when a node starts.

RabbitMQ before 3.13 loads every module of its applications when it starts, one by one, and Erlang
copies the table of all functions for each.  Loaded together, they take half the CPU time.
"""

from collections.abc import Mapping

FILE = ".erlang"
"""Erlang evaluates this file in the home of a process that starts."""

ASKED: Mapping[str, str] = {"MQPERF_LOAD_MODULES": "true"}
"""Variable of what loads the modules: nodes, but neither their children nor rabbitmqctl."""

LOADS_ALL_BEFORE = (3, 13)
"""Later versions load most modules on demand."""

LOADER = """\
os:getenv("MQPERF_LOAD_MODULES") =:= false orelse begin
    os:unsetenv("MQPERF_LOAD_MODULES"),
    Applications = [
        rabbit, rabbit_common, rabbitmq_prelaunch, ra, osiris, mnesia, cuttlefish, ranch, syslog,
        kernel, stdlib, sasl, ssl, public_key, inets, compiler, syntax_tools, xmerl, tools, os_mon
    ],
    Folders = [code:lib_dir(Application, ebin) || Application <- Applications],
    Files = [filelib:wildcard("*.beam", Folder) || Folder <- Folders, is_list(Folder)],
    Names = [filename:rootname(File) || File <- lists:append(Files)],
    code:ensure_modules_loaded([list_to_atom(Name) || Name <- Names])
end.
"""
