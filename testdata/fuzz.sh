#!/usr/bin/env bash
# Runs every fuzz target of the module for FUZZTIME each.
set -euo pipefail
cd "$(dirname "$0")/.."
GO=${GO:-go}
for p in $("$GO" list ./...); do
  for f in $("$GO" test -list '^Fuzz' "$p" | grep '^Fuzz' || true); do
    echo "== $p $f"
    "$GO" test -run '^$' -fuzz "^$f\$" -fuzztime "${FUZZTIME:-60s}" -fuzzminimizetime 100x "$p"
  done
done
