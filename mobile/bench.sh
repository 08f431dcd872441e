#!/usr/bin/env bash
# Compares runs through the JVM's bridge with Go alone, and camera frames with
# OpenCV's cvtColor and resize, in one go. See make mobile-bench.
set -euo pipefail
cd "$(dirname "$0")/.."
GO=${GO:-go}
mobile/install.sh
GO="$GO" mobile/bind/build.sh linux/amd64
mkdir -p mobile/jvm/target
export GRAPH=$PWD/mobile/jvm/target/imagenet.json
"$GO" run ./cmd/infer-prep graph import --preset imagenet -o "$GRAPH"
py=$(parity/venv.sh mobile/requirements-bench.txt)
go=$("$GO" test ./mobile -run xxx -bench . -count 5 -cpu 1)
jvm=$(cd mobile && mvn -q -B verify -pl jvm -Dtest=Bench -Dplain.groups=bench -Dsurefire.failIfNoSpecifiedTests=false)
printf '%s\n%s\n' "$go" "$jvm" | "$py" mobile/bench.py
