#!/usr/bin/env bash
# Ensures that lavapipe, Mesa's Vulkan driver for CPUs, is available for this module's
# tests. On Debian it installs the driver if possible. It fails without the driver.
set -uo pipefail
PATH=$PATH:/sbin:/usr/sbin # ldconfig's
have() { compgen -G '/usr/share/vulkan/icd.d/lvp_icd*.json' >/dev/null || compgen -G '/etc/vulkan/icd.d/lvp_icd*.json' >/dev/null; }
loader() { ldconfig -p 2>/dev/null | grep -q 'libvulkan\.so\.1'; }
if ! { have && loader; } && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  { apt-get update && apt-get install -y --no-install-recommends mesa-vulkan-drivers libvulkan1; } >/dev/null 2>&1
fi
have && loader || { echo "lavapipe is missing (Debian: apt-get install mesa-vulkan-drivers libvulkan1)" >&2; exit 1; }
