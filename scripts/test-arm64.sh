#!/bin/sh
# test-arm64.sh runs tests of code generation, linking and calls for linux/arm64, by qemu-user on a machine of
# another architecture, with Debian's packages of LLVM for arm64 (those are unpacked, not installed), and the
# example in C with objects that were built for aarch64 here. It is not part of make test-long: it takes long.
#
#	sh scripts/test-arm64.sh                          all of arm64-suites.txt
#	sh scripts/test-arm64.sh runtime -test.run=Calls  one package, with arguments of one's own
#
# It needs qemu-user-static and, for the example, gcc-aarch64-linux-gnu (apt-get install both). ARM64_ROOT is where
# the packages go, by default ~/.cache/lacuna-arm64; ARM64_LLVM is the version of LLVM, by default 19.
set -eu
cd "$(dirname "$0")/.."
root=${ARM64_ROOT:-${XDG_CACHE_HOME:-$HOME/.cache}/lacuna-arm64}
llvm=${ARM64_LLVM:-19}
qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64) || {
	echo "test-arm64: there is no qemu-aarch64: apt-get install qemu-user-static" >&2
	exit 1
}

unpacked=$root/llvm$llvm
if [ ! -d "$unpacked" ]; then
	mkdir -p "$root/lists/partial" "$root/archives/partial"
	apt="apt-get -q -oAPT::Architecture=arm64 -oAPT::Architectures=arm64 -oDir::State::Lists=$root/lists -oDir::Cache=$root -oDir::State::status=/dev/null"
	$apt update
	rm -f "$root"/archives/*.deb
	$apt install -y --download-only --no-install-recommends "libllvm$llvm" libc6
	rm -rf "$unpacked.part"
	for deb in "$root"/archives/*.deb; do
		dpkg -x "$deb" "$unpacked.part"
	done
	mv "$unpacked.part" "$unpacked"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CGO_ENABLED=0
failed=0
# qemu runs one program: tests that start themselves again have nothing to start.
again='TestFatalErrorIsAnError|TestReleasePages|TestInterrupt|Process'
suite() { # package arguments…
	package=$1
	shift
	GOARCH=arm64 ${GO:-go} test -c -o "$work/test" "./$package"
	begin=$(date +%s)
	if (cd "$package" && LACUNA_CACHE=off "$qemu" -L "$unpacked" "$work/test" -test.short -test.timeout 60m "-test.skip=$again" "$@") >"$work/log" 2>&1; then
		echo "ok   $package  $(($(date +%s) - begin)) s"
	else
		failed=1
		cat "$work/log"
		echo "FAIL $package"
	fi
}
if [ $# -gt 0 ]; then
	suite "$@"
	exit $failed
fi
while read -r package arguments; do
	case $package in '#'* | '') continue ;; esac
	# shellcheck disable=SC2086 # no argument has spaces
	suite "$package" $arguments </dev/null
done <scripts/arm64-suites.txt

if gcc=$(command -v aarch64-linux-gnu-gcc); then
	${GO:-go} build -o "$work/lacuna" ./cmd/lacuna
	for target in generic apple-m1 neoverse-v1; do # neoverse-v1 has SVE
		"$work/lacuna" build 'y(i) = A(i,j)*x(j)' A:CSR --name spmv --target aarch64-linux-gnu --cpu $target -o "$work/spmv.o" -o "$work/spmv.h"
		"$work/lacuna" build 'C(i,j) = A(i,j) + B(i,j)' A:CSR B:CSR --name add --target aarch64-linux-gnu --cpu $target -o "$work/add.o" -o "$work/add.h"
		"$gcc" -O2 -static -I "$work" examples/c/main.c "$work/spmv.o" "$work/add.o" -o "$work/main"
		if "$qemu" -cpu max "$work/main" | cmp - examples/c/main.out; then
			echo "ok   examples/c for $target"
		else
			failed=1
			echo "FAIL examples/c for $target"
		fi
	done
else
	echo "test-arm64: skipped: examples/c needs gcc-aarch64-linux-gnu"
fi
exit $failed
