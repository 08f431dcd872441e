#!/usr/bin/env bash
# Runs the tests that carry goldens on every platform that can be run here, shows
# that the digests of all tensors are the same, and builds or type-checks for
# the others.
# Needs qemu-user-static (arm64, arm, s390x) and node (wasm); on Debian it installs them when it can,
# and nothing else with --install.
set -uo pipefail
cd "$(dirname "$0")/.."
GO=${GO:-go}
# The packages whose tests take longest come first: two run at once, and none of
# them should be left alone at the end.
long="./tools/digest ./transforms ./internal/exactmath ./internal/kernel/... ./datagraph ./codec/jpeg ./compat/..."
packages="$long ./tensor ./codec/... ./modelbundle ./onnx ./rng ./recordio/... ./records/... ./pack ./dataset/... ./pullpipe ./eager ./importer/... ./device ./device/cpu"
# -tags purego and GOAMD64=v3 replace assembly and float arithmetic. All of it
# is in packages that import internal/kernel or internal/cpu, or that compute.
numbers="$long ./internal/cpu ./tensor ./codec/... ./onnx ./rng ./recordio"
# The packages that the vectors of wasm change.
kernels="./tools/digest ./transforms ./internal/exactmath ./internal/kernel/... ./datagraph ./codec/jpeg"
# The packages that read or write numbers of several bytes.
bytes="$long ./tensor ./codec/... ./modelbundle ./onnx ./rng ./recordio/... ./records/... ./dataset/internal/... ./dataset/sets/internal/..."
# The compiler takes a quarter less time without its garbage collector. Tests
# keep theirs: they are compiled before they run.
compiler=(GOGC=off GOMEMLIMIT=2GiB)
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
[ "${1-}" != --install ] || exit 0

dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT

# on NAME PACKAGES ENV... -- TEST_FLAGS...: runs the tests and compares the
# digest. "make test" and "make lint" vet already.
reference=
on() {
  name=$1 list=$2 tags=; shift 2
  case " $* " in *' -tags purego '*) tags='-tags purego' ;; esac
  env=(); while [ "$1" != -- ]; do env+=("$1"); shift; done; shift
  start=$SECONDS log=$dir/log
  env "${env[@]}" "${compiler[@]}" "$GO" list -export -test $tags $list >/dev/null || true # go test reports errors
  if ! env "${env[@]}" "$GO" test -vet=off "$@" $list >"$log" 2>&1; then
    grep -E '^# |^[^ ]+\.go:[0-9]+:[0-9]+: ' "$log"
    grep -B 40 -E -e '--- FAIL|^panic|^fatal error' "$log" | tail -n 120
    grep '^FAIL' "$log"
    echo "$name: FAILED"; fail=1; return
  fi
  # The first platform's tests are often cached, without what they log.
  [ -n "$reference" ] || env "${env[@]}" "$GO" test -vet=off "$@" -count=1 -v -run 'TestDigest$' ./tools/digest >"$log" 2>&1
  digest=$(sed -n 's/.*\(all tensors\|extremes\): \([0-9a-f]\{64\}\).*/\2/p' "$log" | xargs)
  printf '%-28s %s  %d s, %d packages, %d skips\n' "$name" "${digest:-no digest}" $((SECONDS - start)) "$("$GO" list $list | wc -l)" "$(grep -c -e '--- SKIP' "$log")"
  grep -B 1 -e '--- SKIP' "$log" | grep -v '^--$' | sed 's/^ */    /'
  sed -n 's/^ *[a-z0-9_]*\.go:[0-9]*: short: \([^:/]*\)[^:]*: /\1: /p' "$log" >>"$dir/short"
  reference=${reference:-$digest}
  [ -n "$digest" ] && [ "$digest" = "$reference" ] || { echo "$name: its digest is not amd64's"; fail=1; }
}

# executor FILE GO...: writes a program that runs js/wasm tests of that toolchain.
# go_js_wasm_exec hands node the whole environment, which must fit 4 KiB.
executor() {
  file=$1; shift
  root=$("$@" env GOROOT) || { echo "cross: $* does not run"; exit 1; }
  printf '#!/bin/sh\nexec env -i PATH="$PATH" HOME="$HOME" TMPDIR="${TMPDIR:-/tmp}" PWD="$PWD" %s "$@"\n' "$root/lib/wasm/go_js_wasm_exec" >"$file"
  chmod +x "$file"
}
# The vectors of internal/kernel for wasm need Go 1.27.
vectors='GOTOOLCHAIN=go1.27.2 GOEXPERIMENT=simd'
wasm=$dir/exec wasmSIMD=$dir/exec127
executor "$wasm" "$GO"
executor "$wasmSIMD" env $vectors "$GO"

# These are the flags of "make test", so that its results are not computed
# again. The other platforms repeat fewer rounds of the same work.
on amd64 "$packages" GOARCH=amd64 GOAMD64=v1 --
more=(-short -v -timeout 30m)
on 'amd64 -tags purego' "$numbers" GOARCH=amd64 GOAMD64=v1 -- "${more[@]}" -tags purego
on 'amd64 GOAMD64=v3' "$numbers" GOARCH=amd64 GOAMD64=v3 -- "${more[@]}"
# Package plugin says there that the platform cannot load libraries.
on linux/386 "$packages ./transforms/plugin" GOARCH=386 CGO_ENABLED=0 -- "${more[@]}"
# EMULATOR is for tests that run themselves again.
emulated() { # emulated NAME QEMU PACKAGES ENV...
  name=$1 qemu=qemu-$2-static list=$3; shift 3
  on "$name (qemu)" "$list" "$@" CGO_ENABLED=0 EMULATOR=$qemu -- "${more[@]}" -exec $qemu
}
emulated linux/arm64 aarch64 "$packages" GOARCH=arm64
emulated linux/arm arm "$numbers" GOARCH=arm GOARM=7 # 386 runs the others with 32 bits
emulated linux/s390x s390x "$bytes" GOARCH=s390x
on 'js/wasm (node)' "$packages ./transforms/plugin" GOOS=js GOARCH=wasm CGO_ENABLED=0 -- "${more[@]}" -exec "$wasm"
on 'js/wasm SIMD (node)' "$kernels" $vectors GOOS=js GOARCH=wasm CGO_ENABLED=0 -- "${more[@]}" -exec "$wasmSIMD"
echo 'Fewer rounds than in make test, on each platform but the first:'
sort "$dir/short" | uniq -c | sort -k 2 | sed 's/^/    /'
GO=$GO testdata/jpegli.sh "$wasm" || fail=1

# Builds that do not run are not optimized, which takes two thirds of the time.
for p in windows/amd64 darwin/arm64 wasip1/wasm; do
  start=$SECONDS
  if env "${compiler[@]}" GOOS=${p%/*} GOARCH=${p#*/} CGO_ENABLED=0 "$GO" build -gcflags='all=-N -l' ./...; then
    echo "$p builds  $((SECONDS - start)) s"
  else
    echo "$p: BUILD FAILED"; fail=1
  fi
done
# The code generators of these platforms are those of others, above.
start=$SECONDS
GO=$GO "$GO" run ./tools/typecheck android/arm64 android/arm ios/arm64 linux/riscv64 freebsd/amd64 windows/arm64 || fail=1
echo "type checks: $((SECONDS - start)) s"
[ $fail = 0 ] && echo "cross: all platforms agree" || echo "cross: FAILED"
exit $fail
