#!/usr/bin/env bash
# Finds what builds and tests the Java bindings: JDK 17, Maven, and C compilers
# for linux/amd64, linux/arm64 and linux/arm. On Debian, root gets missing ones installed;
# elsewhere this fails and names them.
set -euo pipefail
[ "$(uname -sm)" = "Linux x86_64" ] || { echo "mobile: the bindings are built on Linux on x86-64"; exit 1; }
need() { # need COMMAND DEBIAN_PACKAGE...
  local command=$1
  shift
  command -v "$command" >/dev/null && return
  if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    { apt-get update && apt-get install -y --no-install-recommends "$@"; } >/dev/null 2>&1 || true
  fi
  command -v "$command" >/dev/null || { echo "mobile: $command is missing (Debian: apt-get install $*)"; exit 1; }
}
need javac openjdk-17-jdk-headless
need mvn maven
need gcc gcc libc6-dev
need aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu libc6-dev-arm64-cross
need arm-linux-gnueabihf-gcc gcc-arm-linux-gnueabihf libc6-dev-armhf-cross
need readelf binutils
need aapt2 aapt
