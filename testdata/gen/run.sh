#!/usr/bin/env bash
# Makes the golden files again, with the pinned references, and says what changed.
# usage: run.sh [--mindspore | --datasets | --mxnet | --onnx | --keras | --tflite | --kaldi]
# --mindspore makes those instead whose reference is MindSpore, --datasets makes what torchvision reads from the datasets of datasets2.py,
# --mxnet what MXNet's iterators and record files give (which needs Python 3.11 or earlier), --onnx what ONNX Runtime makes of exported models, --keras and
# --tflite what Keras and the TFLite Task Library give for importer/keras and importer/tflite (the latter needs Python 3.11 or earlier, too),
# --kaldi what kaldi_native_io and kaldiio write and read.
# PYTHON names a python to use in place of an environment made by parity/venv.sh.
set -euo pipefail
cd "$(dirname "$0")"
root=../..
if [ "${1-}" = --mindspore ]; then
  requirements=(requirements-mindspore.txt) scripts=(normalize_pad.py augment_mindspore.py datasets1_mindspore.py dataset_ops.py datasets2.py importers_mindir.py)
elif [ "${1-}" = --datasets ]; then
  requirements=(requirements-datasets.txt) scripts=(datasets2_torchvision.py)
elif [ "${1-}" = --mxnet ]; then
  requirements=(requirements-mxnet.txt) scripts=(mxnet_iters.py recordio_mxnet.py)
elif [ "${1-}" = --onnx ]; then
  requirements=($root/parity/requirements-onnx.txt) scripts=(onnx_forms.py device_models.py ort_api.py)
elif [ "${1-}" = --keras ]; then
  requirements=(requirements-keras.txt) scripts=(importers_keras.py)
elif [ "${1-}" = --tflite ]; then
  requirements=(requirements-tflite.txt) scripts=(importers_tflite.py)
elif [ "${1-}" = --kaldi ]; then
  requirements=(requirements-kaldi.txt) scripts=(kaldi.py)
elif [ $# -gt 0 ]; then
  echo "usage: run.sh [--mindspore | --datasets | --mxnet | --onnx | --keras | --tflite | --kaldi]" >&2
  exit 2
else
  requirements=(requirements.txt $root/parity/requirements-no-deps.txt)
  # The images first: decode.py and preset.py read them.
  scripts=(codecs.py datasets1.py jpeg.py jpeg_scaled.py idct_reduced.py decode.py diff.py importers.py importers_opencv.py importers_patches.py ops.py ops_blob.py pad_mask.py patches.py augment.py draws.py preset.py resize.py tensor.py bundle.py)
  # Debian 12's libjpeg-turbo-progs; another version writes other JPEG files.
  want="libjpeg-turbo version 2.1.5 (build 20230203)"
  command -v cjpeg >/dev/null || { echo "run.sh: cjpeg is missing (Debian: libjpeg-turbo-progs)" >&2; exit 1; }
  have=$(cjpeg -version 2>&1 </dev/null | head -n 1)
  [ "$have" = "$want" ] || { echo "run.sh: cjpeg is $have, want $want" >&2; exit 1; }
fi
py=${PYTHON:-$($root/parity/venv.sh "${requirements[@]}")}
for s in "${scripts[@]}"; do
  echo "== $s"
  "$py" "$s"
done
if [ $# -eq 0 ]; then
  # What package tensor writes, read by the real readers.
  echo "== tensor_check.py"
  dir=$(mktemp -d)
  trap 'rm -rf "$dir"' EXIT
  (cd $root && go test ./tensor -run TestWriteForCheck -count=1 -args -dir "$dir")
  "$py" tensor_check.py "$dir"
fi
changed=$(git -C $root status --porcelain -- '*testdata*' ':!testdata/gen')
if [ -n "$changed" ]; then
  echo "changed:"
  echo "$changed"
  exit 1
fi
echo "nothing changed"
