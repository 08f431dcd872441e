#!/usr/bin/env bash
# Builds the wheels in dist/ and checks them. The tests run on the one for this machine; those on
# the one for arm64 are python/arm64.sh. bin/infer-prep must be there.
# usage: wheels.sh [TARGET]...     default: linux-amd64 linux-arm64 windows-amd64
# python/backend.py has the targets.
set -euo pipefail
cd "$(dirname "$0")/.."
py=$(parity/venv.sh python/requirements-wheel.txt)
[ $# -gt 0 ] || set -- linux-amd64 linux-arm64 windows-amd64
mkdir -p dist
go_arch() { "${GO:-go}" env GOHOSTARCH; }
for target; do
  wheel=$("$py" python/backend.py "$target")
  echo "$wheel: $(stat -c %s "$wheel") bytes"
  "$py" -m zipfile -l "$wheel" | grep 'licenses/go/LICENSE ' >/dev/null || { echo "wheels.sh: $wheel has no licences of its modules" >&2; exit 1; }
  case $target in
  linux-*)
    # auditwheel names the oldest platform that the symbols of the library allow.
    tag=$(basename "$wheel" .whl); tag=${tag##*-}
    report=$("$py" -m auditwheel show "$wheel")
    grep -q "\"${tag/manylinux_2_17/manylinux2014}\"\|\"$tag\"\|\"manylinux_2_[0-9]_" <<<"$report" ||
      { echo "$report"; echo "wheels.sh: auditwheel does not say $tag" >&2; exit 1; }
    echo "auditwheel: $(tr '\n' ' ' <<<"$report" | grep -o 'consistent with [^.]*: "[^"]*"\|consistent with[^"]*"[^"]*"' | head -n 1)" ;;
  esac
  [ "$target" != "linux-$(go_arch)" ] || WHEEL=$(realpath "$wheel") python/test.sh
done
