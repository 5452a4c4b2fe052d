# What the scripts that run benchmarks share: they start with
#
#	set -eu
#	cd "$(dirname "$0")/.."
#	. bench/machine.sh
#
# LACUNA_CPU restricts both sides to a lesser processor, C by -march (internal/machine).
# LACUNA_CACHES says how large the caches are, if this machine does not.
#
# It sets $go, $python and $bin, a directory that is removed at the end.

go=${GO:-go}
export CGO_ENABLED=0

# A python3 that has SciPy: the first on the PATH may not be the system's.
python=python3
for p in python3 /usr/bin/python3; do
	if "$p" -c 'import scipy.sparse' 2>/dev/null; then
		python=$p
		break
	fi
done

bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT

fact() { printf '| %s | %s |\n' "$1" "$2"; }
load() { cut -d' ' -f1-3 /proc/loadavg 2>/dev/null || uptime; }

# machine TITLE COMMAND prints the head of a report. $bin/lacuna must be there.
machine() {
	printf '# %s, %s\n\n' "$1" "$(date +%F)"
	fact fact value
	fact --- ---
	fact processor "$(lscpu 2>/dev/null | sed -n 's/^Model name: *//p')"
	fact 'logical processors' "$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)"
	fact caches "$("$bin/lacuna" doctor | sed -n 's/^caches *//p')"
	fact memory "$(sed -n 's/^MemTotal: *//p' /proc/meminfo 2>/dev/null)"
	fact 'huge pages' "$(cat /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null)"
	fact system "$(uname -srm)"
	fact LLVM "$("$bin/lacuna" doctor | sed -n 's/^llvm *//p')"
	fact target "$("$bin/lacuna" doctor | sed -n 's/^target *//p')"
	fact gcc "$(gcc --version | head -n 1)"
	fact Go "$($go version)"
	fact SciPy "$("$python" -c 'import scipy, numpy; print(scipy.__version__, "with NumPy", numpy.__version__)' 2>/dev/null || echo none)"
	fact commit "$(git rev-parse --short HEAD 2>/dev/null || echo unknown)$(git diff --quiet HEAD 2>/dev/null || echo ' and changes since')"
	fact command "\`$2\`"
	fact 'load before' "$(load)"
	cat <<'EOT'

A load well above 0 before the start means that other work ran beside the
measurements: medians then say more about that work than about ours. *Least*
suffers least. *cpu* leaves out waiting for a processor, but not sharing its
caches and execution units. All sides of a table take turns, so ratios within a
table hold better than times.

EOT
}

# drawn PAGE draws a page's tables as a chart beside it.
drawn() {
	$go run -C bench ./chart "../$1" && echo "wrote $1 and ${1%.md}.png"
}

# compare NAME TITLE SUITE SECONDS LIMIT runs a suite of bench/sparse and writes
# bench/results/NAME-PROCESSOR-YYYY-MM-DD.md, with a chart.
compare() {
	$go build -C bench -o "$bin/sparse" ./sparse
	$go build -o "$bin/lacuna" ./cmd/lacuna
	target=$("$bin/lacuna" doctor | sed -n 's/^target *[^,]*, \([^ ]*\).*/\1/p')
	out=bench/results/$1-$target-$(date +%F).md
	mkdir -p bench/results
	{
		machine "$2" "${LACUNA_CPU:+LACUNA_CPU=$LACUNA_CPU }LIMIT=$5 sh bench/$1.sh $4"
		"$bin/sparse" -suite "$3" -seconds "$4" -limit "$5" -python "$python" || echo 1 >"$bin/failed"
		printf 'Load after: %s\n' "$(load)"
	} >"$bin/report"
	mv "$bin/report" "$out"
	drawn "$out"
	[ ! -e "$bin/failed" ]
}
