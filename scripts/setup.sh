#!/bin/sh
# Installs what is missing: with "run" the shared library of LLVM, with "test" also the
# LLVM versions that the engine tests run against, the HDF5 programs that files are compared
# with, what the Python package and releases are tested with, two libraries of MPI, and a browser and npm for the
# explorer. Does nothing, and needs no network, when everything is there.
set -eu

want="libllvm19"
if [ "${1:-run}" = test ]; then
	want="libllvm14 libllvm19 libllvm22 python3-h5py hdf5-tools chromium
		gcc libc6-dev python3-scipy python3-sparse python3-venv python3-pip python3-setuptools python3-wheel debootstrap
		libopenmpi3 openmpi-bin libmpich12 mpich"
	command -v npm >/dev/null 2>&1 || want="$want npm" # it may have come with another Node.js than Debian's
fi

missing=""
for p in $want; do
	if ! dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed'; then
		missing="$missing $p"
	fi
done
[ -z "$missing" ] && exit 0

if ! command -v apt-get >/dev/null 2>&1; then
	echo "setup: not a Debian or Ubuntu system; install these by hand for machine code:$missing" >&2
	exit 0
fi
as_root=""
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null 2>&1 || { echo "setup: run as root, or install:$missing" >&2; exit 1; }
	as_root=sudo
fi
$as_root apt-get update -qq || true
for p in $missing; do
	# Not every release carries every version: one of them is enough to run.
	if apt-cache show "$p" >/dev/null 2>&1; then
		echo "setup: installing $p"
		DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends "$p" >/dev/null ||
			echo "setup: $p cannot be installed; going on without it" >&2
	else
		echo "setup: $p is not in this release's archive; going on without it" >&2
	fi
done
