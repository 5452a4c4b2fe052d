#!/bin/sh
# Compares conversions, sums and products of a matrix that is larger than --memory with the disk, in turns, and prints a table.
#
#   sh bench/outofcore.sh [DIR [ROWS [MEMORY]]]     in DIR (TMPDIR), ROWS of 160 entries (2000000: 3.85 GB), 512MiB
#
# It takes 15 GB of disk and about ten minutes with 2000000 rows, and needs python3-h5py and python3-numpy. Nothing else should be running.
set -eu
cd "$(dirname "$0")/.."
dir=${1:-${TMPDIR:-/tmp}} rows=${2:-2000000} memory=${3:-512MiB}
work=$(mktemp -d "$dir/outofcore.XXXXXX")
trap 'rm -rf "$work"' EXIT
export CGO_ENABLED=0
${GO:-go} build -o "$work/lacuna" ./cmd/lacuna
${PYTHON:-/usr/bin/python3} bench/outofcore.py "$rows" 160 "$work/a.bsp.h5"
cd "$work"
cold() { sync; dd if=a.bsp.h5 iflag=nocache count=0 status=none; }
seconds() { start=$(date +%s.%N); "$@" >/dev/null; end=$(date +%s.%N); echo "$end - $start" | bc; }
size=$(stat -c %s a.bsp.h5)
./lacuna convert "random($rows,density=1,seed=1):D" -o x.npy
./lacuna convert "random($rows,4,density=1,seed=1):D" -o X.npy
cold
read=$(seconds dd if=a.bsp.h5 of=/dev/null bs=4M iflag=direct status=none)
write=$(seconds dd if=/dev/zero of=w bs=4M count=$((size / 4194304)) oflag=direct status=none)
rm -f w
echo "The disk reads $size bytes in $read s and writes as many in $write s (dd, direct); load $(cut -d' ' -f1-3 /proc/loadavg)."
echo
echo "| --memory $memory | reads | writes | least, s | wall, s | processor, s | peak, KiB | of the disk |"
echo "|---|--:|--:|--:|--:|--:|--:|--:|"
# row NAME READS WRITES COMMAND...: reads and writes are of the whole file
row() {
	name=$1 reads=$2 writes=$3
	shift 3
	for turn in 1 2; do
		cold
		/usr/bin/time -o t -f '%e %U %S %M' "$@" >/dev/null
		awk -v n="$name, $turn" -v r="$reads" -v w="$writes" -v tr="$read" -v tw="$write" \
			'{ least = r*tr + w*tw; printf "| %s | %s | %s | %.1f | %.1f | %.1f | %d | %.0f %% |\n", n, r, w, least, $1, $2+$3, $4, 100*least/$1 }' t
		rm -f out.*
	done
}
A=a.bsp.h5:CSR
row 'y = A x' 1 0 ./lacuna eval 'y(i) = sum_j A(i,j)*x(j)' A=$A x=x.npy --memory "$memory" -o out.npy
row 'Y = A X, 4 columns' 1 0 ./lacuna eval 'Y(i,k) = sum_j A(i,j)*X(j,k)' A=$A X=X.npy --memory "$memory" -o out.npy
row 'row sums' 0.667 0 ./lacuna eval 'r(i) = sum_j A(i,j)' A=$A --memory "$memory" -o out.npy
row 'C = A + A' 1 1 ./lacuna eval 'C(i,j) = A(i,j) + B(i,j)' A=$A B=$A C:CSR --memory "$memory" -o out.bsp.h5
row 'CSR to CSC' 2 2 ./lacuna convert a.bsp.h5 --format CSC --memory "$memory" -o out.bsp.h5
