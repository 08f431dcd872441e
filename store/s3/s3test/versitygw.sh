#!/usr/bin/env bash
# Installs versitygw, the S3 server of the tests, unless it is there, and prints its path.
set -euo pipefail
version=v1.8.0
dir=${XDG_CACHE_HOME:-$HOME/.cache}/infer-prep/versitygw-$version
if [ ! -x "$dir/versitygw" ]; then
  tmp=$(mktemp -d)
  trap 'rm -rf "$tmp"' EXIT
  cd "$tmp" # outside of any module
  GOFLAGS=-trimpath GOBIN=$tmp "${GO:-go}" install "github.com/versity/versitygw/cmd/versitygw@$version" >&2
  mkdir -p "$dir"
  mv "$tmp/versitygw" "$dir/versitygw"
fi
echo "$dir/versitygw"
