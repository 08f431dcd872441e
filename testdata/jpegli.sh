#!/usr/bin/env bash
# usage: jpegli.sh WASM-EXECUTOR
# Runs the tests of the module codec/jpegli on the platforms of cross.sh, which
# calls it: its files have the same bytes on all of them, and so have packs.
set -uo pipefail
cd "$(dirname "$0")/../codec/jpegli"
GO=${GO:-go}
failed=0
on() { # on NAME ENV... -- TEST_FLAGS...
  local name=$1 env=() start=$SECONDS log; shift
  while [ "$1" != -- ]; do env+=("$1"); shift; done; shift
  if log=$(env "${env[@]}" "$GO" test -vet=off -short -timeout 30m "$@" . 2>&1); then
    echo "codec/jpegli: $name: the same bytes  $((SECONDS - start)) s"
  else
    echo "$log" | tail -n 60
    echo "codec/jpegli: $name: FAILED"; failed=1
  fi
}
on amd64 GOARCH=amd64 GOAMD64=v1 --
on 'amd64 GOAMD64=v3 -tags purego' GOARCH=amd64 GOAMD64=v3 -- -tags purego
on linux/386 GOARCH=386 CGO_ENABLED=0 --
on 'linux/arm64 (qemu)' GOARCH=arm64 CGO_ENABLED=0 -- -exec qemu-aarch64-static
on 'linux/s390x (qemu)' GOARCH=s390x CGO_ENABLED=0 -- -exec qemu-s390x-static
on 'js/wasm (node)' GOOS=js GOARCH=wasm CGO_ENABLED=0 -- -exec "$1"
# Not optimized: cross.sh builds the program so, for two of them.
for p in windows/amd64 darwin/arm64; do
  GOOS=${p%/*} GOARCH=${p#*/} CGO_ENABLED=0 "$GO" build -gcflags='all=-N -l' . || { echo "codec/jpegli: $p: BUILD FAILED"; failed=1; }
done
# Optimized, as package shake builds for it.
GOOS=wasip1 GOARCH=wasm CGO_ENABLED=0 "$GO" build . || { echo "codec/jpegli: wasip1/wasm: BUILD FAILED"; failed=1; }
exit $failed
