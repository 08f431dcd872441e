#!/usr/bin/env bash
# Runs every fuzz target of the module, and of nested ones with parsers of their
# own, for FUZZTIME each.
set -euo pipefail
cd "$(dirname "$0")/.."
GO=${GO:-go}
for p in $("$GO" list ./...) ./records/mindrecord/sqlitetest ./dataset/columnar/arrow ./dataset/columnar/parquet; do
  dir=. # of the module
  case $p in
  ./dataset/columnar/*) dir=dataset/columnar p=./${p##*/} ;;
  */sqlitetest) dir=$p p=. ;;
  esac
  for f in $("$GO" test -C "$dir" -list '^Fuzz' "$p" | grep '^Fuzz' || true); do
    echo "== $dir $p $f"
    # A worker that is busy when the time is up is reported as a failure without
    # an input: that is tried once more.
    log=$(mktemp)
    run() { "$GO" test -C "$dir" -run '^$' -fuzz "^$f\$" -fuzztime "${FUZZTIME:-60s}" -fuzzminimizetime 100x "$p" 2>&1 | tee "$log"; }
    run || { grep -q 'context deadline exceeded' "$log" && ! grep -q 'Failing input' "$log" && run; }
    rm -f "$log"
  done
done
