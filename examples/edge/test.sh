#!/usr/bin/env bash
# Runs the programs of this folder on the classifier's images: the labels are
# those of the training. It installs the runtimes from PyPI (executorch needs
# torch, 3 GB) and builds a wheel of infer-prep.
# usage: examples/edge/test.sh [litert] [executorch]
set -euo pipefail
cd "$(dirname "$0")/../.."
GO=${GO:-go}
[ $# -gt 0 ] || set -- litert executorch
mkdir -p bin
"$GO" build -o bin/ ./cmd/infer-prep
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd python && "$(../parity/venv.sh requirements-test.txt)" backend.py --out "$work" native)
"$(parity/venv.sh python/requirements-test.txt)" -m pip install -q --disable-pip-version-check --no-deps --no-index --target "$work/site" "$work"/*.whl
bin/infer-prep bundle create --torchvision examples/classifier/transforms.json -o "$work/executorch.bundle" >/dev/null
bin/infer-prep bundle create --torchvision examples/classifier/transforms.json --layout HWC -o "$work/litert.bundle" >/dev/null
for runtime; do
  model=examples/edge/model.pte
  [ "$runtime" = executorch ] || model=examples/edge/model.tflite
  py=$(parity/venv.sh "examples/edge/requirements-$runtime.txt")
  PYTHONPATH=$work/site "$py" "examples/edge/${runtime}_.py" "$work/$runtime.bundle" $model examples/classifier/images/*.jpg 2>"$work/log" >"$work/labels" || { cat "$work/log"; exit 1; }
  python3 - "$work/labels" "$runtime" <<'E'
import json, os, sys

labels = open("examples/classifier/labels.txt").read().split("\n")
want = json.load(open("examples/classifier/expected.json"))
got = {os.path.basename(name): labels[int(i)] for name, i in (line.split() for line in open(sys.argv[1]) if line.startswith("examples/"))}
bad = [f"{n}: {got.get(n)}, want {w['label']}" for n, w in want.items() if got.get(n) != w["label"]]
sys.exit("\n".join(bad)) if bad else print(f"{sys.argv[2]}: the labels of {len(want)} images are those of the training")
E
done
