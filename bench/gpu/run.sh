#!/bin/sh
# run.sh DIR [CASE,...] measures the cases, all of them without a list, and the peers, and prints the
# table. DIR gets the matrices, unless they are there, and ours.txt and peers.txt. GPU names the
# program, built with "go build -C bench ./gpu"; without it, ./gpu. SECONDS_EACH is the time for a case.
# Each case is a process of its own, with an empty cache of kernels at first.
set -eu
[ $# -ge 1 ] || { echo "usage: run.sh DIR [CASE,...]" >&2; exit 2; }
gpu=${GPU:-./gpu}
here=$(dirname "$0")
mkdir -p "$1"
dir=$(cd "$1" && pwd)
only=${2:-}
[ -f "$dir/tiny.cols" ] || "$gpu" -dir "$dir" -gen
rm -rf "$dir/cache"
export LACUNA_CACHE="$dir/cache"
: >"$dir/ours.txt"
for c in $(if [ -n "$only" ]; then echo "$only" | tr , ' '; else "$gpu" -list; fi); do
	timeout 120 "$gpu" -dir "$dir" -case "$c" -seconds "${SECONDS_EACH:-0.3}" >>"$dir/ours.txt" 2>"$dir/error.txt" ||
		echo "$c failed: status $? $(head -c 200 "$dir/error.txt" | head -1)" >>"$dir/ours.txt"
	tail -1 "$dir/ours.txt"
done
# shellcheck disable=SC2086 # no word where there is no list
timeout "${PEERS_LIMIT:-900}" python3 "$here/peers.py" "$dir" $only >"$dir/peers.txt" 2>"$dir/error.txt" ||
	echo "peers.py ended with status $?: $(tail -1 "$dir/error.txt")" >&2
cat "$dir/peers.txt"
echo
python3 "$here/table.py" "$dir/ours.txt" "$dir/peers.txt"
