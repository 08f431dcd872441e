#!/usr/bin/env bash
# Compares the importers whose references need separate environments; see importers_more.py.
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
exit $bad
