#!/bin/sh
# Measures reading and writing of Matrix Market files, beside SciPy's reader, and
# writes bench/results/files-YYYY-MM-DD.md.
#
#   sh bench/files.sh [BYTES] [REPEAT]     1073741824 and 5 by default
#
# It needs about four times BYTES of disk in $TMPDIR, as much memory for SciPy, LLVM, and
# python3-scipy if the tables are to be complete. Nothing else should be running.
set -eu
cd "$(dirname "$0")/.."
. bench/machine.sh
bytes=${1:-1073741824}
repeat=${2:-5}

$go build -C bench -o "$bin/mtxgen" ./mtxgen
$go build -C bench -o "$bin/files" ./files
$go build -o "$bin/lacuna" ./cmd/lacuna
for order in rows columns random; do
	"$bin/mtxgen" -bytes "$bytes" -order $order -o "$bin/$order.mtx"
done
scipy=
"$python" -c 'import scipy.io' 2>/dev/null && scipy=$python

out=bench/results/files-$(date +%F).md
mkdir -p bench/results
{
	machine 'Files' "sh bench/files.sh $bytes $repeat"
	cat <<'EOT'
One f64 matrix of a million rows and columns, its entries listed by rows, by columns
or in no order; values have 16 or 17 digits. MB are 10^6 bytes. A read is from the
path to the tensor, in a new process each time, from files in the page cache. *Peak* is
VmHWM of the process: text in flight, the program and the runtime are the part beyond
arrays.

EOT
	"$bin/files" -python "$scipy" -repeat "$repeat" "$bin/rows.mtx" "$bin/columns.mtx" "$bin/random.mtx" || echo 1 >"$bin/failed"
	printf 'Load after: %s\n' "$(load)"
} >"$bin/report"
mv "$bin/report" "$out"
echo "wrote $out"
[ ! -e "$bin/failed" ]
