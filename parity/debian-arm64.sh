#!/usr/bin/env bash
# Downloads Debian packages for arm64, with all that they depend on, and unpacks them into WORK/root.
# usage: debian-arm64.sh WORK PACKAGE...
set -euo pipefail
work=$1
shift
mkdir -p "$work"/state/lists/partial "$work"/cache/archives/partial "$work/root"
touch "$work/state/status" # nothing is installed
cat >"$work/apt.conf" <<CONF
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
Dir::State "$work/state";
Dir::State::status "$work/state/status";
Dir::Cache "$work/cache";
CONF
export APT_CONFIG=$work/apt.conf
apt-get -qq update
apt-get -qq install -y --no-install-recommends --download-only "$@"
for deb in "$work"/cache/archives/*.deb; do dpkg -x "$deb" "$work/root"; done
