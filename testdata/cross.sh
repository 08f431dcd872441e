#!/usr/bin/env bash
# Runs the tests that carry goldens on every platform that can be run here, shows
# that the digests of all tensors are the same, and builds for the others.
# Needs qemu-user-static (arm64) and node (wasm); on Debian it installs them when it can.
set -uo pipefail
cd "$(dirname "$0")/.."
GO=${GO:-go}
packages="./tensor ./codec/... ./internal/kernel/... ./transforms ./datagraph ./modelbundle ./onnx ./rng ./recordio/... ./records/... ./pack ./compat/... ./dataset/... ./pullpipe ./eager ./importer/... ./preset ./device ./device/cpu ./internal/digest"
fail=0

need() { # need COMMAND DEBIAN_PACKAGE
  command -v "$1" >/dev/null && return
  if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    { apt-get update && apt-get install -y --no-install-recommends "$2"; } >/dev/null 2>&1
  fi
  command -v "$1" >/dev/null || { echo "cross: $1 is missing (Debian: apt-get install $2)"; exit 1; }
}
need qemu-aarch64-static qemu-user-static
need node nodejs

# on NAME ENV... -- TEST_FLAGS...: runs the goldens and remembers the digest.
declare -A digests
on() {
  name=$1; shift
  env=(); while [ "$1" != -- ]; do env+=("$1"); shift; done; shift
  start=$SECONDS
  log=$(env "${env[@]}" "$GO" test -timeout 30m "$@" $packages 2>&1)
  if [ $? -ne 0 ]; then echo "$log" | tail -n 60; echo "$name: FAILED"; fail=1; return; fi
  digests[$name]=$(env "${env[@]}" "$GO" test "$@" -count=1 -v -run 'TestDigest$' ./internal/digest 2>&1 | sed -n 's/.*\(all tensors\|extremes\): \([0-9a-f]\{64\}\).*/\2/p' | xargs)
  printf '%-28s %s  %d s\n' "$name" "${digests[$name]:-no digest}" $((SECONDS - start))
  [ "${digests[$name]:-}" = "${digests[amd64]:-}" ] && [ -n "${digests[$name]:-}" ] || { echo "$name: its digest is not amd64's"; fail=1; }
}

# go_js_wasm_exec hands node the whole environment, which must fit 4 KiB.
wasm=$(mktemp); trap 'rm -f "$wasm"' EXIT
printf '#!/bin/sh\nexec env -i PATH="$PATH" HOME="$HOME" TMPDIR="${TMPDIR:-/tmp}" PWD="$PWD" %s "$@"\n' "$("$GO" env GOROOT)/lib/wasm/go_js_wasm_exec" >"$wasm"
chmod +x "$wasm"

on amd64 GOARCH=amd64 GOAMD64=v1 --
on 'amd64 -tags purego' GOARCH=amd64 GOAMD64=v1 -- -tags purego
on 'amd64 GOAMD64=v3' GOARCH=amd64 GOAMD64=v3 --
on linux/386 GOARCH=386 CGO_ENABLED=0 --
# EMULATOR is for tests that run themselves again.
on 'linux/arm64 (qemu)' GOARCH=arm64 CGO_ENABLED=0 EMULATOR=qemu-aarch64-static -- -exec qemu-aarch64-static
on 'js/wasm (node)' GOOS=js GOARCH=wasm CGO_ENABLED=0 -- -exec "$wasm"

# Go needs the platform's own linker for programs on ios and android/arm.
# Their packages are built without it.
libraries='{{if and .GoFiles (ne .Name "main")}}{{.ImportPath}}{{end}}'
builds() { # builds PLATFORM PACKAGES NOTE
  if GOOS=${1%/*} GOARCH=${1#*/} GOARM=7 CGO_ENABLED=0 "$GO" build $2; then echo "$1 builds$3"; else echo "$1: BUILD FAILED"; fail=1; fi
}
for p in android/arm64 windows/amd64 darwin/arm64 wasip1/wasm linux/arm linux/riscv64 linux/s390x; do builds $p ./... ''; done
for p in android/arm ios/arm64; do
  builds $p "$(GOOS=${p%/*} GOARCH=${p#*/} CGO_ENABLED=0 "$GO" list -e -f "$libraries" ./...)" ' (without programs)'
done
[ $fail = 0 ] && echo "cross: all platforms agree" || echo "cross: FAILED"
exit $fail
