#!/usr/bin/env bash
# Starts Azurite, Microsoft's emulator of Azure Blob Storage, for tests, on 127.0.0.1.
# usage: azurite.sh [--install] [PORT]
#   --install  only installs
# It ends at the end of its standard input. Azurite comes from npm once, into ~/.cache/infer-prep.
# Root on Debian gets Node.js and npm installed if they are missing.
set -euo pipefail
version=3.35.0 # the newest that runs on Debian 12's Node.js 18
need() { # need COMMAND DEBIAN_PACKAGE
  command -v "$1" >/dev/null && return
  if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    { apt-get update && apt-get install -y --no-install-recommends "$2"; } >/dev/null 2>&1 || true
  fi
  command -v "$1" >/dev/null || { echo "azurite.sh: $1 is missing (Debian: apt-get install $2)" >&2; exit 1; }
}
need node nodejs
cache=${XDG_CACHE_HOME:-$HOME/.cache}/infer-prep/azurite-$version
if [ ! -e "$cache/done" ]; then
  need npm npm
  mkdir -p "$(dirname "$cache")"
  new=$(mktemp -d "$cache.XXXXXX") # a second script may install at the same time
  trap 'rm -rf "$new"' EXIT
  npm install --prefix "$new" --ignore-scripts --no-audit --no-fund --loglevel=error "azurite@$version" >&2
  touch "$new/done"
  mv -T "$new" "$cache" 2>/dev/null || [ -e "$cache/done" ]
fi
[ "${1:-}" != --install ] || exit 0
# --skipApiVersionCheck: the client speaks newer versions of the protocol.
node "$cache/node_modules/azurite/dist/src/blob/main.js" --blobHost 127.0.0.1 --blobPort "${1:-0}" \
  --inMemoryPersistence --silent --disableTelemetry --skipApiVersionCheck </dev/null &
server=$!
trap 'kill $server 2>/dev/null && wait $server || true' EXIT
cat >/dev/null
