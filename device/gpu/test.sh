#!/usr/bin/env bash
# Tests device/webgpu and device/ort on an NVIDIA GPU; see docs/devices.md. Without a
# GPU it says so and succeeds. GPU_PRETEND=1 tests this script without one.
set -uo pipefail
cd "$(dirname "$0")/../.."
target=gpu-test
. device/gpu/common.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
need_gpu
adapter=gpu cuda=ort:cuda tensorrt=ort:tensorrt
[ -z "$pretend" ] || adapter=lavapipe cuda=ort:cpu tensorrt=ort:cpu

# tested FOLDER TESTS runs tests with their logs. A test that is skipped proves nothing.
tested() {
  if ! (cd "$1" && "$GO" test -count=1 -timeout 40m -v -run "$2" .) >"$work/log" 2>&1; then
    grep -v '^=== ' "$work/log" | tail -n 60
    return 1
  fi
  grep -E 'measured:|bytes differ|adapter:' "$work/log" | sed 's/^ *[a-z_]*\.go:[0-9]*: /    /' | cut -c 1-160 | sort -u | head -n 60
  if ! grep -q '^--- PASS' "$work/log" || grep -q -- '--- SKIP' "$work/log"; then
    note="a test was skipped, or none was run"
    grep -A 1 -- '--- SKIP' "$work/log" | head -n 10
    return 1
  fi
  note="$(grep -c -- '--- PASS' "$work/log") tests"
}

webgpu() {
  vulkan || return
  INFER_PREP_WEBGPU=$adapter tested device/webgpu .
}
on_provider() { # LIBRARY DEVICE
  provider_library "$1" || return
  INFER_PREP_ORT_DEVICE=$2 tested device/ort '^TestProvider$'
}

part "device/webgpu over the Vulkan driver: all graphs and pipelines to the byte, uploads" webgpu
part "ONNX Runtime's library" ort_library
part "device/ort with CUDA" on_provider cuda "$cuda"
part "device/ort with TensorRT" on_provider tensorrt "$tensorrt"
finish
