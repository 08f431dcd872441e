#!/usr/bin/env bash
# Builds the jar for servers, with its native libraries for Linux, into dist:
# the jar, its sources and its POM. It prints the path of the jar; all else goes
# to standard error. Equal sources and tools give equal bytes.
# usage: mobile/build-jar.sh [--docs]
#   --docs  the documentation's jar too, which a repository wants
# mobile/install.sh says what it needs.
set -euo pipefail
cd "$(dirname "$0")"
GO=${GO:-go}
profile=
case $* in
'') ;;
--docs) profile='-P release' ;;
*) sed -n '2,7s/^# \?//p' build-jar.sh >&2; exit 2 ;;
esac
GO="$GO" OPS=all bind/build.sh linux/amd64 linux/arm64 >&2
rm -rf jvm/target/classes # Maven leaves the classes of deleted sources
mvn -q -B $profile -DskipTests package -pl jvm >&2
python3 jar.py "$@"
