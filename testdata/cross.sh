#!/usr/bin/env bash
# Shows that the digest of all tensors is the same on every platform that can be
# run here, runs the tests with goldens on those that can change them, and builds
# or type-checks for the others. Two platforms run at a time, one package of each.
# Needs qemu-user-static (arm64, arm, s390x) and node (wasm); on Debian it installs them when it can,
# and nothing else with --install.
# With --times it tests on amd64 without the results of earlier runs, and writes
# docs/platforms.md: the seconds of the processor of each package.
set -uo pipefail
cd "$(dirname "$0")/.."
GO=${GO:-go}

# Which packages are tested where. "make test" runs all of them on amd64. Another
# platform runs the tests whose results it can change. The packages whose tests
# take longest come first.
#
# digest, on every platform: the digest of all tensors, which has the graphs of
# all importers, every image and sound format and a training, and the
# mathematics below.
# goldens: packages with assembly or vectors, the ops and the image formats.
digest="./tools/digest ./internal/exactmath"
goldens="./transforms ./internal/kernel/... ./internal/dsp ./tools/digest ./codec/... ./sound/... ./internal/exactmath"
# numbers: all packages that compute with floats, for platforms that fuse a
# product and a sum (arm64, s390x, GOAMD64=v3). GOAMD64=v3 and purego are one
# platform: it fuses in the Go forms of the kernels too. 386 has no other forms,
# and does not fuse.
numbers="./datagraph ./compat/... $goldens ./rng ./tensor/... ./onnx ./internal/cpu ./importer/hf/tokens ./importer/hf/video ./transforms/radiology ./transforms/subwords"
# bytes: packages that read or write numbers of several bytes, for s390x, whose
# order of bytes is another.
bytes="./internal/msgpack ./internal/tiffdir ./cmd/internal/cog ./dataset/tiles ./records/... ./recordio/... ./modelbundle ./dataset/internal/... ./dataset/sets/internal/... ./dataset/tfds"
# words: the other packages with goldens, for 386, whose int has 32 bits. It runs
# at the speed of this machine; no emulator does. arm, which is emulated, fuses
# nothing either and has no vectors: it computes the digest only.
words="./dataset/... ./importer/... ./pack ./pullpipe ./eager ./device ./device/cpu ./transforms/frames ./transforms/plugin"
# vectors: what has vectors for wasm. "make wasm-test" runs all goldens on wasm,
# with them and without.
vectors="$digest ./internal/kernel/..."

# The compiler takes a quarter less time without its garbage collector. Tests
# keep theirs: they are compiled before they run.
compiler=(GOGC=off GOMEMLIMIT=2GiB)
export GOFLAGS="${GOFLAGS-} -p=1"

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

dir=$(mktemp -d); trap 'wait; rm -rf "$dir"' EXIT
mkdir "$dir/digest" "$dir/times"
fail() { echo "$*"; touch "$dir/failed"; }

timed=$PWD/testdata/timed.sh
sum() { awk '{ s += $(NF-1) + $NF } END { printf "%d", s + 0.5 }' "$1"; } # sum FILE

# beside COMMAND...: runs it once fewer than two run, and prints what it printed.
beside() {
  while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
  { out=$("$@"); printf '%s\n' "$out"; } &
}

# platform NAME PACKAGES EXEC ENV... -- TEST_FLAGS...: runs the tests, by EXEC if
# it is not empty. "make test" vets already.
platform() {
  local name=$1 list=$2 exec=$3 tags=() env=(); shift 3
  local id=${name//[^a-zA-Z0-9]/_} start=$SECONDS
  local log=$dir/$id.log times=$dir/times/$id
  case " $* " in *' -tags purego '*) tags=(-tags purego) ;; *' -tags noclib '*) tags=(-tags noclib) ;; esac
  while [ "$1" != -- ]; do env+=("$1"); shift; done; shift
  [ "$exec" = cached ] || set -- "$@" -exec "$timed $exec"
  # go test reports the errors of go list
  TIMED=$dir/$id.build "$timed" env "${env[@]}" "${compiler[@]}" "$GO" list -export -test "${tags[@]}" $list >/dev/null
  if ! TIMED=$dir/$id.all "$timed" env "${env[@]}" TIMED="$times" "$GO" test -vet=off "$@" $list >"$log" 2>&1; then
    grep -E '^# |^[^ ]+\.go:[0-9]+:[0-9]+: ' "$log"
    grep -B 40 -E -e '--- FAIL|^panic|^fatal error' "$log" | tail -n 120
    grep '^FAIL' "$log"
    fail "$name: FAILED"; return
  fi
  # The first platform's tests are often cached, without what they log.
  [ "$exec" != cached ] || env "${env[@]}" "$GO" test -vet=off "$@" -count=1 -v -run 'TestDigest$' ./tools/digest >"$log" 2>&1
  local digest; digest=$(sed -n 's/.*\(all tensors\|extremes\|sounds\): \([0-9a-f]\{64\}\).*/\2/p' "$log" | xargs)
  touch "$times"; printf '%s\n' "$name" >"$times.name"
  printf '%-24s %s\n    %d s; of the processor %d s for the tests, %d s for the compiler and the linker; %d packages, %d skips\n' "$name" "${digest:-no digest}" \
    $((SECONDS - start)) "$(sum "$times")" $(($(sum "$dir/$id.build") + $(sum "$dir/$id.all") - $(sum "$times"))) "$("$GO" list $list | wc -l)" "$(grep -c -e '--- SKIP' "$log")"
  grep -B 1 -e '--- SKIP' "$log" | grep -v '^--$' | sed 's/^ */    /'
  sed -n 's/^ *[a-z0-9_]*\.go:[0-9]*: short: \([^:/]*\)[^:]*: /\1: /p' "$log" >"$dir/$id.short"
  echo "$digest" >"$dir/digest/$id"
}

# executor FILE GO...: writes a program that runs js/wasm tests of that toolchain.
# go_js_wasm_exec hands node the whole environment, which must fit 4 KiB.
executor() {
  local file=$1 root; shift
  root=$("$@" env GOROOT) || { echo "cross: $* does not run"; exit 1; }
  printf '#!/bin/sh\nexec env -i PATH="$PATH" HOME="$HOME" TMPDIR="${TMPDIR:-/tmp}" PWD="$PWD" %s "$@"\n' "$root/lib/wasm/go_js_wasm_exec" >"$file"
  chmod +x "$file"
}
# The vectors of internal/kernel for wasm need Go 1.27.
go127='GOTOOLCHAIN=go1.27.2 GOEXPERIMENT=simd'
wasm=$dir/exec wasmSIMD=$dir/exec127
executor "$wasm" "$GO"
executor "$wasmSIMD" env $go127 "$GO"

# The emulated platforms leave out the memory that ops read, write and allocate,
# and kernels of thousands of taps, which take a third of package transforms' time
# there; they blur with smaller ones. 386 runs all of it.
left='^TestRegistry(Memory|Allocations|Concurrent)$|^TestGoldens$/^antialias_blur$/_to_(4x3|5x5)$'
# EMULATOR is for tests that run themselves again. The tag makes programs static,
# because the emulators have no C library.
emulated() { # emulated NAME QEMU PACKAGES ENV...
  local name=$1 qemu=qemu-$2-static list=$3; shift 3
  platform "$name (qemu)" "$list" "$qemu" "$@" CGO_ENABLED=0 EMULATOR=$qemu -- "${more[@]}" -tags noclib -skip "$left"
}
# builds GOOS/GOARCH PACKAGES...: a program, with all that it links. It does not
# run, and is not optimized, which takes two thirds of the time.
builds() {
  local p=$1 start=$SECONDS; shift
  if env "${compiler[@]}" GOOS=${p%/*} GOARCH=${p#*/} CGO_ENABLED=0 "$GO" build -gcflags='all=-N -l' -o "$dir/" "$@"; then
    echo "$p builds  $((SECONDS - start)) s"
  else
    fail "$p: BUILD FAILED"
  fi
}
# All packages. The code generators of these platforms are those of others, above;
# "make wasm-test" builds for wasip1.
types() { GO=$GO "$GO" run ./tools/typecheck windows/amd64 darwin/arm64 wasip1/wasm android/arm64 android/arm ios/arm64 linux/riscv64 freebsd/amd64 windows/arm64 || fail 'type checks: FAILED'; }

jpegli() { GO=$GO testdata/nested.sh codec/jpegli "$PWD/testdata/jpegli.sh" "$wasm" || fail 'codec/jpegli: FAILED'; }

# The platforms that take longest come first, so that neither core waits at the end.
more=(-short -v -timeout 30m)
[ "${1-}" != --times ] || more+=(-count=1)
beside emulated linux/s390x s390x "$numbers $bytes" GOARCH=s390x
beside emulated linux/arm64 aarch64 "$numbers" GOARCH=arm64
beside emulated linux/arm arm "$digest" GOARCH=arm GOARM=7
# Package plugin says on 386 and wasm that the platform cannot load libraries.
beside platform linux/386 "$numbers $bytes $words" '' GOARCH=386 CGO_ENABLED=0 -- "${more[@]}"
beside platform 'js/wasm (node)' "$vectors ./transforms/plugin" "$wasm" GOOS=js GOARCH=wasm CGO_ENABLED=0 -- "${more[@]}"
beside jpegli
beside platform 'js/wasm SIMD (node)' "$vectors" "$wasmSIMD" $go127 GOOS=js GOARCH=wasm CGO_ENABLED=0 -- "${more[@]}"
beside platform 'amd64 GOAMD64=v3 -tags purego' "$numbers" '' GOARCH=amd64 GOAMD64=v3 -- "${more[@]}" -tags purego
beside types
beside builds windows/amd64 ./cmd/infer-prep
# A program that links package plugin, and the packages that have files for a
# system: 271 packages instead of 413. A release builds the whole program.
beside builds darwin/arm64 ./tools/opdoc ./internal/filelock ./internal/mapfile ./pipeline ./store
# These are the flags of "make test", so that its results are not computed
# again. The other platforms repeat fewer rounds of the same work.
if [ "${1-}" = --times ]; then
  beside platform amd64 "$numbers $bytes $words" '' GOARCH=amd64 GOAMD64=v1 -- -v -count=1
else
  beside platform amd64 "$numbers $bytes $words" cached GOARCH=amd64 GOAMD64=v1 --
fi
wait

for f in "$dir"/digest/*; do
  cmp -s "$f" "$dir/digest/amd64" && grep -q . "$f" || fail "${f##*/}: its digest is not amd64's"
done
echo 'Fewer rounds than in make test, on each platform but the first:'
sort "$dir"/*.short | uniq -c | sort -k 2 | sed 's/^/    /'
[ "${1-}" != --times ] || testdata/platforms.sh "$dir/times" >docs/platforms.md
[ ! -e "$dir/failed" ] && echo "cross: all platforms agree" || { echo "cross: FAILED"; exit 1; }
