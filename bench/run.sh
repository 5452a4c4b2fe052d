#!/bin/sh
# Runs all benchmarks but those of sparse results (bench/sparse.sh) and writes
# bench/results/cpu-YYYY-MM-DD.md, with a chart.
#
#   sh bench/run.sh [TIME]     TIME: how long to measure for each table, 10s by default
#
# It needs gcc, LLVM and about 2 GB of memory; SciPy (python3-scipy) and
# apt-cache if the tables are to be complete. Nothing else should be running.
set -eu
cd "$(dirname "$0")/.."
. bench/machine.sh
time=${1:-10s}

$go build -C bench -o "$bin/bench" .
$go build -C bench -o "$bin/memory" ./memory
$go build -o "$bin/lacuna" ./cmd/lacuna

out=bench/results/cpu-$(date +%F).md
mkdir -p bench/results
{
	machine 'CPU benchmarks' "sh bench/run.sh $time"
	"$bin/bench" -time "$time" -python "$python"
	"$bin/memory"
	printf 'Load after: %s\n' "$(load)"
} >"$bin/report"
mv "$bin/report" "$out"
drawn "$out"
