#!/usr/bin/env bash
# Makes a virtual environment with the pinned references and prints its python.
# usage: venv.sh REQUIREMENTS [NO_DEPS_REQUIREMENTS]
# The environment lies outside the checkout and is created once per content of the files.
set -euo pipefail
py=$(command -v python3.11 || command -v python3) || { echo "venv.sh: python3 is missing" >&2; exit 1; }
key=$(cat "$@" | { "$py" --version; cat; } | sha256sum | cut -c1-16)
venv=${XDG_CACHE_HOME:-$HOME/.cache}/infer-prep/venv-$key
if [ ! -e "$venv/done" ] && command -v flock >/dev/null; then # another process may be making it
  mkdir -p "${venv%/*}"
  exec 9>"$venv.lock"
  flock 9
fi
if [ ! -e "$venv/done" ]; then
  rm -rf "$venv"
  "$py" -m venv "$venv" || { echo "venv.sh: python's venv module is missing (Debian: python3-venv)" >&2; exit 1; }
  "$venv/bin/python" -m pip install -q --disable-pip-version-check -r "$1" >&2
  [ $# -lt 2 ] || "$venv/bin/python" -m pip install -q --disable-pip-version-check --no-deps -r "$2" >&2
  touch "$venv/done"
fi
echo "$venv/bin/python"
