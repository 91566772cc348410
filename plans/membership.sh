#!/bin/sh
# Take a node of RabbitMQ out of all quorum queues, and back into them after so many seconds: its new
# members get what is in the queues from their leaders. As root, on the host of the node.
set -eu

# As the node itself: its cookie, its names and ports, and the version that it runs in.
on_node() {
    tr '\0' '\n' <"/proc/$MQPERF_PID/environ" | sed -n 's/^\([A-Z_]*\)=\(.*\)/\1="\2"; export \1/p' |
        grep -E '^(HOME|ERL_|RABBITMQ_(NODENAME|USE_LONGNAME|CONF_ENV_FILE|CTL_))' >environment
    # shellcheck disable=SC2016  # the inner shell expands it
    nsenter --target "$MQPERF_PID" --mount --root sh -c "$(cat environment)"'
        exec /usr/lib/rabbitmq/bin/rabbitmq-queues --quiet --node "$RABBITMQ_NODENAME" "$@"
    ' sh "$@"
}
node=$(tr '\0' '\n' <"/proc/$MQPERF_PID/environ" | sed -n 's/^RABBITMQ_NODENAME=//p')

on_node shrink "$node"
sleep "$1"
on_node grow "$node" all
