#!/usr/bin/env bash
# Builds the C library: build.sh DIR writes the header and libinfer_prep, shared
# and static, into DIR. GO names the go command, CC the C compiler, which
# decides the target with GOOS and GOARCH.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
dir=$(cd "$1" && pwd)
cd "$here/.."
export CGO_ENABLED=1
go=${GO:-go}
flags="-s -w -buildid="
case $($go env GOOS) in
  windows) shared=infer_prep.dll link= ;;
  darwin) shared=libinfer_prep.dylib link= ;;
  # The Go runtime cannot be unloaded, hence nodelete.
  *) shared=libinfer_prep.so link="-Wl,--version-script=$here/lib/exports.map -Wl,-soname,libinfer_prep.so.1 -Wl,-z,nodelete" ;;
esac
$go build -trimpath -buildmode=c-shared -ldflags="$flags${link:+ '-extldflags=$link'}" -o "$dir/$shared" ./capi/lib
$go build -trimpath -buildmode=c-archive -ldflags="$flags" -o "$dir/libinfer_prep.a" ./capi/lib
rm -f "$dir/libinfer_prep.h" "$dir/infer_prep.h" # Go writes a header of its own
install -m 644 capi/infer_prep.h "$dir/infer_prep.h"
case $shared in *.so) ln -sf "$shared" "$dir/$shared.1" ;; esac
