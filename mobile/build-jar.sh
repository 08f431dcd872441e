#!/usr/bin/env bash
# Builds the jar for servers, with its native libraries for Linux, into
# mobile/jvm/target/dist: the jar, its sources, its docs and its POM. Equal
# sources and tools give equal bytes.
# usage: mobile/build-jar.sh [--version VERSION]      default: 0.0.0-SNAPSHOT
# mobile/install.sh says what it needs.
set -euo pipefail
cd "$(dirname "$0")"
GO=${GO:-go}
version=0.0.0-SNAPSHOT
case $# in
0) ;;
2) [ "$1" = --version ] || { sed -n '2,6s/^# \?//p' build-jar.sh >&2; exit 2; }; version=$2 ;;
*) sed -n '2,6s/^# \?//p' build-jar.sh >&2; exit 2 ;;
esac
[ "$version" = 0.0.0-SNAPSHOT ] || export VERSION=v$version
GO="$GO" bind/build.sh linux/amd64 linux/arm64
rm -rf jvm/target/classes # Maven leaves the classes of deleted sources
mvn -q -B -P release -DskipTests package -pl jvm
python3 jar.py "$version"
