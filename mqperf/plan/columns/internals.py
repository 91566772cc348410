"""Columns of what nodes tell of their inside."""

from mqperf.plan.columns.column import Column, count, latency, seconds, text

INTERNALS = (
    seconds("time_s", "When it was asked, since the start of the measured window.", "time"),
    text("host", "Host of the node, by whose probe it was asked."),
    text("node", "Label of the node."),
    text(
        "kind",
        "Kind of the object: node, queue, queues, memory, pool, collector, link, links, address,"
        " connections, route.",
    ),
    text("object", "Its name; `node` or `all` where there is one of the kind.", "object"),
    text("quantity", "What is told of it.", "quantity"),
    Column("value", "float64", "How much, in `unit`; what only grows counts from its start."),
    text("unit", "msg, bytes, s; empty for a number of anything else.", "unit"),
)

INSIDES = (
    text("node", "Label of the node.", "node"),
    count("answers", "Times that it told of its inside, over the window.", "answers", ""),
    count("waiting_max", "Most messages in its queues, or on its links, at once.", "waiting, max"),
    Column(
        "waiting_growth",
        "Int64",
        "By how many messages more were waiting at the end of the window than at its start.",
        "waiting, growth",
        "msg",
    ),
    Column(
        "memory_max_bytes",
        "float64",
        "Most memory that it said to use: resident, of RabbitMQ; the heap, of Java; the pools, of"
        " routers.",
        "memory, max",
        "bytes",
        "MiB",
        2**-20,
        "not negative",
    ),
    count(
        "collections",
        "Runs of its garbage collectors: of all its processes, where each has its own.",
        "garbage collections",
        "",
    ),
    latency(
        "paused_s",
        "Time for which its garbage collectors say to have worked; empty where they do not tell.",
        "garbage collection",
    ),
    count(
        "presettled_dropped",
        "Pre-settled messages that it dropped, of which nobody is told; empty where it has none.",
        "pre-settled, dropped",
    ),
)
"""What is told of a node over the window."""
