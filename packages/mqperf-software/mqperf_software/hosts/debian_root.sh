#!/bin/sh
# SUITE ROOT PACKAGE...: fill the folder ROOT with a Debian release and these packages.
#
# Run by root on Debian, in a mount namespace. Packages come from the mirror, with the settings, of
# this machine's apt; no service is started. The output of the installers goes to ROOT.log.
set -eu
suite=$1 root=$2
shift 2

# shellcheck disable=SC2016  # apt-get fills it in
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' | head -n 1)
[ -n "$mirror" ] || {
    echo "apt has no mirror of Debian, from which other versions come: run apt-get update if this is Debian" >&2
    exit 1
}

# The debootstrap of an older Debian does not know later releases: those use the script of sid.
scripts=/usr/share/debootstrap/scripts
script=
[ -e "$scripts/$suite" ] || script=$scripts/sid
debootstrap --variant=minbase "$suite" "$root" "$mirror" $script >"$root.log"

# No service starts when its package is installed.
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod 755 "$root/usr/sbin/policy-rc.d"
# This machine's access to networks: names, certificates, and the settings of apt and pip.
for file in /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do
    [ ! -e $file ] || { mkdir -p "$root${file%/*}"; cp --dereference $file "$root$file"; }
done
for file in /etc/apt/apt.conf.d/*; do
    ! grep --quiet 'Acquire::' "$file" || cp "$file" "$root/etc/apt/apt.conf.d"
done

mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
chroot "$root" env --ignore-environment LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    ${http_proxy+http_proxy="$http_proxy"} ${https_proxy+https_proxy="$https_proxy"} \
    apt-get install --yes --no-install-recommends "$@" >>"$root.log"
# The package ca-certificates, and that of Java, make their files of single certificates.
single=$root/usr/local/share/ca-certificates
if [ -d "$single" ]; then
    csplit --quiet --elide-empty-files --digits 3 --suffix-format '%03d.crt' \
        --prefix "$single/machine-" /etc/ssl/certs/ca-certificates.crt '/BEGIN CERTIFICATE/' '{*}'
    chroot "$root" update-ca-certificates >>"$root.log" 2>&1
fi
rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*
