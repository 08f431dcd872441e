package mxnet

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// ImageRecordParams are the parameters of ImageRecordIter, in MXNet's five
// groups. ParseImageRecordParams takes them under MXNet's names, which are the
// fields' tags. DefaultImageRecordParams returns the defaults.
//
// Every parameter takes effect unless its comment says otherwise.
type ImageRecordParams struct {
	// Dataset.

	// PathImgRec lists the record files: files and folders separated by
	// semicolons. If neither exists, it is a folder and a regular expression
	// for the whole name of files in it (RE2's syntax; MXNet's is
	// ECMAScript's). Files of a folder are sorted by name.
	PathImgRec string `mxnet:"path_imgrec"`
	// PathImgIdx is the .idx file of all record files together. With it nothing
	// else is read before the first batch, and parts are divided by records.
	// Empty: no index.
	PathImgIdx string `mxnet:"path_imgidx"`
	// PathImgList is a .lst file, with tabs between fields. Its labels replace
	// those of the records with the same ids. A record that it does not list is
	// an error, which states the id. Empty: no list.
	PathImgList string `mxnet:"path_imglist"`
	LabelWidth  int    `mxnet:"label_width"` // labels per image, as many as the records have
	// DataShape is the channels, height and width of an image. 1 channel is
	// gray and 3 are RGB. 4 are RGBA as the file has them; a file without alpha
	// is then an error.
	DataShape tensor.Shape `mxnet:"data_shape"`
	// NumParts divides the records into parts, and PartIndex selects one of
	// them: the records of the same part in MXNet.
	NumParts  int `mxnet:"num_parts"`
	PartIndex int `mxnet:"part_index"`

	// Batch.

	BatchSize int `mxnet:"batch_size"`
	// RoundBatch completes the last batch with images from the beginning of the
	// epoch. Otherwise zeros complete it. Pad counts both.
	RoundBatch bool `mxnet:"round_batch"`

	// Augmentation runs in this order: Resize; rotation, shear, scale and
	// aspect; Pad; the crop; brightness, contrast and saturation; hue,
	// saturation and lightness; PCANoise; means; mirror; contrast,
	// illumination, std and scale. "Between" means uniformly distributed.

	AugSeq string `mxnet:"aug_seq"` // must be aug_default
	// Shuffle puts all records of the part in random order, different in each
	// epoch, with or without an index. (Without an index MXNet mixes only
	// within 64 MB.)
	Shuffle bool  `mxnet:"shuffle"`
	Seed    int64 `mxnet:"seed"` // of the order and of the augmentation
	// SeedAug is another seed for the augmentation. Random numbers still differ
	// between images and epochs. (MXNet's are then the same in every epoch.)
	SeedAug *int64 `mxnet:"seed_aug"`
	// ShuffleChunkSize, in MB, requires Shuffle and has no further effect,
	// since Shuffle already mixes everything. ShuffleChunkSeed is then a second
	// seed of the order.
	ShuffleChunkSize int   `mxnet:"shuffle_chunk_size"`
	ShuffleChunkSeed int64 `mxnet:"shuffle_chunk_seed"`
	Resize           int   `mxnet:"resize"` // length of the shorter side in pixels; -1 keeps the size
	// RandCrop crops at a random position, otherwise at the centre.
	RandCrop bool `mxnet:"rand_crop"`
	// RandomResizedCrop crops a box of random area and aspect and scales it to
	// DataShape. The area is MinRandomArea to MaxRandomArea of the image's. It
	// excludes RandCrop, the crop sizes and the random scale.
	RandomResizedCrop bool `mxnet:"random_resized_crop"`
	MaxRotateAngle    int  `mxnet:"max_rotate_angle"` // in degrees: rotates by a whole number between -v and v
	Rotate            int  `mxnet:"rotate"`           // in degrees: if above 0, a fixed angle that overrides MaxRotateAngle
	// RotateList is a comma-separated list of degrees, one of which is drawn.
	// It overrides the two fields above. (MXNet has it but does not document
	// it.)
	RotateList string `mxnet:"rotate_list"`
	// MaxAspectRatio alone draws the aspect between 1-v and 1+v. With
	// MinAspectRatio it is the upper bound.
	MaxAspectRatio float32  `mxnet:"max_aspect_ratio"`
	MinAspectRatio *float32 `mxnet:"min_aspect_ratio"`
	MaxShearRatio  float32  `mxnet:"max_shear_ratio"` // draws a shear between -v and v
	// MaxCropSize and MinCropSize crop a square whose side is between them and
	// scale it to DataShape. -1 disables it.
	MaxCropSize    int     `mxnet:"max_crop_size"`
	MinCropSize    int     `mxnet:"min_crop_size"`
	MaxRandomScale float32 `mxnet:"max_random_scale"` // upper bound of the random scale
	MinRandomScale float32 `mxnet:"min_random_scale"` // lower bound
	MaxRandomArea  float32 `mxnet:"max_random_area"`  // see RandomResizedCrop
	MinRandomArea  float32 `mxnet:"min_random_area"`
	MaxImgSize     float32 `mxnet:"max_img_size"` // bounds of the sides after rotation, shear and scale
	MinImgSize     float32 `mxnet:"min_img_size"`
	Brightness     float32 `mxnet:"brightness"` // factors between 1-v and 1+v, applied in random order
	Contrast       float32 `mxnet:"contrast"`
	Saturation     float32 `mxnet:"saturation"`
	PCANoise       float32 `mxnet:"pca_noise"` // standard deviation of AlexNet's lighting noise
	RandomH        int     `mxnet:"random_h"`  // added to hue (of 180), lightness and saturation (of 255)
	RandomS        int     `mxnet:"random_s"`
	RandomL        int     `mxnet:"random_l"`
	FillValue      int     `mxnet:"fill_value"` // value of pixels outside the image
	// InterMethod is the interpolation: 0 nearest, 1 linear, 2 cubic, 3 area, 4
	// Lanczos. 9 is cubic if both sides grow, area if both shrink, and linear
	// otherwise. 10 draws one of 0 to 4. Geometric augmentation requires a
	// value other than 0.
	InterMethod int  `mxnet:"inter_method"`
	Pad         int  `mxnet:"pad"`    // width of a border in pixels
	Mirror      bool `mxnet:"mirror"` // always flips left to right
	RandMirror  bool `mxnet:"rand_mirror"`
	// MeanImg is a file with an image that is subtracted in place of the means
	// below. If the file does not exist, it is created: the mean of the part's
	// images, in one pass, in MXNet's format.
	MeanImg string  `mxnet:"mean_img"`
	MeanR   float32 `mxnet:"mean_r"` // MeanR and StdR also apply to gray
	MeanG   float32 `mxnet:"mean_g"`
	MeanB   float32 `mxnet:"mean_b"`
	MeanA   float32 `mxnet:"mean_a"`
	StdR    float32 `mxnet:"std_r"`
	StdG    float32 `mxnet:"std_g"`
	StdB    float32 `mxnet:"std_b"`
	StdA    float32 `mxnet:"std_a"`
	Scale   float32 `mxnet:"scale"`
	// MaxRandomContrast multiplies by a factor between 1-v and 1+v.
	// MaxRandomIllumination adds a number between -v and v, before Scale and
	// the division by Std.
	MaxRandomContrast     float32 `mxnet:"max_random_contrast"`
	MaxRandomIllumination float32 `mxnet:"max_random_illumination"`

	// Backend.

	// PreprocessThreads is the number of goroutines that decode and augment
	// with Context "gpu". Default 4; 0 means 1.
	PreprocessThreads int `mxnet:"preprocess_threads"`
	// PrefetchBuffer is the number of batches prepared ahead with Context
	// "gpu". Default 4.
	PrefetchBuffer int `mxnet:"prefetch_buffer"`
	// Context is "gpu" to prepare batches in goroutines ahead of Next, or "cpu"
	// to prepare them within Next. Nothing runs on a GPU. (ctx)
	Context  string `mxnet:"ctx"`
	DeviceID int    `mxnet:"device_id"` // no effect
	// DType is the type of the images. Float32 is the default. Int8 has means
	// subtracted but is not divided or scaled. Uint8 has the pixels as they
	// are. Labels are always float32. (None is float32)
	DType tensor.DType `mxnet:"dtype"`

	// Auxiliary.

	Verbose bool `mxnet:"verbose"` // no effect: nothing is logged

	// LastBatch handles an epoch's last images if they don't fill a batch.
	// "pad" does what RoundBatch does, "zero" what a false RoundBatch does.
	// "discard" drops them. "roll_over" puts them, as augmented, before the
	// next epoch. "short" returns a shorter batch. Empty: RoundBatch decides.
	// MXNet has no name for it.
	LastBatch string
	// Store opens the files. Default: store.Local. It has no name in MXNet.
	Store store.Opener
}

// DefaultImageRecordParams returns MXNet's defaults. PathImgRec, DataShape and
// BatchSize are required.
func DefaultImageRecordParams() ImageRecordParams {
	return ImageRecordParams{
		LabelWidth: 1, NumParts: 1,
		RoundBatch: true,
		AugSeq:     "aug_default", Resize: -1, Rotate: -1, MaxCropSize: -1, MinCropSize: -1, MaxRandomScale: 1, MinRandomScale: 1,
		MaxRandomArea: 1, MinRandomArea: 1, MaxImgSize: 1e10, FillValue: 255, InterMethod: 1,
		StdR: 1, StdG: 1, StdB: 1, StdA: 1, Scale: 1,
		PreprocessThreads: 4, PrefetchBuffer: 4, Context: "gpu", DType: tensor.Float32,
		Verbose: true,
	}
}

// ParseImageRecordParams parses parameters under MXNet's names, in the text
// forms of MXNet's C interface. Missing ones have the defaults of
// DefaultImageRecordParams. Its error is a *ParamError; for an unknown name it
// suggests the closest known one.
func ParseImageRecordParams(kwargs map[string]string) (ImageRecordParams, error) {
	p := DefaultImageRecordParams()
	if err := imageParamSet.parse(&p, kwargs); err != nil {
		return p, err
	}
	return p, p.Validate()
}

const imageIter = "ImageRecordIter"

var imageParamSet = newParamSet[ImageRecordParams](imageIter, paramSet{
	required: []string{"batch_size", "path_imgrec", "data_shape"}, wants: imageWants, ranges: imageRanges,
})

// imageWants describes valid values for errors.
var imageWants = map[string]string{
	"path_imgrec":         "record files",
	"data_shape":          "channels (1, 3 or 4), height and width, as in (3, 224, 224)",
	"part_index":          "0 to num_parts - 1",
	"batch_size":          wantBatch,
	"aug_seq":             "aug_default",
	"shuffle_chunk_size":  "0, or with shuffle 1 or more",
	"resize":              "-1, or 1 to 65535",
	"random_resized_crop": "False with rand_crop, min_crop_size, max_crop_size, min_random_scale or max_random_scale",
	"rotate_list":         "comma-separated whole degrees from -360 to 360",
	"max_aspect_ratio":    "0 to 1; with min_aspect_ratio that or more, up to 1000",
	"min_aspect_ratio":    "0.001 to 1000, or None",
	"min_crop_size":       "-1 and -1, or 1 to max_crop_size",
	"max_crop_size":       "-1 and -1, or min_crop_size to 65535",
	"min_random_scale":    "0.001 to max_random_scale",
	"max_random_scale":    "min_random_scale to 1000",
	"min_random_area":     "above 0, to max_random_area",
	"max_random_area":     "min_random_area to 1000",
	"max_img_size":        "1, and min_img_size, to 1e10",
	"inter_method":        "0 to 4, 9 or 10; not 0 with geometric augmentation",
	"prefetch_buffer":     wantPrefetch,
	"ctx":                 wantContext,
	"dtype":               "None, float32, uint8 or int8",
	"LastBatch":           "pad, zero, discard, roll_over or short, or nothing",
}

// imageRanges are the valid ranges of numbers.
var imageRanges = map[string][2]float64{
	"label_width": {1, 1 << 20}, "num_parts": {1, 1 << 24}, "batch_size": {1, maxBatch}, "shuffle_chunk_size": {0, 1 << 31},
	"max_rotate_angle": {0, 360}, "rotate": {-360, 360}, "max_shear_ratio": {0, 100}, "min_img_size": {0, 1 << 16},
	"brightness": {0, 1000}, "contrast": {0, 1000}, "saturation": {0, 1000}, "pca_noise": {0, 1e5},
	"random_h": {0, 180}, "random_s": {0, 255}, "random_l": {0, 255}, "fill_value": {0, 255}, "pad": {0, 1 << 16},
	"mean_r": {-32768, 32767}, "mean_g": {-32768, 32767}, "mean_b": {-32768, 32767}, "mean_a": {-32768, 32767},
	"max_random_contrast": {0, 1e6}, "max_random_illumination": {0, 1e6},
	"preprocess_threads": {0, 1024}, "prefetch_buffer": {0, maxPrefetch}, "max_random_scale": {0, 1000}, "max_random_area": {0, 1000},
}

// Validate checks all parameters. Its error is a *ParamError with MXNet's name
// of the parameter.
func (p ImageRecordParams) Validate() error {
	fail := func(name string) error { return imageParamSet.fail(p, name) }
	if err := imageParamSet.check(p); err != nil {
		return err
	}
	for name, std := range map[string]float32{"std_r": p.StdR, "std_g": p.StdG, "std_b": p.StdB, "std_a": p.StdA} {
		if std == 0 {
			return &ParamError{Iter: imageIter, Name: name, Value: "0", Want: "a number other than 0"}
		}
	}
	s := p.DataShape
	switch {
	case p.PathImgRec == "":
		return fail("path_imgrec")
	case s.Rank() != 3 || s.At(0) != 1 && s.At(0) != 3 && s.At(0) != 4 || s.At(1) < 1 || s.At(1) > 1<<16 || s.At(2) < 1 || s.At(2) > 1<<16:
		return fail("data_shape")
	case s.At(0) != 3 && p.colors() != "":
		return &ParamError{Iter: imageIter, Name: p.colors(), Value: fmt.Sprint(imageParamSet.field(p, p.colors())), Want: "0 unless data_shape has 3 channels"}
	case p.PartIndex < 0 || p.PartIndex >= p.NumParts:
		return fail("part_index")
	case p.AugSeq != "aug_default":
		return fail("aug_seq")
	case p.ShuffleChunkSize > 0 && !p.Shuffle:
		return fail("shuffle_chunk_size")
	case p.Resize != -1 && (p.Resize < 1 || p.Resize > 1<<16-1):
		return fail("resize")
	case p.MinAspectRatio != nil && !(*p.MinAspectRatio >= 0.001 && *p.MinAspectRatio <= 1000):
		return fail("min_aspect_ratio")
	case p.MinAspectRatio == nil && !(p.MaxAspectRatio >= 0 && p.MaxAspectRatio <= 1):
		return fail("max_aspect_ratio")
	case p.MinAspectRatio != nil && !(p.MaxAspectRatio >= *p.MinAspectRatio && p.MaxAspectRatio <= 1000):
		return fail("max_aspect_ratio")
	case p.crops() && !(p.MinCropSize >= 1 && p.MinCropSize <= p.MaxCropSize):
		return fail("min_crop_size")
	case p.crops() && p.MaxCropSize > 1<<16-1:
		return fail("max_crop_size")
	case !(p.MinRandomScale >= 0.001 && p.MinRandomScale <= p.MaxRandomScale):
		return fail("min_random_scale")
	case !(p.MinRandomArea > 0 && p.MinRandomArea <= p.MaxRandomArea):
		return fail("min_random_area")
	case !(p.MaxImgSize >= p.MinImgSize && p.MaxImgSize >= 1 && p.MaxImgSize <= 1e10):
		return fail("max_img_size")
	case p.RandomResizedCrop && (p.RandCrop || p.crops() || p.MinRandomScale != 1 || p.MaxRandomScale != 1):
		return fail("random_resized_crop")
	case p.InterMethod < 0 || p.InterMethod > 10 || p.InterMethod > 4 && p.InterMethod < 9 || p.InterMethod == 0 && p.warps():
		return fail("inter_method")
	case p.Context != "cpu" && p.Context != "gpu":
		return fail("ctx")
	case p.DType != tensor.Float32 && p.DType != tensor.Uint8 && p.DType != tensor.Int8:
		return fail("dtype")
	}
	if _, err := p.rotations(); err != nil {
		return fail("rotate_list")
	}
	if _, ok := imageLasts[p.LastBatch]; !ok {
		return &ParamError{Iter: imageIter, Name: "LastBatch", Value: strconv.Quote(p.LastBatch), Want: imageWants["LastBatch"]}
	}
	return nil
}

var imageLasts = map[string]last{"": 0, "pad": lastPad, "zero": lastZero, "discard": lastDiscard, "roll_over": lastRoll, "short": lastShort}

// lastOf returns the handling of an epoch's last images by LastBatch and
// RoundBatch.
func lastOf(lastBatch string, round bool) last {
	if lastBatch == "" && !round {
		return lastZero
	}
	return imageLasts[lastBatch]
}

// colors returns the name of a parameter that is set and requires colour
// images, or "".
func (p *ImageRecordParams) colors() string {
	for _, name := range []string{"brightness", "contrast", "saturation", "random_h", "random_s", "random_l", "pca_noise"} {
		if !imageParamSet.field(*p, name).IsZero() {
			return name
		}
	}
	return ""
}

// crops reports whether the crop sizes are set.
func (p *ImageRecordParams) crops() bool { return p.MinCropSize != -1 || p.MaxCropSize != -1 }

// rotations parses RotateList.
func (p *ImageRecordParams) rotations() (l []int, err error) {
	if p.RotateList == "" {
		return nil, nil
	}
	for f := range strings.SplitSeq(p.RotateList, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(f))
		if err != nil || n < -360 || n > 360 {
			return nil, errors.New("invalid degrees")
		}
		l = append(l, n)
	}
	return l, nil
}

// warps reports whether images are warped by an affine transform. With
// random_resized_crop the aspect belongs to the crop.
func (p *ImageRecordParams) warps() bool {
	return p.MaxRotateAngle > 0 || p.Rotate > 0 || p.RotateList != "" || p.MaxShearRatio > 0 ||
		p.MaxRandomScale != 1 || p.MinRandomScale != 1 || p.MaxImgSize != 1e10 || p.MinImgSize != 0 ||
		!p.RandomResizedCrop && (p.MaxAspectRatio != 0 || p.MinAspectRatio != nil)
}
