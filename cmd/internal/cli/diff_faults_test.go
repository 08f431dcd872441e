package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	testshort "github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/tensor/npz"
)

// faults has, for each tensor of testdata/gen/tensors/diff_faults.py, the one
// right answer: = for equal values, ~ for values equal up to rounding, ? for
// what is near or unexplained, and the changes in any order. After | follow
// other explanations that are right, too: a backend of transformers, and the
// resize that it runs.
var faults = map[string]string{
	// Only rounding, or another form of the same values.
	"tv.fused": "~", "tv.reciprocal": "~", "tv.float64": "~", "tv.float16": "~", "tv.float16_throughout": "~", "tv.hwc": "=", "tv.hwc_batch": "=",
	"clip.float64": "~", "clip.by_hand": "~", "clip.float16": "~", "clippil.float64": "~", "clippil.by_hand": "equal", "clippil.float16": "~",
	"vit.pillow": "~", "vit.minus_1_to_1": "~", "yolo.multiplied": "~", "yolo.float16": "~", "opencv.by_hand": "~",
	// The range, and the mean and std.
	"tv.no255": "= not-rescaled", "tv.no255_float64": "~ not-rescaled", "tv.twice255": "= rescaled-twice", "tv.levels_mean": "~ rescaled-twice",
	"tv.no_mean_std": "= not-normalized", "tv.raw": "= not-rescaled not-normalized", "tv.raw_uint8": "= not-rescaled not-normalized",
	"tv.clip_mean": "= clip-mean", "tv.half_mean": "= half-mean", "tv.half_mean_127": "= half-mean", "tv.std_missing": "= std-missing",
	"tv.mean_missing": "= mean-missing", "tv.mean_reversed": "= mean-reversed", "tv.normalized_twice": "= normalized-twice", "tv.caffe": "~ caffe-mean bgr-throughout",
	"clip.no255": "= not-rescaled", "clip.no_mean_std": "~ not-normalized", "clip.raw": "= not-rescaled not-normalized", "clip.imagenet_mean": "~ imagenet-mean",
	"clip.twice255": "~ rescaled-twice", "clippil.no255": "= not-rescaled", "clippil.no_mean_std": "= not-normalized", "clippil.raw": "= not-rescaled not-normalized",
	"clippil.imagenet_mean": "= imagenet-mean", "clippil.twice255": "= rescaled-twice", "vit.no255": "= not-rescaled", "vit.imagenet_mean": "~ imagenet-mean",
	"timm.half_mean": "= half-mean", "yolo.no255": "= not-rescaled", "yolo.uint8_hwc": "= not-rescaled", "yolo.imagenet_mean": "= imagenet-mean",
	"opencv.no_mean": "~ mean-missing", "opencv.raw": "= not-rescaled not-normalized", "opencv.divided": "~ not-normalized",
	// The order of channels.
	"tv.bgr": "= bgr", "tv.bgr_throughout": "= bgr-throughout", "yolo.bgr": "= bgr", "opencv.not_swapped": "= bgr",
	"tv.raw_bgr_uint8": "= not-rescaled not-normalized bgr", "tv.raw_bgr_float64": "= not-rescaled not-normalized bgr",
	"clip.raw_bgr_uint8": "= not-rescaled not-normalized bgr", "clippil.raw_bgr_uint8": "= not-rescaled not-normalized bgr",
	"clip.no255_bgr": "= not-rescaled bgr", "clippil.no255_bgr": "= not-rescaled bgr",
	// Another resize, alone and with others.
	"tv.cv_linear": "= opencv-bilinear", "tv.cv_cubic": "= opencv-bicubic", "tv.cv_area": "= opencv-area", "tv.cv_lanczos": "= opencv-lanczos",
	"tv.cv_nearest": "= opencv-nearest", "tv.cv_linear_bgr": "= bgr opencv-bilinear", "tv.cv_linear_raw_bgr": "= not-rescaled not-normalized bgr opencv-bilinear",
	"tv.cv_area_no_mean_std_bgr": "= not-normalized bgr opencv-area",
	"tv.pil_bicubic":             "= pillow-bicubic", "tv.pil_lanczos": "= pillow-lanczos", "tv.pil_nearest": "= pillow-nearest", "tv.pil_box": "= pillow-box",
	"tv.pil_hamming": "= pillow-hamming", "tv.torch_antialias": "~ torch_uint8-bilinear", "tv.torch_no_antialias": "~ torch_uint8-bilinear-no-antialias",
	"tv.torch_bicubic": "~ torch_uint8-bicubic", "tv.float_antialias": "~ scaled-as-floats", "tv.truncated": "= truncated",
	"tv.float_no_antialias":     "~ scaled-as-floats torch-bilinear-no-antialias | ~ scaled-as-floats opencv-bilinear",
	"tv.float_no_antialias_raw": "~ not-rescaled not-normalized scaled-as-floats torch-bilinear-no-antialias | ~ not-rescaled not-normalized scaled-as-floats opencv-bilinear",
	"clip.other_backend":        "= backend-pil | ~ pillow-bicubic", "clippil.other_backend": "= backend-torchvision | ~ torch_uint8-bicubic",
	"clip.bilinear": "= torch_uint8-bilinear", "clippil.bilinear": "= pillow-bilinear",
	"clips.cv_cubic": "~ opencv-bicubic", "clips.cv_cubic_bgr": "~ bgr opencv-bicubic", "clips.cv_linear": "~ opencv-bilinear",
	"clips.cv_area_raw_bgr": "= not-rescaled not-normalized bgr opencv-area", "clips.cv_linear_no255": "~ not-rescaled opencv-bilinear",
	"clips.cv_cubic_imagenet": "~ imagenet-mean opencv-bicubic",
	"vit.bicubic":             "= torch_uint8-bicubic", "vit.cv_bgr": "~ bgr opencv-bilinear", "timm.bilinear": "= pillow-bilinear", "timm.cv_cubic_bgr": "= bgr opencv-bicubic",
	"yolo.area": "= opencv-area", "opencv.pillow": "= pillow-bilinear",
	// Sizes and positions.
	"tv.squash": "= squash", "tv.squash_bgr": "= squash bgr", "tv.squash_cv_bgr": "= squash bgr opencv-bilinear",
	"tv.squash_cv_raw_bgr": "= not-rescaled not-normalized squash bgr opencv-bilinear", "tv.squash_bicubic_half": "= half-mean squash pillow-bicubic",
	"tv.squash_pil_no255": "= not-rescaled squash", "tv.shortest_crop": "= shortest-crop", "tv.shortest_crop_bicubic": "= shortest-crop pillow-bicubic",
	"tv.margin": "= margin-0.875", "tv.uncropped_bgr": "= uncropped bgr", "tv.crop_floor": "= crop-floor", "tv.crop_ceil": "= crop-ceil",
	"tv.sides_rounded": "= size-half-even", "tv.sides_rounded_bgr": "= size-half-even bgr", "tv.letterbox": "= letterbox-114 opencv-bilinear",
	"tv.letterbox_black_bgr": "= letterbox-0 bgr opencv-bilinear", "tv.mirrored": "= mirrored", "tv.transposed_raw": "= transposed not-rescaled not-normalized",
	"tv.reshaped": "= reshaped", "clips.squash_no_mean_std": "~ not-normalized squash pillow-bicubic | = not-normalized squash backend-pil",
	"vit.shortest_crop": "= shortest-crop backend-pil | ~ shortest-crop pillow-bilinear", "timm.squash_raw_bgr": "= squash not-rescaled not-normalized bgr",
	"timm.no_margin": "= shortest-crop", "yolo.black": "= letterbox-0", "yolo.corner_bgr": "= corner-114 bgr", "yolo.squash": "= squash", "opencv.crop": "= blob-crop",
	// The decoder.
	"tv.exif": "= exif-applied", "tv.exif_cv_bgr": "= exif-applied bgr opencv-bilinear", "tv.exif_squash_raw": "= exif-applied squash not-rescaled not-normalized",
	"tv.gray": "= gray-pillow", "tv.gray_cv": "= gray-opencv", "tv.gray_imread": "= gray-luma", "tv.alpha_white": "= alpha-white", "tv.alpha_black": "= alpha-black",
	"tv.alpha_white_bgr": "= alpha-white bgr", "tv.draft": "= decoded-half", "tv.draft_bgr": "= decoded-half bgr",
	"tv.decoder": "?", "tv.decoder_bgr": "? bgr", "tv.decoder_no255": "? not-rescaled",
	// Nothing that has a name.
	"tv.own_mean": "?", "tv.reduced": "?", "tv.noise": "?", "tv.constant": "?", "tv.another_image": "?", "tv.nan": "?", "tv.two_images": "shape",
}

// faultGraphs writes the graphs of testdata/gen/tensors/diff_faults.py to a
// folder and returns the flags of each.
func faultGraphs(t *testing.T) map[string][]string {
	dir := tree(t, map[string][]byte{
		"tv.json": []byte(`{"torchvision": {"crop_size": 16, "resize_size": 20}}`),
		"clip.json": []byte(`{"image_processor_type": "CLIPImageProcessor", "do_resize": true, "do_center_crop": true, "do_rescale": true, "do_normalize": true,
			"do_convert_rgb": true, "size": {"shortest_edge": 20}, "crop_size": {"height": 16, "width": 16}, "resample": 3, "rescale_factor": 0.00392156862745098,
			"image_mean": [0.48145466, 0.4578275, 0.40821073], "image_std": [0.26862954, 0.26130258, 0.27577711]}`),
		"vit.json": []byte(`{"image_processor_type": "ViTImageProcessor", "do_resize": true, "do_rescale": true, "do_normalize": true,
			"size": {"height": 16, "width": 16}, "resample": 2, "rescale_factor": 0.00392156862745098, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}`),
		"timm.json": []byte(`{"pretrained_cfg": {"input_size": [3, 16, 16], "interpolation": "bicubic", "crop_pct": 0.875, "crop_mode": "center",
			"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}}`),
		"yolo.json":   []byte(`{"ultralytics": {"imgsz": [32, 32], "stride": 32, "auto": false}}`),
		"opencv.json": []byte(`{"scalefactor": 0.01735207357279195, "size": [16, 16], "mean": [123.675, 116.28, 103.53], "swapRB": true}`),
	})
	at := func(name string) string { return filepath.Join(dir, name) }
	return map[string][]string{
		"tv": {"--torchvision", at("tv.json")}, "clip": {"--hf", at("clip.json")}, "clippil": {"--hf", at("clip.json"), "--backend", "pil"}, "vit": {"--hf", at("vit.json")},
		"timm": {"--timm", at("timm.json")}, "yolo": {"--ultralytics", at("yolo.json")}, "opencv": {"--opencv", at("opencv.json")},
	}
}

// faultFile holds the tensors of testdata/gen/tensors/diff_faults.py.
var faultFile = filepath.Join("testdata", "diff", "faults.npz")

// TestDiffFaults: diff finds what real programs did otherwise, and names
// nothing else.
func TestDiffFaults(t *testing.T) {
	graphs := faultGraphs(t)
	f, err := os.Open(faultFile)
	require.NoError(t, err)
	defer f.Close()
	info, err := f.Stat()
	require.NoError(t, err)
	l, err := npz.Read(f, info.Size(), 1<<20)
	require.NoError(t, err)
	require.Len(t, l, len(faults))
	for i := 0; i < len(l); i += testshort.Step(t, 10) {
		p := strings.Split(l[i].Name, ".")
		name, image := p[0]+"."+p[3], testImage(p[1]+"."+p[2])
		if p[1] == "exif6" {
			image = filepath.Join("testdata", "diff", "exif6.jpg")
		}
		want, ok := faults[name]
		require.True(t, ok, name)
		names := []string{p[0]}
		if p[0] == "clips" {
			names = []string{"clip", "clippil"}
		}
		for _, g := range names {
			t.Run(g+"."+p[3], func(t *testing.T) {
				c := call(t, slices.Concat([]string{"diff"}, graphs[g], []string{image, "--against", faultFile + ":" + l[i].Name, "--json"})...)
				var r explainedJSON
				require.NoError(t, json.Unmarshal([]byte(c.stdout), &r), c.stderr)
				require.Equal(t, r.Equal, c.status == command.ExitOK)
				if p[0] == "clips" && g == "clippil" { // its arithmetic is that of NumPy
					want = strings.Replace(strings.Split(want, " | ")[0], "~", "=", 1)
					want = strings.Replace(want, "squash pillow-bicubic", "squash", 1)
				} else if p[0] == "clips" {
					r.soften()
					want = strings.ReplaceAll(want, "=", "~")
				}
				r.check(t, strings.Split(want, " | "))
			})
		}
	}
}

// soften counts equal values as equal up to rounding.
func (r *explainedJSON) soften() {
	for i := range r.Explain.Explanations {
		x := &r.Explain.Explanations[i]
		x.Equal, x.Rounding = false, x.Equal || x.Rounding
	}
}

// check compares the explanations with the right ones.
func (r *explainedJSON) check(t *testing.T, want []string) {
	t.Helper()
	if r.Equal {
		require.Equal(t, []string{"equal"}, want)
		return
	}
	l := r.Explain.Explanations
	if len(l) == 0 {
		require.Equal(t, []string{"shape"}, want)
		return
	}
	for i, x := range l {
		sign := "?"
		switch {
		case x.Equal:
			sign = "="
		case x.Rounding:
			sign = "~"
		}
		var have []string
		for _, c := range x.Changes {
			have = append(have, c.Name)
		}
		require.Less(t, i, len(want), "%s %v", sign, have)
		w := strings.Fields(want[i])
		require.Equal(t, w[0], sign, "%v", have)
		for k, also := range x.Also { // the right one may have the same effect here
			for _, name := range also {
				if slices.Contains(w, name) {
					have[k] = name
				}
			}
		}
		require.ElementsMatch(t, w[1:], have)
		require.True(t, slices.IsSortedFunc(x.Without, func(a, b any) int { return without(b) - without(a) }), "%v", x.Without)
	}
}

// without returns a mean difference in millionths. JSON has no infinity: a
// string stands for it, and is larger than any number.
func without(v any) int {
	if f, ok := v.(float64); ok {
		return int(min(f*1e6, 1e15))
	}
	return 1e16
}
