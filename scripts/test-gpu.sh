#!/bin/sh
# The tests that run on a GPU. Without one it says so and does nothing.
set -eu
cd "$(dirname "$0")/.."
if ! ${GO:-go} run ./cmd/lacuna doctor | grep -q '^engine *cuda *ready'; then
	echo "test-gpu: no GPU to run on, nothing is tested (see: lacuna doctor)"
	exit 0
fi
LACUNA_TEST_ENGINE=cuda
export LACUNA_TEST_ENGINE
failed=0
while read -r package arguments; do
	case $package in '#'* | '') continue ;; esac
	[ -d "$package" ] || continue
	# shellcheck disable=SC2086 # no argument has spaces
	${GO:-go} test -count=1 "./$package" $arguments </dev/null || failed=1
done <scripts/gpu-suites.txt
exit $failed
