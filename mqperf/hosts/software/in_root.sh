# ROOT SHOWN... -- PROGRAM...: run a program of the system in the folder ROOT, in which each SHOWN, a
# folder of the host, is where it is outside. The mounts are this process's own, and end with it. The
# program starts in the folder that this is called in, if it sees that.
set -eu
root=$1
shift
for system in dev proc sys; do mount --rbind "/$system" "$root/$system"; done
mount -t tmpfs -o mode=1777 tmp "$root/tmp"
while [ "$1" != -- ]; do
    mkdir -p "$root$1"
    mount --bind "$1" "$root$1"
    shift
done
shift
# shellcheck disable=SC2016  # the inner shell expands it
exec chroot "$root" sh -c 'cd "$0" 2>/dev/null || cd /; exec "$@"' "$PWD" "$@"
