# Sourced by test.sh and bench.sh, in the root of the checkout, with target set.
GO=${GO:-go}
say() { echo "$target: $*"; }

# The developer's switch. It runs the scripts on software in place of a GPU.
pretend=${GPU_PRETEND:+1}
banner() { [ -z "$pretend" ] || say "GPU_PRETEND is set: lavapipe and ONNX Runtime's CPU provider take the GPU's place. THIS PROVES NOTHING ABOUT A GPU."; }

# need_gpu ends with status 0 if there is no GPU: then nothing is claimed.
need_gpu() {
  banner
  [ -z "$pretend" ] || return 0
  local found
  if ! found=$(device/gpu/find.sh); then
    say "$found."
    say "nothing was run, and nothing is claimed."
    exit 0
  fi
  say "$found"
}

# A part's status that says that it was not run. The part sets note to the reason.
not_run=77
rows=() failed=0 count=0 note=""

# part NAME COMMAND... runs a part and notes its result.
part() {
  local name=$1 status
  shift
  note=""
  say "[$((++count))] $name ..."
  "$@"
  status=$?
  case $status in
    0) rows+=("$([ -z "$pretend" ] && echo "passed  " || echo "pretend ") $name${note:+: $note}") ;;
    "$not_run") rows+=("not run  $name: $note") ;;
    *) failed=1 rows+=("FAILED   $name${note:+: $note}") ;;
  esac
}

# finish prints the results of the parts and ends.
finish() {
  say "results:"
  printf '  %s\n' "${rows[@]}"
  banner
  exit "$failed"
}

# vulkan makes sure that NVIDIA's Vulkan driver, and no other, can be loaded. In
# containers the driver's library may be there without its manifest.
vulkan() {
  if [ -n "$pretend" ]; then
    device/webgpu/lavapipe.sh
    return
  fi
  PATH=$PATH:/sbin:/usr/sbin # ldconfig's
  if ! ldconfig -p | grep -q 'libvulkan\.so\.1' && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    { apt-get update && apt-get install -y --no-install-recommends libvulkan1; } >/dev/null 2>&1
  fi
  if ! ldconfig -p | grep -q 'libvulkan\.so\.1'; then
    note="Vulkan's loader libvulkan.so.1 is missing (Debian: apt-get install libvulkan1)"
    return "$not_run"
  fi
  local manifest
  manifest=$(compgen -G '/usr/share/vulkan/icd.d/*nvidia*.json' || compgen -G '/etc/vulkan/icd.d/*nvidia*.json' || true)
  manifest=${manifest%%$'\n'*}
  if [ -z "$manifest" ]; then
    if ! ldconfig -p | grep -q 'libGLX_nvidia\.so\.0'; then
      note="the driver's Vulkan library libGLX_nvidia.so.0 is missing (in a container, NVIDIA_DRIVER_CAPABILITIES must contain graphics)"
      return "$not_run"
    fi
    manifest=$work/nvidia_icd.json
    echo '{"file_format_version": "1.0.0", "ICD": {"library_path": "libGLX_nvidia.so.0", "api_version": "1.3.0"}}' >"$manifest"
  fi
  export VK_DRIVER_FILES=$manifest VK_ICD_FILENAMES=$manifest
}

# ort_library installs ONNX Runtime and sets INFER_PREP_ORT and LD_LIBRARY_PATH.
ort_library() {
  if [ -n "${INFER_PREP_ORT:-}" ]; then
    note="the library of INFER_PREP_ORT"
    return 0
  fi
  if [ -n "$pretend" ]; then
    INFER_PREP_ORT=$(device/ort/library.sh) || return 1
    export INFER_PREP_ORT
    return 0
  fi
  local py packages libs
  if ! py=$(parity/venv.sh device/gpu/requirements.txt); then
    note="onnxruntime-gpu cannot be installed"
    return "$not_run"
  fi
  packages=$("$py" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  INFER_PREP_ORT=$packages/onnxruntime/capi
  libs=$(find "$packages" -path '*/lib/*.so*' -printf '%h\n' | sort -u | paste -sd:)
  export INFER_PREP_ORT LD_LIBRARY_PATH=$libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}

# provider_library NAME checks that the libraries of a provider of ONNX Runtime are
# there.
provider_library() {
  [ -z "$pretend" ] || return 0
  if [ -z "${INFER_PREP_ORT:-}" ]; then
    note="ONNX Runtime is missing"
    return "$not_run"
  fi
  local dir=$INFER_PREP_ORT missing
  [ -d "$dir" ] || dir=$(dirname "$dir")
  if [ ! -e "$dir/libonnxruntime_providers_$1.so" ]; then
    note="$dir has no libonnxruntime_providers_$1.so"
    return "$not_run"
  fi
  missing=$(ldd "$dir/libonnxruntime_providers_$1.so" | sed -n 's/^[[:space:]]*\(.*\) => not found/\1/p' | grep -v '^libonnxruntime' | sort -u | paste -sd' ')
  if [ -n "$missing" ]; then
    note="libraries of libonnxruntime_providers_$1.so are missing: $missing (set LD_LIBRARY_PATH)"
    return "$not_run"
  fi
}
