#!/bin/sh
# Makes a release for one platform twice, from two folders and with an empty build cache, and compares the files; then
# installs the package in a fresh Debian and runs the first example. What this machine lacks is said and left out.
# PLATFORMS may name more of them, this one among them: PLATFORMS=linux/amd64,windows/amd64 sh scripts/test-release.sh
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
go=${GO:-go}
arch=$("$go" env GOHOSTARCH)
case "$("$go" env GOHOSTOS)/$arch" in
linux/amd64 | linux/arm64) ;;
*)
	echo "release: skipped: this test is for Linux on amd64 and arm64"
	exit 0
	;;
esac
if ! command -v git >/dev/null 2>&1 || ! git -C "$root" rev-parse HEAD >/dev/null 2>&1; then
	echo "release: skipped: this is not a repository of git"
	exit 0
fi

work=$(mktemp -d)
clean() {
	chmod -R u+w "$work" 2>/dev/null || true
	rm -rf "$work"
}
trap clean EXIT
bare=
command -v npm >/dev/null 2>&1 || bare=-bare
git clone -q "$root" "$work/one"
git clone -q "$work/one" "$work/two" # root may move on meanwhile
commit=$(git -C "$work/one" rev-parse HEAD)
for n in one two; do
	cache=$("$go" env GOCACHE)
	[ $n = one ] || cache=$work/cache
	# The explorer is inside where npm is there to make it.
	(cd "$work/$n" && GOCACHE=$cache "$go" run ./scripts/release $bare -platforms "${PLATFORMS:-linux/$arch}" -o "$work/dist-$n")
done
diff -r "$work/dist-one" "$work/dist-two"
(cd "$work/dist-one" && sha256sum --quiet -c SHA256SUMS)
echo "release: two builds, the same $(ls "$work/dist-one" | wc -l) files"

if ! command -v debootstrap >/dev/null 2>&1 || [ "$(id -u)" != 0 ]; then
	echo "release: the package was not installed: that takes debootstrap, and root"
	exit 0
fi
if ! debootstrap --variant=minbase bookworm "$work/debian" >"$work/log" 2>&1; then
	tail -3 "$work/log"
	echo "release: the package was not installed: debootstrap made no Debian here"
	exit 0
fi
cp "$work"/dist-one/*.deb "$work/debian/lacuna.deb"
inside() { chroot "$work/debian" "$@"; }
inside dpkg -i /lacuna.deb >/dev/null
inside lacuna version | grep -q "commit $commit,"
inside lacuna eval 'y(i) = sum_j A(i,j) * x(j)' A=/usr/share/doc/lacuna/examples/small.mtx:CSR 'x=range(5)' | tee "$work/answer"
grep -q '9   0   0  20' "$work/answer"
inside dpkg -r lacuna >/dev/null
echo "release: installed in a fresh Debian, ran, removed"
