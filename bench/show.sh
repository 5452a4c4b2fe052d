#!/bin/sh
# Measures the tasks of docs/go.md (task by task) beside gonum, SciPy and DuckDB, in processor time: ./show.sh [FOLDER]
# It takes Python with scipy and h5py (PYTHON=/usr/bin/python3 unless it is set), and node where npm install @duckdb/node-api has been run in
# FOLDER, else DuckDB is left out; the last task takes 16 GB of disk: LARGE=10000000 ./show.sh
set -eu
cd "$(dirname "$0")"
here=$(pwd)
python=${PYTHON:-/usr/bin/python3}
work=${1:-$(mktemp -d)}
work=$(mkdir -p "$work" && cd "$work" && pwd)
mkdir -p "$work/bin"
go build -C .. -o "$work/bin/" ./cmd/lacuna ./examples/ratings
go build -o "$work/bin/gonum" ./show/gonum
PATH="$work/bin:$PATH"
m() { "$python" "$here/show/measure.py" "$@"; }
cd "$work"
"$python" "$here/show/data.py" .
for turn in 1 2 3; do
	m "ratings, Lacuna" ratings ratings.csv
	m "ratings, SciPy" "$python" "$here/show/ratings.py" ratings.csv
	m "ratings, gonum" gonum ratings.csv
	m "labels, Lacuna" sh "$here/../examples/shell/labels.sh" cells.h5ad cell_type
	m "labels, h5py and SciPy" "$python" "$here/show/labels.py" cells.h5ad cell_type
	m "edges, Lacuna" sh "$here/../examples/shell/edges.sh" edges.csv two.csv
	if [ -d node_modules ]; then
		cp "$here/show/edges.mjs" .
		m "edges, DuckDB" node edges.mjs edges.csv duck.csv
	fi
done
if [ -n "${LARGE:-}" ]; then
	"$python" "$here/show/large.py" large.h5ad "$LARGE"
	m "large, Lacuna" sh "$here/../examples/shell/sums.sh" large.h5ad y.npy z.npy
	"$python" -c 'import numpy as np; z, w = np.load("z.npy"), np.load("large.h5ad.npy"); print("largest relative error of a column:", (abs(z - w) / w).max())'
fi
