#!/usr/bin/env bash
# Makes the golden files again, with the pinned references, and says what changed.
# usage: run.sh [--MODE | SCRIPT]
# SCRIPT, such as ops/tiles.py, runs one script in its mode. If GOLDENS names a folder, goldens of ops are written there, with all arrays whole.
# Without a mode those whose references are Pillow, OpenCV, torch, torchvision, transformers and timm; the modes are those of what follows here.
# PYTHON names a python to use in place of an environment made by parity/venv.sh.
set -euo pipefail
cd "$(dirname "$0")"
root=../..
only=
case ${1-} in
ops/op_*.py) # of make new-op
  only=$1
  shift ;;
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
  requirements=(requirements-mindspore.txt) scripts=(importers/transform_classes.py ops/normalize_pad.py ops/one_hot_mindspore.py ops/geometry_mindspore.py ops/mixup_mindspore.py ops/moves_mindspore.py ops/posterize_solarize_mindspore.py ops/tone_mindspore.py ops/arrays_text_mindspore.py ops/mask_span_mindspore.py importers/sound_mindspore.py datasets/mnist_cifar_mindspore.py datasets/dataset_ops.py datasets/annotated.py datasets/labelled_mindspore.py datasets/scenes_mindspore.py datasets/movingmnist_phototour_mindspore.py importers/from_mindir.py records/mindrecord.py) ;;
--datasets) # what torchvision reads from the datasets of datasets/annotated.py, and the sets of labelled.py, scenes.py and movingmnist_phototour.py, which --mindspore reads too
  requirements=(requirements-datasets.txt) scripts=(datasets/annotated_torchvision.py datasets/labelled.py datasets/scenes.py datasets/movingmnist_phototour.py) ;;
--datasets6) # what torchvision reads from the sets of datasets/lmdb_hdf5.py: LMDB and HDF5 files, COCO's captions
  requirements=(requirements.txt $root/parity/requirements-no-deps.txt) beside=requirements-datasets6.txt scripts=(datasets/lmdb_hdf5.py) ;;
--torchcodec) # what TorchCodec decodes, and what programs give to image processors
  requirements=(requirements.txt $root/parity/requirements-no-deps.txt) beside=requirements-torchcodec.txt scripts=(codecs/torchcodec_reader.py importers/hf_decoders.py) ;;
--engines) # which frames qwen-vl-utils, vLLM and SGLang choose; 2 GB, of which only Python files are read
  requirements=(requirements.txt $root/parity/requirements-no-deps.txt) beside=requirements-video-engines.txt scripts=(importers/hf_video_engines.py) ;;
--videowords) # what SmolVLM's processor writes of videos, whose numbers num2words spells
  requirements=(requirements.txt $root/parity/requirements-no-deps.txt) beside=requirements-video-words.txt scripts=(importers/hf_video_words.py) ;;
--mxnet) # what MXNet's iterators, their augmentations and record files give; Python 3.11 or earlier
  requirements=(requirements-mxnet.txt) scripts=(importers/transform_classes.py mxnet/mxnet_iters.py mxnet/mxnet_images.py mxnet/mxnet_image_iters.py records/recordio_mxnet.py ops/mxnet_aug.py ops/mxnet_color.py ops/mxnet_det.py mxnet/mxnet_det_moves.py) ;;
--budget) # what fairseq batches by a number of tokens
  requirements=(requirements-budget.txt requirements-budget-no-deps.txt) scripts=(datasets/budget.py) ;;
--warp) # what OpenCV 4 gives where OpenCV 5 is another
  requirements=(requirements-warp.txt) scripts=(ops/warp_opencv4.py) ;;
--im2rec) # what MXNet's im2rec lists and packs; Python 3.11 or earlier
  requirements=(requirements-mxnet.txt requirements-im2rec.txt) scripts=(records/im2rec.py) ;;
--monai) # where MONAI puts windows
  requirements=(requirements-monai.txt) scripts=(ops/tile_monai.py) ;;
--records) # what webdataset reads of shards, and tarfile of links
  requirements=(requirements-records.txt) scripts=(records/webdataset_shards.py records/tar_links.py) ;;
--huggingface) # what pyarrow and datasets write and read
  requirements=(requirements-huggingface.txt) scripts=(datasets/huggingface.py) ;;
--mds) # what mosaicml-streaming writes and reads
  requirements=(requirements-mds.txt) scripts=(records/mds.py) ;;
--tokenizers) # what sentencepiece and tokenizers make of text
  requirements=(requirements-tokenizers.txt) scripts=(ops/subwords.py) ;;
--tfds) # what TensorFlow Datasets writes and reads; 2 GB
  requirements=(requirements-tfds.txt) scripts=(datasets/tfds.py) ;;
--kaldi) # what kaldi_native_io and kaldiio write and read
  requirements=(requirements-kaldi.txt) scripts=(records/kaldi.py) ;;
--pack) # what webdataset's writer makes of what Kaldi's readers read
  requirements=(requirements-pack.txt) scripts=(records/shards_pack.py) ;;
--onnx) # what ONNX Runtime makes of exported models
  requirements=($root/parity/requirements-onnx.txt) scripts=(models/onnx_forms.py models/device_models.py models/ort_api.py) ;;
--yuv) # what libyuv makes of camera frames; Debian 12's libyuv0
  requirements=(requirements-yuv.txt) scripts=(codecs/yuv.py) ;;
--tiff) # what GDAL and tifffile read of TIFF files of many layouts
  requirements=(requirements-tiff.txt) scripts=(codecs/tiff_windows.py datasets/tiles.py ops/data_mask.py) ;;
--dicom) # what pydicom reads of DICOM files
  requirements=(requirements-dicom.txt) scripts=(codecs/dicom.py) ;;
--phone) # what Pillow and pillow-heif read of AVIF, HEIC and JPEG 2000 files; Debian 12's libavif15 and its libaom, which encode more than 8 bits
  requirements=(requirements-phone.txt) scripts=(codecs/phone.py codecs/jp2.py) ;;
--jxl) # what pillow-jxl-plugin reads of JPEG XL files
  requirements=(requirements-jxl.txt) scripts=(codecs/jxl.py) ;;
--scipy) # what transformers warps and scales by SciPy
  requirements=(requirements-scipy.txt $root/parity/requirements-no-deps.txt) scripts=(ops/warp_box.py ops/resize_zoom.py) ;;
--sound) # what libsndfile reads and SciPy resamples
  requirements=(requirements-sound.txt) scripts=(codecs/sounds.py codecs/mp3.py ops/sound_ops.py) ;;
--fbank) # Kaldi's features, and how far their references are from themselves
  requirements=(requirements.txt $root/parity/requirements-no-deps.txt) beside=requirements-fbank.txt scripts=(ops/fbank.py ops/kaldi.py) ;;
--torchaudio) # what torchaudio resamples, and feature extractors that compute with torch
  requirements=(requirements.txt $root/parity/requirements-no-deps.txt) beside=requirements-torchaudio.txt scripts=(ops/resample_sinc.py importers/hf_sound_bounded.py importers/importers_torchaudio.py importers/transform_classes.py) ;;
--librosa) # what librosa computes, for importer/librosa
  requirements=(requirements-librosa.txt) scripts=(importers/importers_librosa.py) ;;
--keras) # what Keras gives for importer/keras
  requirements=(requirements-keras.txt) scripts=(importers/from_keras.py) ;;
--tflite) # what the TFLite Task Library gives for importer/tflite; Python 3.11 or earlier
  requirements=(requirements-tflite.txt) scripts=(importers/from_tflite.py) ;;
"")
  requirements=(requirements.txt $root/parity/requirements-no-deps.txt)
  # The images first: ops/decode.py and models/preset.py read them.
  scripts=(codecs/formats.py codecs/animations.py datasets/mnist_cifar.py codecs/jpeg.py codecs/jpeg_scaled.py codecs/jpeg_extremes.py codecs/idct_reduced.py ops/decode.py codecs/opencv_readers.py tensors/diff_faults.py tensors/sound_faults.py importers/goldens.py importers/from_opencv.py importers/library_usages.py importers/hf_patches.py importers/hf_batches.py importers/hf_torchvision.py importers/torchvision_tensors.py importers/torchvision_uint16.py importers/transformers_classes.py importers/transformers_processors.py importers/transform_classes.py importers/torchvision_source.py importers/hf_official.py importers/torchvision_programs.py importers/hf_sizes.py importers/hf_special.py importers/hf_sound.py importers/hf_tiles.py importers/hf_vision.py importers/hf_video_sampling.py importers/hf_video.py importers/hf_video_clips.py importers/hf_video_models.py importers/hf_video_metadata.py importers/hf_video_batches.py importers/hf_slices.py importers/hf_example.py importers/hf_tokens.py ops/basic_ops.py ops/blob.py ops/pad_with_mask.py ops/patches.py ops/tiles.py ops/geometry.py ops/coords.py ops/moves.py ops/mixup_cutmix.py ops/postprocess.py ops/erase_adjust.py ops/draws.py ops/draws_geometry.py ops/policies.py ops/gaussian_blur.py ops/posterize_solarize.py ops/tone.py ops/video_text.py ops/jpeg_op.py models/preset.py models/speech.py ops/resize.py ops/resize_ipp.py ops/padding.py ops/one_model.py ops/bands.py tensors/tensor_files.py bundle.py importers/hf_video_tokens.py)
  for s in ops/op_*.py; do [ ! -e "$s" ] || scripts+=("$s"); done # of make new-op
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
  more=$($root/parity/beside.sh "$py" "$beside")
fi
# Scripts import modules of each other's folders.
PYTHONPATH=$(printf '%s:' "$PWD"/*/)${more-}
export PYTHONPATH=${PYTHONPATH%:}
[ -z "$only" ] || scripts=("$only")
for s in "${scripts[@]}"; do
  echo "== $s"
  "$py" "$s"
done
if [ $# -eq 0 ] && [ -z "$only" ]; then
  # What package tensor writes, read by the real readers.
  echo "== tensors/tensor_check.py"
  dir=$(mktemp -d)
  trap 'rm -rf "$dir"' EXIT
  for p in tensor tensor/npz; do (cd $root && go test ./$p -run TestWriteForCheck -count=1 -args -dir "$dir"); done
  "$py" tensors/tensor_check.py "$dir"
fi
changed=$(git -C $root status --porcelain -- '*testdata*' ':!testdata/gen')
if [ -n "$changed" ]; then
  echo "changed:"
  echo "$changed"
  exit 1
fi
echo "nothing changed"
