#!/usr/bin/env bash
# Installs Spark 3.2.2 and Beam's job server for it from Maven Central, and
# prints their folder: home/jars has Spark's jars, beam has Beam's.
# The folder lies outside the checkout and is made once per content of the POMs.
set -euo pipefail
cd "$(dirname "$0")"
../../../mobile/install.sh >&2
dir=${XDG_CACHE_HOME:-$HOME/.cache}/infer-prep/spark-$(cat spark/pom.xml beam/pom.xml | sha256sum | cut -c1-16)
if [ ! -e "$dir/done" ]; then
  rm -rf "$dir"
  copy=org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies
  mvn -q -B -f spark/pom.xml $copy -DincludeScope=runtime -DoutputDirectory="$dir/home/jars" >&2
  mvn -q -B -f beam/pom.xml $copy -DincludeScope=runtime -DoutputDirectory="$dir/beam" >&2
  touch "$dir/done"
fi
echo "$dir"
