#!/usr/bin/env bash
# Prints the first NVIDIA GPU of this machine. Without one it prints what it looked for,
# and fails. NVIDIA_SMI and GPU_ROOT (a folder in place of /) are for its test.
set -uo pipefail
smi=${NVIDIA_SMI:-nvidia-smi} root=${GPU_ROOT:-}
if ! command -v "$smi" >/dev/null 2>&1; then
  asked="the command nvidia-smi is missing"
elif list=$("$smi" -L 2>&1) && gpu=$(grep -m 1 '^GPU [0-9]' <<<"$list"); then
  version=$("$smi" --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1)
  echo "$gpu, driver ${version:-unknown}"
  exit 0
else
  asked="nvidia-smi -L lists none (${list%%$'\n'*})"
fi
nodes=$(compgen -G "$root/dev/nvidia[0-9]*" | head -n 1)
[ -n "$nodes" ] && nodes="$nodes exists" || nodes="/dev/nvidia0 is missing"
[ -e "$root/proc/driver/nvidia/version" ] && driver="the kernel's driver is loaded" || driver="/proc/driver/nvidia/version is missing"
echo "no NVIDIA GPU: $asked; $nodes; $driver"
exit 1
