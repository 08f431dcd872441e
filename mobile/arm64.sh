#!/usr/bin/env bash
# Runs the tests of the jar on a JVM for Linux on arm64 under qemu: Debian's
# OpenJDK 17, unpacked into mobile/jvm/target/arm64. mobile/jvm must be built
# (make mobile-test). Needs Debian, qemu-user-static and some minutes.
# usage: mobile/arm64.sh [TESTCLASS]...      default: all but the goldens of graphs
set -euo pipefail
cd "$(dirname "$0")/jvm"
[ $# -gt 0 ] || set -- io.github.inferprep.{InferPrepTest,JavaTest,NativeTest,PipeTest} io.github.inferprep.mobile.BridgeTest
work=$PWD/target/arm64
root=$work/root
home=$root/usr/lib/jvm/java-17-openjdk-arm64
if [ ! -x "$home/bin/java.arm64" ]; then
  ../../parity/debian-arm64.sh "$work" openjdk-17-jre-headless
  # Tests start the JVM again by this name.
  mv "$home/bin/java" "$home/bin/java.arm64"
  printf '#!/bin/sh\nexec qemu-aarch64-static -L %s %s/bin/java.arm64 -Djdk.lang.Process.launchMechanism=FORK "$@"\n' "$root" "$home" >"$home/bin/java"
  chmod +x "$home/bin/java"
fi
plugin=org.apache.maven.plugins:maven-dependency-plugin:3.8.1 launcher=junit-platform-console-standalone
(cd .. && mvn -q -B "$plugin:build-classpath" -pl jvm -DincludeScope=test -Dmdep.outputFile="$work/classpath" &&
  mvn -q -B "$plugin:copy" -pl jvm -Dartifact=org.junit.platform:$launcher:1.13.4 -DoutputDirectory="$work")
classes=()
for c; do classes+=(-c "$c"); done
"$home/bin/java" -cp "target/classes:target/test-classes:$(cat "$work/classpath"):$work/$launcher-1.13.4.jar" \
  org.junit.platform.console.ConsoleLauncher execute --details=tree --disable-banner --disable-ansi-colors "${classes[@]}"
