#!/bin/sh
# gpu-pack-llvm.sh DIR puts an LLVM into a folder made by gpu-pack.sh, for machines
# that have none: GPU_PACK_HOOK="$PWD/scripts/gpu-pack-llvm.sh" sh scripts/gpu-pack.sh DIR
# PACK_LLVM names the library to take; LLVM 14 is the smallest.
#
# Of the libraries that libLLVM needs, those that making PTX never calls are large:
# stubs take their place, libraries of the same names and symbols whose functions
# end the process. Needs gcc, nm and xz.
set -eu
dir=$1
llvm=${PACK_LLVM:-$(ls /usr/lib/*/libLLVM-14.so.1 /usr/lib/*/libLLVM.so.*.1 2>/dev/null | head -1)}
[ -f "$llvm" ] || { echo "gpu-pack-llvm: there is no libLLVM; name one in PACK_LLVM" >&2; exit 1; }
name=$(basename "$llvm")
lib=$dir/extra/lib
mkdir -p "$lib"

stub() { # soname: the symbols that libLLVM wants of it, with their versions
	real=$(ldd "$llvm" | awk -v so="$1" '$1 == so { print $3 }')
	[ -n "$real" ] || return 0
	work=$(mktemp -d)
	nm -D --defined-only "$real" | awk '{ sub(/@.*/, "", $3); print $3 }' | sort -u >"$work/has"
	nm -D --undefined-only "$llvm" | awk '{ print $2 }' >"$work/wanted"
	awk -F@ 'NR == FNR { has[$1] = 1; next } $1 in has { print $1, $2 }' "$work/has" "$work/wanted" >"$work/symbols"
	awk 'BEGIN { print "void abort(void);" } { print "void " $1 "(void) { abort(); }" }' "$work/symbols" >"$work/stub.c"
	awk '$2 != "" { of[$2] = of[$2] $1 "; " } END { for (v in of) print v " { global: " of[v] "};" }' "$work/symbols" >"$work/map"
	[ -s "$work/map" ] && script=-Wl,--version-script="$work/map" || script=
	# shellcheck disable=SC2086 # no word where there are no versions
	gcc -shared -fPIC -w -fno-builtin $script -Wl,-soname,"$1" -o "$lib/$1" "$work/stub.c"
	rm -r "$work"
}
for so in libxml2.so.2 libz3.so.4 libedit.so.2; do
	stub "$so"
done
for so in libffi.so.8 libtinfo.so.6 libzstd.so.1; do
	real=$(ldd "$llvm" | awk -v so="$so" '$1 == so { print $3 }')
	[ -n "$real" ] && cp -L "$real" "$lib/"
done
if [ ! -f "$dir/extra/$name.xz" ]; then
	rm -f "$dir/extra/"*.xz
	xz -T0 --x86 --lzma2=preset=9 -c "$llvm" >"$dir/extra/$name.xz"
fi
cat >"$dir/extra/env.sh" <<END
unpack "\$PACK/extra/$name.xz" "\$PACK/extra/lib/$name"
LACUNA_LLVM=\$PACK/extra/lib/$name
LD_LIBRARY_PATH=\$PACK/extra/lib:\${LD_LIBRARY_PATH:-}
export LACUNA_LLVM LD_LIBRARY_PATH
END
