#!/usr/bin/env bash
# Tests the function in Spark's local mode: the tensors of 600 images, for a
# preset, a Hugging Face configuration and a bundle, are those of infer-prep run.
# usage: examples/spark/test.sh        PHOTOS=DIR adds a folder of photographs
# It installs the jar of mobile into the local Maven repository.
set -euo pipefail
cd "$(dirname "$0")/../.."
GO=${GO:-go}
mobile/install.sh
jar=$(GO="$GO" mobile/build-jar.sh)
mvn -q -B install:install-file -Dfile="$jar" -DpomFile="${jar%.jar}.pom"

mkdir -p bin
"$GO" build -o bin/ ./cmd/infer-prep ./tools/procedural
cases=examples/spark/target/cases
rm -rf $cases
mkdir -p $cases/graphs/{preset,huggingface,bundle}
bin/procedural -count 600 -largest 400 $cases/images
[ -z "${PHOTOS:-}" ] || cp -r "$PHOTOS" $cases/images/photos
echo "spark: $(find $cases/images -type f | wc -l) images, $(find $cases/images/photos -type f 2>/dev/null | wc -l) of them photographs of PHOTOS"
for good in $cases/images/class-*/*.png; do cp "$good" $cases/good.png; done
bin/infer-prep graph import --preset imagenet -o $cases/graphs/preset/graph.json
bin/infer-prep graph import --hf examples/spark/testdata/preprocessor_config.json -o $cases/graphs/huggingface/graph.json
bin/infer-prep bundle create --preset clip --layout HWC --dtype float16 --golden $cases/good.png -o $cases/graphs/bundle/graph.bundle
for graph in $cases/graphs/*/graph.*; do
  flag=--graph
  [ "${graph##*.}" = json ] || flag=--bundle
  # The status is 1: some images are damaged.
  bin/infer-prep run $flag "$graph" -o "$(dirname "$graph")/expected" $cases/images >/dev/null 2>"$cases/run.log" || [ $? = 1 ] || { cat "$cases/run.log"; exit 1; }
done
cd examples/spark
rm -rf target/surefire-reports
mvn -q -B verify
