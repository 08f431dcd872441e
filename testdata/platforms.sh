#!/usr/bin/env bash
# Writes docs/platforms.md from the files that testdata/cross.sh --times leaves in a
# folder: for each platform its lines of timed.sh, and NAME.name.
# usage: platforms.sh DIR
set -euo pipefail
cd "$(dirname "$0")/.."
cat <<'TEXT'
# What the tests cost on each platform

`testdata/cross.sh --times` wrote this page. The top of that script says which packages each
platform tests, and why. The numbers are seconds of the processor, user and system together, of each
package's test program, without the compiler and the linker. They are measured by `time` around the
program; an emulator's own work is part of them, and other programs on the machine make them larger.
`-` means that the platform does not test the package. The column amd64 has every round of the
tests, as `make test` runs them; the others are shortened (`internal/short`). Packages below 2
seconds on every platform are added up in one line.

TEXT
order="amd64 amd64_GOAMD64_v3__tags_purego linux_386 linux_arm64__qemu_ linux_arm__qemu_ linux_s390x__qemu_ js_wasm__node_ js_wasm_SIMD__node_"
missing=
for p in $order; do [ -e "$1/$p.name" ] || missing+=" $p"; done
[ -z "$missing" ] || { echo "Not measured in this run:$missing." | fold -s -w 100 | sed 's/ $//'; echo; }
for p in $order; do
  [ -e "$1/$p.name" ] || continue
  sed 's/^/N /' "$1/$p.name"
  sed "s|^$PWD/*|T |" "$1/$p"
done | awk '
  $1 == "N" { n++; sub(/^N /, ""); name[n] = $0; next }
  { p = NF > 3 ? $2 : "."; s = $(NF-1) + $NF; t[p, n] += s; seen[p, n] = 1; total[p] += s; all[n] += s; if (t[p, n] > most[p]) most[p] = t[p, n] }
  function row(what, p,   k, l) {
    l = "| " what " |"
    for (k = 1; k <= n; k++) l = l (seen[p, k] ? sprintf(" %.0f |", t[p, k]) : " - |")
    return l
  }
  END {
    l = "| package |"; r = "|---|"
    for (k = 1; k <= n; k++) { l = l " " name[k] " |"; r = r "---:|" }
    print l; print r
    for (p in total) if (most[p] < 2) for (k = 1; k <= n; k++) if (seen[p, k]) { t["few", k] += t[p, k]; seen["few", k] = 1 }
    for (p in total) if (most[p] >= 2) printf "%012.3f %s\n", total[p], row(p, p) | "sort -r | cut -d \" \" -f 2-"
    close("sort -r | cut -d \" \" -f 2-")
    print row("the others", "few")
    for (k = 1; k <= n; k++) { t["all", k] = all[k]; seen["all", k] = 1 }
    print row("all", "all")
  }'
