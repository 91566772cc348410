# FOLDER NAME ADDRESS: becomes the sshd of a host, the first process of its namespaces.
# Its folders of temporary files are its own; programs it shares with the machine.
set -e
folder=$1 name=$2 address=$3

hostname "$name"
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -m 755 /run/sshd # sshd insists on it
mkdir -m 755 /run/mqperf
cp "$folder/$name.host_key" /run/mqperf/host_key
cp "$folder/key.pub" /run/mqperf/authorized_keys
cp "$folder/$name.sshd_config" /run/mqperf/sshd_config
chmod 600 /run/mqperf/host_key
chmod 644 /run/mqperf/authorized_keys
mount --bind "$folder/hosts" /etc/hosts
# a user who is not root
{ cat /etc/passwd && echo "measurer:x:4711:4711::/:/bin/sh"; } >/run/mqperf/passwd
mount --bind /run/mqperf/passwd /etc/passwd
mount -t sysfs sysfs /sys # else it shows the network cards of the machine
cd /
mount -t tmpfs -o mode=1777 tmpfs /tmp

ip link set lo up
until ip link set eth0 up 2>/dev/null; do sleep 0.01; done
ip addr add "$address/24" dev eth0
exec /usr/sbin/sshd -D -e -f /run/mqperf/sshd_config
