#!/usr/bin/env bash
# Makes the app's asset, the bundle of examples/classifier: the data graph, the
# model, its labels, and golden samples with the tensors of the training.
# usage: examples/android/bundle.sh FILE
# GO names the go command.
set -euo pipefail
[ $# = 1 ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
out=$(realpath -m "$1")
cd "$(dirname "$0")/../.."
mkdir -p "$(dirname "$out")"
from=examples/classifier
exec "${GO:-go}" run ./cmd/infer-prep bundle create --torchvision $from/transforms.json --model $from/model.onnx \
  --labels $from/labels.txt --golden $from/images --expect $from/tensors -o "$out"
