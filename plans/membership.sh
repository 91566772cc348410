#!/bin/sh
# Take a node of RabbitMQ out of all quorum queues, and back into them after so many seconds: its new
# members get what is in the queues from their leaders. As root, on the host of the node.
set -eu
trap 'echo "its for_s was over before all queues had their members again" >&2; exit 1' TERM

# As the node itself: its cookie, its names and ports, and the version that it runs in.
variables='HOME|ERL_[A-Z_]*|RABBITMQ_(NODENAME|USE_LONGNAME|CONF_ENV_FILE)'
environment=$(tr '\0' '\n' <"/proc/$MQPERF_PID/environ" | sed -nE "s/^($variables)=(.*)/export \1='\3'/p")
on_node() {
    # shellcheck disable=SC2016  # the inner shell expands it
    nsenter --target "$MQPERF_PID" --mount --root sh -c "$environment"'
        command=$1
        shift
        exec /usr/lib/rabbitmq/bin/rabbitmq-queues --quiet --node "$RABBITMQ_NODENAME" \
            "$command" "$RABBITMQ_NODENAME" "$@"
    ' sh "$@"
}

on_node shrink
sleep "$1"
on_node grow all
