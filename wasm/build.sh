#!/usr/bin/env bash
# Builds the four files of the npm package into wasm/dist: the small build and
# the full one (tag full: every op and image format, graphs in JSON), each with
# and without SIMD. SIMD needs Go 1.27, which all four are built with.
# Without nojsonv2 encoding/json is twice as large; without
# nosizespecializedmalloc the runtime is larger, and no faster here.
set -euo pipefail
cd "$(dirname "$0")"
GO=${GO:-go}
export GOOS=wasip1 GOARCH=wasm CGO_ENABLED=0 GOTOOLCHAIN=go1.27.2 GOFLAGS=
mkdir -p dist
build() { # build FILE EXPERIMENT TAGS
  GOEXPERIMENT=nojsonv2,nosizespecializedmalloc${2:+,$2} "$GO" build -buildmode=c-shared -trimpath -buildvcs=false -ldflags='-s -w' -tags="$3" -o "dist/$1" .
}
build infer-prep.wasm '' ''
build infer-prep-simd.wasm simd ''
build infer-prep-full.wasm '' full
build infer-prep-full-simd.wasm simd full
ls -l dist
