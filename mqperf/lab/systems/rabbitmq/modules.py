"""Loading of all of RabbitMQ's modules at once, when a node starts.

RabbitMQ before 3.13 loads every module of its applications when it starts, one by one, and Erlang
copies the table of all functions for each.  Loaded together, they take half the CPU time.
"""

FILE = ".erlang"
"""Erlang evaluates this file in the home of a process that starts."""

LOADS_ALL_BEFORE = (3, 13)
"""Later versions load most modules on demand."""

LOADER = """\
init:get_argument(syslog) =:= error orelse begin
    Applications = [
        rabbit, rabbit_common, rabbitmq_prelaunch, ra, osiris, mnesia, cuttlefish, ranch, syslog,
        kernel, stdlib, sasl, ssl, public_key, inets, compiler, syntax_tools, xmerl, tools, os_mon
    ],
    Folders = [code:lib_dir(Name, ebin) || Name <- Applications],
    Files = [File || Path <- Folders, is_list(Path), File <- filelib:wildcard("*.beam", Path)],
    code:ensure_modules_loaded([list_to_atom(filename:rootname(File)) || File <- Files])
end.
"""
"""For processes with the flag ``-syslog``: nodes, but neither their children nor rabbitmqctl."""
