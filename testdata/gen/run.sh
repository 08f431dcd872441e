#!/usr/bin/env bash
# Makes the golden files again, with the pinned references, and says what changed.
# usage: run.sh [--MODE | SCRIPT]
# SCRIPT runs one script in its mode. If GOLDENS names a folder, goldens of ops are written there, with all arrays whole.
# Without a mode those whose references are Pillow, OpenCV, torch, torchvision, transformers and timm; the modes are those of what follows here.
# PYTHON names a python to use in place of an environment made by parity/venv.sh.
set -euo pipefail
cd "$(dirname "$0")"
root=../..
only=
case ${1-} in
[a-z]*)
  only=$1
  mode=$(awk -v s="$only" '
    /^(--[a-z0-9]+|"")\)/ { mode = $0; sub(/\).*/, "", mode) }
    mode && /scripts=\(/ { list = $0; sub(/.*scripts=\(/, " ", list); sub(/\).*/, " ", list); if (index(list, " " s " ")) { print mode; exit } }' run.sh)
  [ -n "$mode" ] || { echo "run.sh: no mode runs $only" >&2; exit 2; }
  shift
  [ "$mode" = '""' ] || set -- "$mode" ;;
esac
case ${1-} in
--mindspore) # what MindSpore gives
  requirements=(requirements-mindspore.txt) scripts=(coverage.py normalize_pad.py augment_mindspore.py geometry_mindspore.py mix_mindspore.py moves_mindspore.py colour_mindspore.py tone_mindspore.py data_mindspore.py datasets1_mindspore.py dataset_ops.py datasets2.py datasets3_mindspore.py datasets4_mindspore.py datasets5_mindspore.py importers_mindir.py mindrecord.py) ;;
--datasets) # what torchvision reads from the datasets of datasets2.py, and the sets of datasets3.py to datasets5.py, which --mindspore reads too
  requirements=(requirements-datasets.txt) scripts=(datasets2_torchvision.py datasets3.py datasets4.py datasets5.py) ;;
--datasets6) # what torchvision reads from the sets of datasets6.py: LMDB and HDF5 files, COCO's captions
  requirements=(requirements.txt $root/parity/requirements-no-deps.txt) beside=requirements-datasets6.txt scripts=(datasets6.py) ;;
--mxnet) # what MXNet's iterators, their augmentations and record files give; Python 3.11 or earlier
  requirements=(requirements-mxnet.txt) scripts=(coverage.py mxnet_iters.py mxnet_images.py mxnet_image_iters.py recordio_mxnet.py mxnet_aug.py mxnet_color.py mxnet_det.py mxnet_det_moves.py) ;;
--budget) # what fairseq batches by a number of tokens
  requirements=(requirements-budget.txt requirements-budget-no-deps.txt) scripts=(budget.py) ;;
--warp) # what OpenCV 4 gives where OpenCV 5 is another
  requirements=(requirements-warp.txt) scripts=(warp.py) ;;
--im2rec) # what MXNet's im2rec lists and packs; Python 3.11 or earlier
  requirements=(requirements-mxnet.txt requirements-im2rec.txt) scripts=(im2rec.py) ;;
--monai) # where MONAI puts windows
  requirements=(requirements-monai.txt) scripts=(tile_monai.py) ;;
--records) # what webdataset reads of shards, and tarfile of links
  requirements=(requirements-records.txt) scripts=(webdataset_shards.py tar_links.py) ;;
--kaldi) # what kaldi_native_io and kaldiio write and read
  requirements=(requirements-kaldi.txt) scripts=(kaldi.py) ;;
--pack) # what webdataset's writer makes of what Kaldi's readers read
  requirements=(requirements-pack.txt) scripts=(shards_pack.py) ;;
--onnx) # what ONNX Runtime makes of exported models
  requirements=($root/parity/requirements-onnx.txt) scripts=(onnx_forms.py device_models.py ort_api.py) ;;
--yuv) # what libyuv makes of camera frames; Debian 12's libyuv0
  requirements=(requirements-yuv.txt) scripts=(yuv.py) ;;
--scipy) # what transformers warps by SciPy
  requirements=(requirements-scipy.txt $root/parity/requirements-no-deps.txt) scripts=(warp_box.py) ;;
--keras) # what Keras gives for importer/keras
  requirements=(requirements-keras.txt) scripts=(importers_keras.py) ;;
--tflite) # what the TFLite Task Library gives for importer/tflite; Python 3.11 or earlier
  requirements=(requirements-tflite.txt) scripts=(importers_tflite.py) ;;
"")
  requirements=(requirements.txt $root/parity/requirements-no-deps.txt)
  # The images first: decode.py and preset.py read them.
  scripts=(codecs.py datasets1.py jpeg.py jpeg_scaled.py jpeg_extremes.py idct_reduced.py decode.py readers.py diff.py importers.py importers_opencv.py importers_usages.py importers_patches.py importers_batches.py importers_torchvision.py importers_tensors.py transformers_classes.py coverage.py torchvision_source.py importers_official.py torchvision_programs.py importers_sizes.py importers_special.py importers_tiles.py importers_vision.py ops.py ops_blob.py pad_mask.py patches.py tiles.py geometry.py coords.py moves.py mix.py postprocess.py augment.py draws.py draws_geometry.py policies.py blur.py colour.py tone.py data.py jpeg_op.py preset.py resize.py resize_ipp.py sizes.py special.py tensor.py bundle.py)
  if [ -z "$only" ]; then
    # Debian 12's libjpeg-turbo-progs; another version writes other JPEG files.
    want="libjpeg-turbo version 2.1.5 (build 20230203)"
    command -v cjpeg >/dev/null || { echo "run.sh: cjpeg is missing (Debian: libjpeg-turbo-progs)" >&2; exit 1; }
    have=$(cjpeg -version 2>&1 </dev/null | head -n 1)
    [ "$have" = "$want" ] || { echo "run.sh: cjpeg is $have, want $want" >&2; exit 1; }
  fi ;;
--gift) # what the Go library gift gives, in the version of go.mod
  requirements=() scripts=() ;;
*)
  echo "usage: run.sh [--MODE | SCRIPT], where MODE is one of: $(sed -n 's/^--\([a-z0-9]*\)).*/\1/p' run.sh | xargs)" >&2
  exit 2 ;;
esac
if [ "${1-}" = --gift ]; then
  # Elsewhere Go fuses products into sums.
  (cd $root && GOARCH=amd64 GOAMD64=v1 go run ./testdata/gen/gift transforms/testdata)
else
  py=${PYTHON:-$($root/parity/venv.sh "${requirements[@]}")}
fi
if [ -n "${beside-}" ]; then
  # Small packages beside an environment of 6 GB, which thus serves two modes.
  key=$(cat "$beside" | { "$py" --version; cat; } | sha256sum | cut -c1-16)
  more=${XDG_CACHE_HOME:-$HOME/.cache}/infer-prep/beside-$key
  if [ ! -e "$more/done" ]; then
    rm -rf "$more"
    "$py" -m pip install -q --disable-pip-version-check --no-deps --target "$more" -r "$beside" >&2
    touch "$more/done"
  fi
  export PYTHONPATH=$more
fi
[ -z "$only" ] || scripts=("$only")
for s in "${scripts[@]}"; do
  echo "== $s"
  "$py" "$s"
done
if [ $# -eq 0 ] && [ -z "$only" ]; then
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
