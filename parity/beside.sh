#!/usr/bin/env bash
# Installs small packages beside an environment of 6 GB, which thus serves several purposes, and prints their folder, for
# PYTHONPATH. It is created once per content of the file.
# usage: beside.sh PYTHON REQUIREMENTS
set -euo pipefail
key=$(cat "$2" | { "$1" --version; cat; } | sha256sum | cut -c1-16)
more=${XDG_CACHE_HOME:-$HOME/.cache}/infer-prep/beside-$key
if [ ! -e "$more/done" ]; then
  rm -rf "$more"
  "$1" -m pip install -q --disable-pip-version-check --no-deps --target "$more" -r "$2" >&2
  touch "$more/done"
fi
echo "$more"
