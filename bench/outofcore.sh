#!/bin/sh
# Compares programs and conversions of matrices that are larger than --memory with the disk, and prints a table.
#
#   sh bench/outofcore.sh [DIR [ROWS [MEMORY [WHAT]]]]     in DIR (TMPDIR), ROWS of 160 entries (2000000: 3.85 GB), 512MiB
#
# WHAT is some of 'vector vectors sums add convert product' (all). With 2000000 rows all take 18 GB of disk and about ten minutes; TURNS is how often each is run (2).
# It needs python3-h5py and python3-numpy. Nothing else should be running.
set -eu
cd "$(dirname "$0")/.."
dir=${1:-${TMPDIR:-/tmp}} rows=${2:-2000000} memory=${3:-512MiB} what=" ${4:-vector vectors sums add convert product} "
work=$(mktemp -d "$dir/outofcore.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
export CGO_ENABLED=0
${GO:-go} build -o "$work/lacuna" ./cmd/lacuna
make() { ${PYTHON:-/usr/bin/python3} bench/outofcore.py "$1" "$2" "$work/$3"; }
wanted() { case $what in *" $1 "*) ;; *) false ;; esac }
size() { stat -c %s "$1"; }
seconds() {
	start=$(date +%s.%N)
	"$@" >&2
	echo "$(date +%s.%N) - $start" | bc
}
# disk FILE measures it: what is read and written directly in a second, of up to 4 GiB
disk() {
	blocks=$(($(size "$1") / 4194304))
	[ "$blocks" -le 1024 ] || blocks=1024
	read=$(seconds dd if="$1" of=/dev/null bs=4M count=$blocks iflag=direct status=none)
	write=$(seconds dd if=/dev/zero of=w bs=4M count=$blocks oflag=direct status=none)
	rm -f w
	read=$(echo "$blocks * 4.194304 / $read" | bc) write=$(echo "$blocks * 4.194304 / $write" | bc)
	echo "The disk reads $read MB/s and writes $write MB/s (dd, direct); load $(cut -d' ' -f1-3 /proc/loadavg)."
	echo
}
cold() {
	sync
	for f in *.bsp.h5; do dd if="$f" iflag=nocache count=0 status=none; done
}
# row WHAT NAME READS AGAIN COMMAND...: the bytes that must be read, and those that are written on the way and read again
row() {
	wanted "$1" || return 0
	name=$2 reads=$3 again=$4
	shift 4
	for turn in $(seq "${TURNS:-2}"); do
		cold
		/usr/bin/time -o t -f '%e %U %S %M' "$@" >/dev/null
		awk -v n="$name, $turn" -v r="$((reads + again))" -v w="$(($(size out.*) + again))" -v rate="$read" -v written="$write" -v l="$(cut -d' ' -f1 /proc/loadavg)" \
			'{ least = r/rate/1e6 + w/written/1e6; printf "| %s | %.2f | %.2f | %.1f | %.1f | %.1f | %d | %s | %.0f %% |\n", n, r/1e9, w/1e9, least, $1, $2+$3, $4/1024, l, 100*least/$1 }' t
		rm -f out.*
	done
}
head() {
	disk "$1"
	echo "| --memory $memory | reads, GB | writes, GB | least, s | wall, s | processor, s | peak, MiB | load | of the disk |"
	echo "|---|--:|--:|--:|--:|--:|--:|--:|--:|"
}
if [ "$what" != " product " ]; then
	make "$rows" 160 a.bsp.h5
	cd "$work"
	./lacuna convert "random($rows,density=1,seed=1):D" -o x.npy
	./lacuna convert "random($rows,4,density=1,seed=1):D" -o X.npy
	head a.bsp.h5
	A=a.bsp.h5:CSR all=$(size a.bsp.h5)
	row vector 'y = A x' "$all" 0 ./lacuna eval 'y(i) = sum_j A(i,j)*x(j)' A=$A x=x.npy --memory "$memory" -o out.npy
	row vectors 'Y = A X, 4 columns' "$all" 0 ./lacuna eval 'Y(i,k) = sum_j A(i,j)*X(j,k)' A=$A X=X.npy --memory "$memory" -o out.npy
	row sums 'row sums' $((rows * (160 * 8 + 8))) 0 ./lacuna eval 'r(i) = sum_j A(i,j)' A=$A --memory "$memory" -o out.npy
	# An entry is 16 bytes in a bucket.
	row convert 'CSR to CSC' "$all" $((rows * 160 * 16)) ./lacuna convert a.bsp.h5 --format CSC --memory "$memory" -o out.bsp.h5
	if wanted add; then
		cp a.bsp.h5 b.bsp.h5
		row add 'C = A + B' $((2 * all)) 0 ./lacuna eval 'C(i,j) = A(i,j) + B(i,j)' A=$A B=b.bsp.h5:CSR C:CSR --memory "$memory" -o out.bsp.h5
		rm b.bsp.h5
	fi
	rm a.bsp.h5 x.npy X.npy
	cd - >/dev/null
fi
if wanted product; then # 8 entries a row, so that a product has 64
	n=$((rows * 5 / 2))
	make $n 8 p.bsp.h5
	make $n 8 q.bsp.h5
	cd "$work"
	head p.bsp.h5
	row product "C = A B, $n rows of 8" $((2 * $(size p.bsp.h5))) 0 ./lacuna eval 'C(i,k) = sum_j A(i,j)*B(j,k)' A=p.bsp.h5:CSR B=q.bsp.h5:CSR C:CSR --memory "$memory" -o out.bsp.h5
fi
