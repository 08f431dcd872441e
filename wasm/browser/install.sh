#!/usr/bin/env bash
# Finds the browsers of the tests. On Debian, root gets missing ones installed;
# elsewhere this fails and names them.
set -euo pipefail
need() { # need COMMAND DEBIAN_PACKAGE
  command -v "$1" >/dev/null && return
  if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    { apt-get update && apt-get install -y --no-install-recommends "$2"; } >/dev/null 2>&1 || true
  fi
  command -v "$1" >/dev/null || { echo "wasm/browser: $1 is missing (Debian: apt-get install $2)"; exit 1; }
}
need node nodejs
need npm npm
need chromium chromium
need firefox-esr firefox-esr
