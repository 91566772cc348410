# ROOT SHOWN PROGRAM...: run a program of the system in the folder ROOT, in which SHOWN, a folder of
# the host, is where it is outside. The mounts are this process's own, and end with it.
set -eu
root=$1 shown=$2
shift 2
for system in dev proc sys; do mount --rbind "/$system" "$root/$system"; done
mount -t tmpfs -o mode=1777 tmp "$root/tmp"
mkdir -p "$root$shown"
mount --bind "$shown" "$root$shown"
exec chroot "$root" "$@"
