#!/bin/sh
# Builds the wheel of the Python package, installs it in a fresh virtual environment, which sees the system's NumPy and
# SciPy, and runs its tests there. Says so and does nothing where what it needs is missing.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-/usr/bin/python3}

if ! command -v gcc >/dev/null 2>&1; then
	echo "python: skipped: there is no gcc, which cgo needs"
	exit 0
fi
for module in numpy scipy venv ensurepip pip setuptools wheel; do
	if ! "$python" -c "import $module" 2>/dev/null; then
		echo "python: skipped: $python has no $module (sh scripts/setup.sh test installs it)"
		exit 0
	fi
done

work=$(mktemp -d)
trap 'rm -rf "$work" "$root/python/build" "$root"/python/*.egg-info' EXIT
"$python" -m venv --system-site-packages "$work/venv"
"$work/venv/bin/pip" wheel --quiet --no-index --no-deps --no-build-isolation -w "$work/wheels" "$root/python"
"$work/venv/bin/pip" install --quiet --no-index --no-deps "$work"/wheels/*.whl
echo "python: $(basename "$work"/wheels/*.whl)"
cd "$work" # not where the sources are
venv/bin/python -W ignore -m unittest discover -s "$root/python/tests"
