#!/usr/bin/env bash
# Measures training pipelines on an NVIDIA GPU beside DALI's; see docs/devices.md.
# PHOTOS is a folder of JPEG files (default 1,000 procedural ones), SECONDS_EACH the
# time of a run (default 15), ROUNDS their number (default 3). Without a GPU it says so
# and succeeds. GPU_PRETEND=1 tests this script without one.
set -uo pipefail
cd "$(dirname "$0")/../.."
target=gpu-bench
. device/gpu/common.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
need_gpu
seconds=${SECONDS_EACH:-15} rounds=${ROUNDS:-3} photos=${PHOTOS:-}
adapter=gpu webgpu=webgpu cuda=ort:cuda dali=0
[ -z "$pretend" ] || adapter=lavapipe webgpu=webgpu,software=true cuda=ort:cpu dali=cpu

build() {
  "$GO" build -o "$work/infer-prep" ./cmd/infer-prep && (cd cmd/infer-prep-webgpu && "$GO" build -o "$work/infer-prep-webgpu" .) || return 1
  if [ -z "$photos" ]; then
    photos=$work/photos
    "$GO" run ./tools/procedural -count 1000 -bad 0 -largest 500 "$photos" || return 1
    # DALI's GPU decoder and torch's loaders read JPEG files alone.
    find "$photos" -type f ! -name '*.jpg' -delete
    note="procedural images; PHOTOS=DIR measures photographs"
  fi
  note="$(find "$photos/" -type f | wc -l) files${note:+, $note}"
}

# ours PROGRAM DEVICE prints the images a second of one run.
ours() {
  "$work/$1" train-bench --json --folder "$photos" --train --shuffle --batch 64 --seconds "$seconds" --device "$2" --least approximate \
    >"$work/out" 2>"$work/err" || { cat "$work/err" >&2; return 1; }
  sed -n 's/.*"images_per_s":\([0-9.e+]*\).*/\1/p' "$work/out"
}
dali() { "$dali_python" device/gpu/dali.py "$photos" "$seconds" "$dali" 2>"$work/err" || { tail -n 5 "$work/err" >&2; return 1; }; }

names=() commands=()
add() { names+=("$1") commands+=("$2"); }
on_cuda() { provider_library cuda && add "infer-prep, tail on $cuda" "ours infer-prep $cuda"; }
on_webgpu() { vulkan && add "infer-prep, tail on $webgpu" "ours infer-prep-webgpu $webgpu"; }
with_dali() {
  if ! dali_python=$(parity/venv.sh bench/requirements-dali.txt); then
    note="DALI cannot be installed"
    return "$not_run"
  fi
  add "DALI, decoding on ${dali/#0/the GPU}" dali
}
measure() {
  local i r x
  for r in $(seq "$rounds"); do
    for i in "${!names[@]}"; do
      [ ! -e "$work/failed-$i" ] || continue
      if ! x=$(${commands[i]}) || [ -z "$x" ]; then # the others go on
        note+="${note:+, }${names[i]} failed"
        touch "$work/failed-$i"
        continue
      fi
      say "round $r: ${names[i]}: $x images/s"
      echo "$x" >>"$work/rate-$i"
    done
  done
  say "images/s, the median of $rounds rounds in turn, $seconds s each (lowest to highest), $(nproc) CPU cores:"
  for i in "${!names[@]}"; do
    [ ! -e "$work/failed-$i" ] || continue
    sort -g "$work/rate-$i" | awk -v name="${names[i]}" '{ x[NR] = $1 } END { printf "  %-42s %8.0f  (%.0f to %.0f)\n", name, x[int((NR + 1) / 2)], x[1], x[NR] }'
  done
  [ -z "$note" ]
}
upload() {
  vulkan || return
  (cd device/webgpu && INFER_PREP_WEBGPU=$adapter "$GO" test -count=1 -v -run '^TestUpload$' .) >"$work/log" 2>&1 || { tail -n 30 "$work/log"; return 1; }
  grep 'measured:' "$work/log" | sed 's/^ *[a-z_]*\.go:[0-9]*: /    /'
}

part "programs and images" build
add "infer-prep, CPU alone" "ours infer-prep cpu"
part "ONNX Runtime's library" ort_library
part "CUDA" on_cuda
part "Vulkan" on_webgpu
part "DALI" with_dali
part "images a second" measure
part "uploads behind a step" upload
finish
