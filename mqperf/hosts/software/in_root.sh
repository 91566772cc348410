# ROOT SHOWN PROGRAM...: run a program of the system in the folder ROOT, in which SHOWN, a folder of
# the host, is where it is outside. The mounts are this process's own, and end with it. The program
# starts in the folder that this is called in, if it sees that.
set -eu
root=$1 shown=$2
shift 2
for system in dev proc sys; do mount --rbind "/$system" "$root/$system"; done
mount -t tmpfs -o mode=1777 tmp "$root/tmp"
mkdir -p "$root$shown"
mount --bind "$shown" "$root$shown"
# shellcheck disable=SC2016  # the inner shell expands it
exec chroot "$root" sh -c 'cd "$0" 2>/dev/null || cd /; exec "$@"' "$PWD" "$@"
