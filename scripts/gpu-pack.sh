#!/bin/sh
# gpu-pack.sh DIR packs the tests of gpu-suites.txt so that they run on a machine
# with a GPU but without Go, sources or network: DIR gets the test binaries, the
# testdata they read, and run.sh, which says what the machine is, runs all and sums up.
#
#	sh scripts/gpu-pack.sh /tmp/pack      here; then copy the folder, and there:
#	sh pack/run.sh                        all tests
#	sh pack/run.sh internal/cuda -test.run=GPU -test.bench=.      one package, with arguments of one's own
#	WRAP="compute-sanitizer --tool memcheck" sh pack/run.sh         all of them under another program
#	sh pack/run.sh sanitize               a selection, gpu-sanitize.txt, under each tool of compute-sanitizer
#	sh pack/run.sh sanitize racecheck     under one of them; SANITIZER names the program
#
# GPU_PACK_HOOK may name a program that is run with DIR as its argument before the
# sizes are summed up: what the tests need besides goes to DIR/extra, and
# DIR/extra/env.sh, if there is one, is read by run.sh with PACK set to DIR.
# gpu-pack-llvm.sh is such a program. The binaries travel compressed by xz (without it, Python unpacks them).
#
# LACUNA_TEST_ENGINE is "cuda" for the tests that obey it, unless it is set.
set -eu
[ $# = 1 ] || { echo "usage: gpu-pack.sh DIR" >&2; exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
export CGO_ENABLED=0
limit=60 # MB, of the whole

rm -rf "$dir/bin" "$dir/src"
mkdir -p "$dir/bin" "$dir/src" "$dir/extra"
: >"$dir/suites.txt"
while read -r package arguments; do
	case $package in '#'* | '') continue ;; esac
	[ -d "$package" ] || continue
	name=$(echo "$package" | tr / -)
	[ "$package" = . ] && name=root
	${GO:-go} test -c -trimpath -ldflags='-s -w' -o "$dir/bin/$name.test" "./$package" </dev/null
	[ -f "$dir/bin/$name.test" ] || continue # a package without tests
	mkdir -p "$dir/src/$package"
	if [ -d "$package/testdata" ]; then
		cp -R "$package/testdata" "$dir/src/$package/"
	fi
	echo "$package $name $arguments" >>"$dir/suites.txt"
done <scripts/gpu-suites.txt
sed -e '/^#/d' -e 's/^\([^ ]*\)/\1 \1/' scripts/gpu-sanitize.txt | awk '{ gsub("/", "-", $2); print }' >"$dir/sanitize.txt"
xz -T0 --x86 --lzma2=preset=9 "$dir"/bin/* # a filter for jumps and calls

cat >"$dir/run.sh" <<'END'
#!/bin/sh
# Runs the packed tests: all of them, or those of one package with the arguments
# that follow its name. The log of each is in logs/, or in the folder LOGS names.
# "sanitize" runs a selection by itself, which fills a cache of kernels, so that no
# LLVM is opened later, and then under each tool of compute-sanitizer.
PACK=$(cd "$(dirname "$0")" && pwd)
export PACK
logs=${LOGS:-$PACK/logs}
mkdir -p "$logs"
unpack() { # from.xz to
	[ -f "$2" ] && return
	if command -v xz >/dev/null; then
		xz -dc "$1" >"$2.part"
	else
		python3 -c 'import lzma, shutil, sys; shutil.copyfileobj(lzma.open(sys.argv[1]), open(sys.argv[2], "wb"))' "$1" "$2.part"
	fi && mv "$2.part" "$2"
}
for packed in "$PACK"/bin/*.xz; do
	[ -f "$packed" ] && unpack "$packed" "${packed%.xz}" && rm "$packed"
done
chmod +x "$PACK"/bin/*
[ -f "$PACK/extra/env.sh" ] && . "$PACK/extra/env.sh"
LACUNA_TEST_ENGINE=${LACUNA_TEST_ENGINE-cuda}
export LACUNA_TEST_ENGINE
if [ "${1:-}" = sanitize ]; then
	shift
	sanitizer=${SANITIZER:-$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)}
	LACUNA_CACHE=${LACUNA_CACHE:-$PACK/cache}
	export LACUNA_CACHE
	failed=0
	for tool in plain ${*:-memcheck racecheck initcheck synccheck}; do
		printf '\n%s\n' "$tool"
		[ $tool = plain ] && wrap= || wrap="$sanitizer --tool $tool --error-exitcode 99 --print-limit 20"
		SUITES=sanitize.txt LOGS="$logs/$tool" WRAP="timeout ${LIMIT:-180} $wrap" sh "$PACK/run.sh" || failed=1
		for log in "$logs/$tool"/*.log; do
			grep -H -e '=========.*ERROR SUMMARY' -e '=========.*RACECHECK SUMMARY' "$log"
		done
	done
	exit $failed
fi
[ "${SUITES:-}" ] || "$PACK/bin/runtime.test" -test.run='^TestDescribe$' -test.v
only=${1:-}
[ $# -gt 0 ] && shift
failed=0
ran=0
echo
while read -r package name arguments; do
	[ -n "$only" ] && [ "$only" != "$package" ] && continue
	[ $# -gt 0 ] && arguments=$*
	ran=$((ran + 1))
	began=$(date +%s)
	# The working directory is the package's, as under go test.
	(cd "$PACK/src/$package" && exec ${WRAP:-} "$PACK/bin/$name.test" -test.v $arguments) >"$logs/$name.log" 2>&1 </dev/null
	status=$?
	count() { grep -c "^ *--- $1" "$logs/$name.log"; }
	printf '%-24s %s  %s passed, %s failed, %s skipped, %s s\n' "$package" \
		"$([ $status = 0 ] && echo ok || echo "FAILED ($status)")" "$(count PASS)" "$(count FAIL)" "$(count SKIP)" $(($(date +%s) - began))
	if [ $status != 0 ]; then
		failed=1
		grep -A12 -E '^ *--- FAIL|^panic:|^fatal error:' "$logs/$name.log" | head -80
	fi
	grep '^Benchmark.*ns/op' "$logs/$name.log"
done <"$PACK/${SUITES:-suites.txt}"
[ $ran -gt 0 ] || { echo "run.sh: there is no package $only in suites.txt" >&2; exit 2; }
exit $failed
END

if [ -n "${GPU_PACK_HOOK:-}" ]; then
	"$GPU_PACK_HOOK" "$dir"
fi
size=$(du -sm "$dir" | cut -f1)
du -sm "$dir"/* | sort -rn
echo "gpu-pack: $size MB in $dir"
if [ "$size" -gt "$limit" ]; then
	echo "gpu-pack: that is more than $limit MB" >&2
	exit 1
fi
