#!/usr/bin/env bash
# Starts a real HDFS for tests: Hadoop's MiniDFSCluster, in one JVM, on 127.0.0.1.
# usage: minidfs.sh [--install] [--port N] [--datanodes N] [--ha] [-D KEY=VALUE]...
#   --install  only installs
#   --port     the namenode's port; default 0, which takes a free one
#   --ha       two namenodes, of which the first is active
# It prints the URI when HDFS is ready (with --ha two, on one line), and ends at the end of its
# standard input. testdata/minidfs/MiniDFS.java lists the commands that it takes from there.
# Hadoop comes from Maven Central once, into ~/.cache/infer-prep. Root on Debian gets a JDK and
# Maven installed if they are missing.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)/testdata/minidfs
need() { # need COMMAND DEBIAN_PACKAGE
  command -v "$1" >/dev/null && return
  if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    { apt-get update && apt-get install -y --no-install-recommends "$2"; } >/dev/null 2>&1 || true
  fi
  command -v "$1" >/dev/null || { echo "minidfs.sh: $1 is missing (Debian: apt-get install $2)" >&2; exit 1; }
}
need javac openjdk-17-jdk-headless
cache=${XDG_CACHE_HOME:-$HOME/.cache}/infer-prep/minidfs-$(cat "$here"/* | sha256sum | cut -c1-16)
if [ ! -e "$cache/done" ]; then
  need mvn maven
  mkdir -p "$(dirname "$cache")"
  new=$(mktemp -d "$cache.XXXXXX") # a second script may install at the same time
  trap 'rm -rf "$new"' EXIT
  mvn -q -B -f "$here/pom.xml" dependency:copy-dependencies -DoutputDirectory="$new/jars" >&2
  javac -cp "$new/jars/*" -d "$new" "$here/MiniDFS.java" >&2
  touch "$new/done"
  mv -T "$new" "$cache" 2>/dev/null || [ -e "$cache/done" ]
fi
[ "${1:-}" != --install ] || exit 0
exec java -Xmx512m -XX:+UseSerialGC -Dorg.slf4j.simpleLogger.defaultLogLevel="${MINIDFS_LOG:-off}" \
  -cp "$cache:$cache/jars/*" MiniDFS "$@"
