# FOLDER NETWORK NAME...: the first process of a laboratory, in namespaces of its own.
# It joins the hosts by a bridge, prints "ready", and then executes lines "down NAME" and "up NAME",
# each of which pulls or plugs the cable of a host. When its input ends, everything ends.
set -e
folder=$1 network=$2
shift 2

read -r _ # the end of the controller's cable exists by then
ip link set lo up
ip link add bridge type bridge
ip link set bridge up
ip link set outside master bridge up

number=0
for name in "$@"; do
    number=$((number + 1))
    unshare --fork --kill-child=KILL --pid --mount --mount-proc --net --uts \
        sh "${0%/*}/host.sh" "$folder" "$name" "$network.$number" 2>"$folder/$name.log" &
    # a card can be put into a network namespace once that exists
    while [ "$(readlink /proc/$!/ns/net)" = "$(readlink /proc/self/ns/net)" ]; do
        kill -0 $!
        sleep 0.01
    done
    ip link add "to-$name" type veth peer name eth0 netns $!
    ip link set "to-$name" master bridge up
done
echo ready

while read -r state name; do
    ip link set "to-$name" "$state"
    echo "$state"
done
