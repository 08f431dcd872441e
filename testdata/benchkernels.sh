#!/usr/bin/env bash
# Prints a table of the kernels of the decoders: the time per pixel (or byte) in
# plain Go and with vector instructions, the least of ROUNDS interleaved runs.
# testdata/benchkernels.sh [ROUNDS [PATTERN]]
set -euo pipefail
cd "$(dirname "$0")/.."
GO=${GO:-go} rounds=${1:-5} pattern=${2:-.}
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
"$GO" test -c -o "$work/kernel.test" ./internal/kernel
for _ in $(seq "$rounds"); do
  "$work/kernel.test" -test.run '^$' -test.bench "^BenchmarkDecode\$/$pattern" -test.benchtime 20ms
done >"$work/out"
echo "$("$GO" env GOOS)/$("$GO" env GOARCH), $(nproc) processors, $(sed -n 's/^cpu: //p' "$work/out" | head -n 1)"
echo
echo '| kernel | plain Go, ns | vectors, ns | speed-up |'
echo '|---|---|---|---|'
awk '/^BenchmarkDecode/ {
  split($1, part, "/"); sub(/-[0-9]+$/, "", part[3])
  key = part[2] "/" part[3]
  if (!(part[2] in seen)) { seen[part[2]] = 1; names[++n] = part[2] }
  for (i = 2; i < NF; i++) if ($(i + 1) == "ns/pixel" && (!(key in least) || $i < least[key])) least[key] = $i
}
END {
  for (i = 1; i <= n; i++) {
    p = least[names[i] "/plain"]; v = least[names[i] "/vectors"]
    printf "| %s | %.3f | %.3f | %.2f |\n", names[i], p, v, p / v
  }
}' "$work/out"
