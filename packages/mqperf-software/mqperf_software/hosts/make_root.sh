# FOLDER PACKAGE VERSION RELEASE BYTES FILL: make FOLDER/PACKAGE-VERSION-RELEASE, unless it is there.
#
# FILL is the script that fills it; so many BYTES must be free. One at a time makes it, and it has
# its name once it is whole. What is said last tells why it could not be made: code 3 with the bytes
# that are free, code 4 with the version that the release has instead of any VERSION.x.
set -eu
folder=$1 package=$2 version=$3 release=$4 bytes=$5 fill=$6
partial=$folder/$package-$release.partial

mkdir -p "$folder"
exec 9>"$folder/$package-$release.lock"
flock 9
for there in "$folder/$package-$version-$release" "$folder/$package-$version".*"-$release"; do
    [ ! -d "$there" ] || exit 0
done
rm -rf --one-file-system "$partial" || { echo "may a process still run in $partial?" >&2; exit 1; }
free=$(df --output=avail --block-size=1 "$folder" | tail -n 1)
[ "$free" -ge "$bytes" ] || { echo "$free"; exit 3; }
unshare --mount --pid --fork --kill-child=KILL sh "$fill" "$release" "$partial" "$package" || {
    tail -n 5 "$partial.log" >&2
    exit 1
}
got=$(dpkg-query --admindir "$partial/var/lib/dpkg" \
    --show --showformat '${source:Upstream-Version}' "$package")
got=${got%%+*}
case $got in
"$version" | "$version".*) ;;
*)
    rm -rf --one-file-system "$partial"
    echo "$got"
    exit 4
    ;;
esac
rm -f "$partial.log"
mv "$partial" "$folder/$package-$got-$release"
