#!/usr/bin/env bash
# Compares the importers whose references need separate environments (see importers_more.py), and the lists of their classes.
# usage: more.sh INFER_PREP [FOLDER]...
set -euo pipefail
dir=$(dirname "$0")
gen=$dir/../testdata/gen
bad=0
run() { # run ECOSYSTEM REQUIREMENTS... -- ARGUMENTS...
  local ecosystem=$1 files=()
  shift
  while [ "$1" != -- ]; do files+=("$1"); shift; done
  shift
  local py
  py=$("$dir/venv.sh" "${files[@]}")
  "$py" "$dir/importers_more.py" "$ecosystem" "$@" 2>/dev/null || bad=1
}
run opencv "$dir/requirements.txt" "$dir/requirements-no-deps.txt" -- "$@"
run keras "$gen/requirements-keras.txt" -- "$@"
run mindir "$gen/requirements-mindspore.txt" -- "$@"
run tflite "$gen/requirements-tflite.txt" -- "$@"
# The classes of the table of infer-prep ops --coverage; make parity itself compares torchvision's.
for f in requirements-mindspore.txt requirements-mxnet.txt; do
  py=$("$dir/venv.sh" "$gen/$f")
  "$py" "$gen/importers/transform_classes.py" --check 2>/dev/null || bad=1
done
exit $bad
