"""The services of one side of a chain in one process: the control plane, or agents.

Every service has a transport, an RPC server and an RPC client of its own, as if it were a process
of its own.  What goes from one service to another is a message over the broker, also where both
are in this process.
"""
