#!/bin/sh
# What "make demo" shows, after setup and build: a sparse matrix times a vector,
# the loops that were generated for it, and PageRank on the packages that apt
# knows. Works without a network too, on an invented matrix and packages.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# found prints a matrix below one of the given directories, if there is one.
found() {
	find "$@" -name lund_a.mtx -o -name lund_a.mtx.gz 2>/dev/null | head -n 1
}

# real prints the path of a matrix that is in Debian and Ubuntu: it comes with
# the package Matrix of R, of which nothing but this file is used.
real() {
	m=$(found /usr/lib/R /usr/local/lib/R)
	if [ -z "$m" ] && command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null; then
		(cd "$work" && timeout 20 apt-get download -qq r-cran-matrix && dpkg-deb -x r-cran-matrix_*.deb r) >/dev/null 2>&1 || true
		m=$(found "$work")
	fi
	echo "$m"
}

# laplacian writes the matrix of the 5-point stencil on a grid of n by n points.
laplacian() {
	awk -v n="$1" 'BEGIN {
		print "%%MatrixMarket matrix coordinate real symmetric"
		print n*n, n*n, n*n + 2*n*(n-1)
		for (i = 1; i <= n*n; i++) {
			print i, i, 4
			if (i % n != 0) print i+1, i, -1
			if (i + n <= n*n) print i+n, i, -1
		}
	}'
}

bold= plain=
if [ -t 1 ]; then
	bold=$(printf '\033[1m') plain=$(printf '\033[0m')
fi
say() { printf '\n%s\n' "$bold$*$plain"; }

matrix=$(real)
if [ -n "$matrix" ]; then
	cp "$matrix" "$work/"
	what="lund_a of the Harwell-Boeing collection"
else
	laplacian 100 >"$work/laplacian.mtx"
	what="the Laplacian of a grid of 100 by 100 points"
fi
lacuna=$PWD/bin/lacuna
cd "$work"
matrix=$(echo *.mtx*)
n=$(gzip -cdf "$matrix" | awk '!/^%/ { print $2; exit }')

say "A sparse matrix times a vector: $what"
echo "\$ lacuna eval 'y(i) = sum_j A(i,j) * x(j)' A=$matrix:CSR 'x=random($n)' --time"
"$lacuna" eval 'y(i) = sum_j A(i,j) * x(j)' "A=$matrix:CSR" "x=random($n)" --time 2>&1

say "The loops that were generated for these formats"
echo "\$ lacuna explain 'y(i) = sum_j A(i,j) * x(j)' A:CSR x:D --stage loops"
"$lacuna" explain 'y(i) = sum_j A(i,j) * x(j)' A:CSR x:D --stage loops | sed -n '/^      for /,/^      }/p'

cd "$OLDPWD"
if command -v apt-cache >/dev/null && apt-cache dumpavail 2>/dev/null | grep -q '^Depends:'; then
	say "PageRank of this system's packages: which are most depended upon?"
	set --
else
	say "PageRank of an invented archive of packages"
	set -- -synthetic 50000
fi
echo "\$ go run ./examples/pagerank${*:+ $*}"
"${GO:-go}" run ./examples/pagerank "$@" 2>&1

say "Next: bin/lacuna help, README.md, and bin/lacuna doctor for what was found on this machine"
