#!/usr/bin/env bash
# Builds the four files of the npm package into wasm/dist: the small build and
# the full one (tag full: every op and image format, graphs in JSON), each with
# and without SIMD. SIMD needs Go 1.27, which all four are built with.
# Without nojsonv2 encoding/json is twice as large; without
# nosizespecializedmalloc the runtime is larger, and no faster here.
#
# The small build links the ops of package transforms/classification. OPS=FILE names
# another list: one op on each line; # starts a comment. dist/licenses has the
# licences of the modules in the files.
set -euo pipefail
cd "$(dirname "$0")"
GO=${GO:-go}
export GOOS=wasip1 GOARCH=wasm CGO_ENABLED=0 GOTOOLCHAIN=go1.27.2
# -toolexec changes no instruction; other flags may.
GOFLAGS=$(grep -o -- '-toolexec=[^ ]*' <<<"${GOFLAGS-}" || true)
export GOFLAGS
host() { GOOS= GOARCH= GOTOOLCHAIN= "$GO" "$1" -trimpath "${@:2}"; } # builds for this machine, as other steps do
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p dist
host build -o "$work/" ../tools/shake ../tools/wasmstrip
tags=small
rm -f ops_own.go
if [ "${OPS:-}" ]; then
  tags=small,own
  host run ../tools/oplist -package main -tags 'wasip1 && own' -o ops_own.go "$OPS"
  trap 'rm -rf "$work" ops_own.go' EXIT
fi

experiments() { echo "nojsonv2,nosizespecializedmalloc${1:+,$1}"; } # experiments EXPERIMENT

# The small build moves no columns with an image (tag small). No package of it
# calls the JSON methods: it does not link encoding/json. Nor does one call
# Plan.NewPool: it does not link context and syscall. With and without SIMD the
# packages have different files.
for x in '' simd; do
  GOEXPERIMENT=$(experiments "$x") "$work/shake" -tags $tags -drop MarshalJSON,UnmarshalJSON,OpList.String,Move,Plan.NewPool \
    -random datagraph.Runner.runDrawn -o "$work/small$x" .
done

build() { # build FILE EXPERIMENT FLAGS...
  local file=$1 experiment=$2
  shift 2
  GOEXPERIMENT=$(experiments "$experiment") "$GO" build \
    -buildmode=c-shared -trimpath -buildvcs=false -ldflags='-s -w' "$@" -o "dist/$file" .
  "$work/wasmstrip" "dist/$file"
}
# Only these packages of the small build inline calls: their loops take the
# time. The others are 9 KB smaller after brotli without.
module=github.com/infer-prep/infer-prep
small=("-gcflags=$module/...=-l")
for p in internal/exactmath internal/kernel codec/jpeg codec/png codec/internal/inflate; do
  small+=("-gcflags=$module/$p=")
done
build infer-prep.wasm '' -tags $tags "${small[@]}" -overlay "$work/small/overlay.json"
build infer-prep-simd.wasm simd -tags $tags "${small[@]}" -overlay "$work/smallsimd/overlay.json"
build infer-prep-full.wasm '' -tags full
build infer-prep-full-simd.wasm simd -tags full
(cd .. && TAGS=full .ci/licences wasm/dist/licenses ./wasm)
ls -l dist
