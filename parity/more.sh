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
  "$py" "$dir/importers_more.py" "$ecosystem" "$@" 2>"$log" || { bad=1; echo "$ecosystem: failed"; tail -n 5 "$log"; }
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# tflite-support loads it. grep reads to the end, so that ldconfig does not fail.
libusb() { ldconfig -p | grep libusb-1.0.so.0 >/dev/null; }
if ! libusb && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  { apt-get update && apt-get install -y --no-install-recommends libusb-1.0-0; } >/dev/null 2>&1
fi
libusb || { echo "libusb-1.0.so.0 is missing (Debian: apt-get install libusb-1.0-0)"; exit 1; }
run opencv "$dir/requirements.txt" "$dir/requirements-no-deps.txt" -- "$@"
run keras "$gen/requirements-keras.txt" -- "$@"
run mindir "$gen/requirements-mindspore.txt" -- "$@"
run tflite "$gen/requirements-tflite.txt" -- "$@"
# The classes of the table of infer-prep ops --coverage; make parity itself compares torchvision's.
for f in requirements-mindspore.txt requirements-mxnet.txt; do
  py=$("$dir/venv.sh" "$gen/$f")
  "$py" "$gen/importers/transform_classes.py" --check 2>/dev/null || bad=1
done
py=$("$dir/venv.sh" "$dir/requirements.txt" "$dir/requirements-no-deps.txt")
more=$("$dir/beside.sh" "$py" "$gen/requirements-torchaudio.txt")
PYTHONPATH=$more "$py" "$gen/importers/transform_classes.py" --check 2>/dev/null || bad=1
exit $bad
