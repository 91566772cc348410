# FOLDER PACKAGE VERSION RELEASE BYTES FILL: make FOLDER/PACKAGE-VERSION-RELEASE, unless it is there.
#
# FILL is the script that fills it; BYTES must be free. A lock excludes others, and the folder gets
# its name once it is complete. Exit code 3: too little space, and the free bytes are printed; code
# 4: the release has no VERSION.x, and its version is printed; others: the last lines say why.
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
    [ ! -e "$partial.log" ] || tail -n 5 "$partial.log" >&2
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
