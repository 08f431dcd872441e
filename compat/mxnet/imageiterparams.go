package mxnet

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// ImageItem is an image of imglist: a path below PathRoot, with its labels.
type ImageItem struct {
	Labels []float32
	Path   string
}

// ImageCommonParams are the parameters that ImageIter and ImageDetIter share.
type ImageCommonParams struct {
	BatchSize int `mxnet:"batch_size"`
	// DataShape is 3, the height and the width of an image.
	DataShape tensor.Shape `mxnet:"data_shape"`

	// PathImgRec is a record file. Without PathImgIdx its images have the order
	// of the file; Shuffle and NumParts need the index.
	PathImgRec string `mxnet:"path_imgrec"`
	// PathImgIdx is the .idx file of PathImgRec. Images have the order of its
	// lines.
	PathImgIdx string `mxnet:"path_imgidx"`
	// PathImgList is a .lst file, with tabs between fields. Without PathImgRec
	// it lists the images, which are files below PathRoot. With PathImgRec and
	// PathImgIdx its labels replace those of the records with the same keys.
	PathImgList string `mxnet:"path_imglist"`
	// PathRoot is the folder of the images of a list. Images outside, also
	// through links, are errors; store.AllowOutside permits them.
	PathRoot string `mxnet:"path_root"`
	// ImgList lists images in place of PathImgList.
	ImgList []ImageItem `mxnet:"imglist"`
	// Shuffle puts the images of the part in random order, different in each
	// epoch.
	Shuffle bool `mxnet:"shuffle"`
	// NumParts divides the images into parts of equal length, and PartIndex
	// selects one of them. As in MXNet, images that are left over are in no
	// part.
	PartIndex int `mxnet:"part_index"`
	NumParts  int `mxnet:"num_parts"`

	DataName  string `mxnet:"data_name"`
	LabelName string `mxnet:"label_name"`
	// LastBatchHandle handles an epoch's last images if they don't fill a
	// batch. "pad" completes the batch with images from the beginning of the
	// epoch. "discard" drops them. "roll_over" puts them, as augmented, before
	// the next epoch.
	LastBatchHandle string `mxnet:"last_batch_handle"`
	// AugList are ops in place of those that the parameters of the augmenters
	// describe. They take the decoded image: uint8, RGB, HWC. Their result is
	// an image of DataShape's size. Nil: the parameters decide.
	AugList []transforms.Op `mxnet:"aug_list"`

	Resize int `mxnet:"resize"` // length of the shorter side in pixels; 0 keeps the size
	// RandMirror flips half of the images left to right.
	RandMirror bool `mxnet:"rand_mirror"`
	// Mean is subtracted and Std divides: one number, or one for each of R, G
	// and B. Nil: neither. In text form, True is ImageNet's: 123.68, 116.28 and
	// 103.53, and 58.395, 57.12 and 57.375.
	Mean []float64 `mxnet:"mean"`
	Std  []float64 `mxnet:"std"`
	// Brightness, Contrast and Saturation draw factors between 1-v and 1+v,
	// applied in random order. Hue draws an angle between -v and v half turns.
	Brightness float64 `mxnet:"brightness"`
	Contrast   float64 `mxnet:"contrast"`
	Saturation float64 `mxnet:"saturation"`
	Hue        float64 `mxnet:"hue"`
	PCANoise   float64 `mxnet:"pca_noise"` // standard deviation of AlexNet's lighting noise
	RandGray   float64 `mxnet:"rand_gray"` // share of the images that become gray
	// InterMethod is the interpolation: see ImageRecordParams. Default 2,
	// cubic.
	InterMethod int `mxnet:"inter_method"`

	// Seed is the seed of the order and of the augmentation. MXNet uses
	// Python's random module.
	Seed int64
	// Threads is the number of goroutines that read and augment images ahead of
	// Next, two batches at most. Default 0: within Next. It has no name in
	// MXNet.
	Threads int
	// Store opens the files. Default: store.Local. It has no name in MXNet.
	Store store.Opener
}

func defaultCommon(label string) ImageCommonParams {
	return ImageCommonParams{NumParts: 1, DataName: "data", LabelName: label, LastBatchHandle: "pad", InterMethod: 2}
}

// ImageIterParams are the parameters of NewImageIter. ParseImageIterParams
// takes them under MXNet's names, which are the fields' tags.
// DefaultImageIterParams returns the defaults.
type ImageIterParams struct {
	ImageCommonParams
	// LabelWidth is the number of labels of each image. A single label of an
	// image is repeated.
	LabelWidth int `mxnet:"label_width"`
	// DType is the type of the labels in lists: Float32, Int32, Int64 or
	// Float64. The batches' labels are always float32; an integer type drops
	// the fractions.
	DType tensor.DType `mxnet:"dtype"`
	// RandCrop crops at a random position, otherwise at the centre.
	RandCrop bool `mxnet:"rand_crop"`
	// RandResize crops a box of random area and aspect and scales it. It
	// requires RandCrop.
	RandResize bool `mxnet:"rand_resize"`
}

// DefaultImageIterParams returns MXNet's defaults. BatchSize, DataShape and
// PathImgRec or a list are required.
func DefaultImageIterParams() ImageIterParams {
	return ImageIterParams{ImageCommonParams: defaultCommon("softmax_label"), LabelWidth: 1, DType: tensor.Float32}
}

const imageListIter = "ImageIter"

var commonWants = map[string]string{
	"data_shape": "3, height and width, as in (3, 224, 224)", "path_imgrec": "a record file, or path_imglist or imglist with path_root",
	"path_imgidx":  "the .idx file of path_imgrec: shuffle, num_parts and path_imglist need it",
	"path_imglist": "a list without path_imgrec, or with path_imgidx", "imglist": "no list with path_imgrec or path_imglist",
	"path_root": "the folder of the images", "part_index": wantPart, "num_parts": "1 to 16777216",
	"data_name": "a name other than label_name", "label_name": "a name", "last_batch_handle": "pad, discard or roll_over",
	"mean": "None, True, one number or three", "std": "None, True, one number or three, none of them 0",
	"inter_method": "0 to 4, 9 or 10", "aug_list": "ops",
}

var commonRanges = map[string][2]float64{
	"batch_size": {1, maxBatch}, "num_parts": {1, 1 << 24}, "resize": {0, 1<<16 - 1}, "label_width": {1, 1 << 20},
	"brightness": {0, 1000}, "contrast": {0, 1000}, "saturation": {0, 1000}, "hue": {0, 1000}, "pca_noise": {0, 1e5}, "rand_gray": {0, 1},
}

var imageListParamSet = newParamSet[ImageIterParams](imageListIter, paramSet{
	required: []string{"batch_size", "data_shape", "path_imgrec", "path_imgidx", "path_root"}, ranges: commonRanges,
	wants: merged(commonWants, map[string]string{"dtype": "float32, int32, int64 or float64", "rand_resize": "False without rand_crop"}),
})

func merged[V any](maps ...map[string]V) map[string]V {
	m := map[string]V{}
	for _, x := range maps {
		for k, v := range x {
			m[k] = v
		}
	}
	return m
}

// ParseImageIterParams parses parameters under MXNet's names: those of
// mx.image.ImageIter and CreateAugmenter, as Python prints them. Missing ones
// have the defaults of DefaultImageIterParams. Its error is a *ParamError; for
// an unknown name it suggests the closest known one. The lists imglist and
// aug_list have no text form.
func ParseImageIterParams(kwargs map[string]string) (ImageIterParams, error) {
	p := DefaultImageIterParams()
	if err := imageListParamSet.parse(&p, imageNet(kwargs)); err != nil {
		return p, err
	}
	return p, p.Validate()
}

// imageNet replaces the value True of mean and std.
func imageNet(kwargs map[string]string) map[string]string {
	means := map[string]string{"mean": "(123.68, 116.28, 103.53)", "std": "(58.395, 57.12, 57.375)"}
	r := merged(kwargs)
	for k, v := range means {
		if r[k] == "True" {
			r[k] = v
		}
	}
	return r
}

// Validate checks all parameters. Its error is a *ParamError with MXNet's name
// of the parameter.
func (p ImageIterParams) Validate() error {
	if err := imageListParamSet.check(p); err != nil {
		return err
	}
	name := p.validate()
	switch {
	case name != "":
	case p.DType != tensor.Float32 && p.DType != tensor.Int32 && p.DType != tensor.Int64 && p.DType != tensor.Float64:
		name = "dtype"
	case p.RandResize && !p.RandCrop:
		name = "rand_resize"
	default:
		return checkOps(imageListIter, p.AugList)
	}
	return imageListParamSet.fail(p, name)
}

// validate returns the name of an invalid parameter, or "".
func (p *ImageCommonParams) validate() string {
	s := p.DataShape
	switch {
	case s.Rank() != 3 || s.At(0) != 3 || s.At(1) < 1 || s.At(1) > 1<<16 || s.At(2) < 1 || s.At(2) > 1<<16:
		return "data_shape"
	case p.PathImgRec == "" && p.PathImgList == "" && p.ImgList == nil:
		return "path_imgrec"
	case p.PathImgRec != "" && p.PathImgIdx == "" && (p.Shuffle || p.NumParts > 1 || p.PathImgList != ""):
		return "path_imgidx"
	case p.ImgList != nil && (p.PathImgRec != "" || p.PathImgList != ""):
		return "imglist"
	case p.PathImgRec == "" && p.PathRoot == "":
		return "path_root"
	case p.PartIndex < 0 || p.PartIndex >= p.NumParts:
		return "part_index"
	case !inputName(p.DataName) || p.DataName == p.LabelName:
		return "data_name"
	case !inputName(p.LabelName):
		return "label_name"
	case p.InterMethod < 0 || p.InterMethod > 10 || p.InterMethod > 4 && p.InterMethod < 9:
		return "inter_method"
	case !perChannel(p.Mean):
		return "mean"
	case !perChannel(p.Std):
		return "std"
	}
	for _, v := range p.Std {
		if float32(v) == 0 {
			return "std"
		}
	}
	if _, ok := lastBatches[p.LastBatchHandle]; !ok {
		return "last_batch_handle"
	}
	return ""
}

func inputName(s string) bool { return s != "" && s[0] != 0 }

// perChannel reports whether l is nil, or finite numbers for channels.
func perChannel(l []float64) bool {
	for _, v := range l {
		if math.IsNaN(v) || math.Abs(v) > math.MaxFloat32 {
			return false
		}
	}
	return l == nil || len(l) == 1 || len(l) == 3
}

// checkOps checks the ops of an aug_list.
func checkOps(iter string, l []transforms.Op) error {
	for i, op := range l {
		err := errors.New("it is nil")
		if op != nil {
			err = op.Validate()
		}
		if err != nil {
			return &ParamError{Iter: iter, Name: "aug_list", Value: "op " + strconv.Itoa(i), Want: fmt.Sprintf("a valid op: %v", err)}
		}
	}
	return nil
}
