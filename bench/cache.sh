#!/bin/sh
# Measures what the cache of compiled kernels on disk saves, and writes
# bench/results/cache-YYYY-MM-DD.md.
#
#   sh bench/cache.sh [N]     N: how often to repeat, 50 by default
#
# It needs LLVM. Nothing else should be running.
set -eu
cd "$(dirname "$0")/.."
. bench/machine.sh
n=${1:-50}
$go build -o "$bin/lacuna" ./cmd/lacuna
$go build -C bench -o "$bin/cache" ./cache
out=bench/results/cache-$(date +%F).md
mkdir -p bench/results
{
	machine 'The cache of compiled kernels' "sh bench/cache.sh $n"
	cat <<'EOT'
Times are medians in milliseconds, the least in parentheses. *No cache* compiles with
LLVM (`LACUNA_CACHE=off`); *empty cache* does too, and writes, for which whole processes wait at
their end; *known kernel* finds what an earlier process wrote. The interpreter runs closures and
compiles nothing (`LACUNA_LLVM=none`). Files are in the page cache.

EOT
	"$bin/cache" -lacuna "$bin/lacuna" -n "$n"
	printf 'Load after: %s\n' "$(load)"
} >"$bin/report"
mv "$bin/report" "$out"
echo "wrote $out"
