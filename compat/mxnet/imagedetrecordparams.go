package mxnet

import (
	"fmt"
	"strconv"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// ImageDetRecordParams are the parameters of ImageDetRecordIter.
// ParseImageDetRecordParams takes them under MXNet's names, which are the
// fields' tags. DefaultImageDetRecordParams returns the defaults.
type ImageDetRecordParams struct {
	// Dataset.

	// PathImgList is a .lst file, with tabs between fields. Its labels replace
	// those of the records with the same ids. A record that it does not list is
	// an error, which states the id. Empty: no list.
	PathImgList string `mxnet:"path_imglist"`
	// PathImgRec lists the record files, as in ImageRecordParams.
	PathImgRec string `mxnet:"path_imgrec"`
	// LabelWidth is the number of labels of each image; of a list, the first
	// ones are used. -1: any number.
	LabelWidth int `mxnet:"label_width"`
	// DataShape is the channels, height and width of an image, as in
	// ImageRecordParams.
	DataShape tensor.Shape `mxnet:"data_shape"`
	// NumParts divides the records into parts, and PartIndex selects one of
	// them: the records of the same part in MXNet.
	NumParts  int `mxnet:"num_parts"`
	PartIndex int `mxnet:"part_index"`
	// LabelPadWidth is the number of labels in a batch for each image, at least
	// that of the image with the most. 0 or -1: that of the image with the
	// most, in the part or in the list. LabelPadValue follows the last label.
	LabelPadWidth int     `mxnet:"label_pad_width"`
	LabelPadValue float32 `mxnet:"label_pad_value"`

	// Batch.

	BatchSize int `mxnet:"batch_size"`
	// RoundBatch completes the last batch with images from the beginning of the
	// epoch. Otherwise zeros complete it. Pad counts both.
	RoundBatch bool `mxnet:"round_batch"`

	// Augmentation runs in this order: Resize; hue, saturation, lightness and
	// contrast; mirror; pad; crop; ResizeMode; means, std and scale. Mirrors,
	// pads and crops move the boxes.

	AugSeq string `mxnet:"aug_seq"` // must be det_aug_default
	// Shuffle puts all records of the part in random order, different in each
	// epoch. (MXNet mixes only within 64 MB.)
	Shuffle bool  `mxnet:"shuffle"`
	Seed    int64 `mxnet:"seed"` // of the order and of the augmentation
	// ShuffleChunkSize and ShuffleChunkSeed: see ImageRecordParams.
	ShuffleChunkSize int   `mxnet:"shuffle_chunk_size"`
	ShuffleChunkSeed int64 `mxnet:"shuffle_chunk_seed"`
	Resize           int   `mxnet:"resize"` // length of the shorter side in pixels; -1 keeps the size
	// The probabilities of a crop, a pad and a mirror. 0 or less: never; 1 or
	// more: always.
	RandCropProb   float32 `mxnet:"rand_crop_prob"`
	RandPadProb    float32 `mxnet:"rand_pad_prob"`
	RandMirrorProb float32 `mxnet:"rand_mirror_prob"`
	// NumCropSampler is the number of samplers, 0 to 64. They try windows in
	// random order until one is found; otherwise the image stays. The lists
	// down to MaxCropTrials have one number for each sampler, or one for all.
	NumCropSampler int `mxnet:"num_crop_sampler"`
	// The sides of the window relative to the image's, and its width/height.
	MinCropScales       []float64 `mxnet:"min_crop_scales"`
	MaxCropScales       []float64 `mxnet:"max_crop_scales"`
	MinCropAspectRatios []float64 `mxnet:"min_crop_aspect_ratios"`
	MaxCropAspectRatios []float64 `mxnet:"max_crop_aspect_ratios"`
	// At least one box must have an intersection with the window within these
	// bounds: relative to their union, to the window, and to the box.
	MinCropOverlaps        []float64 `mxnet:"min_crop_overlaps"`
	MaxCropOverlaps        []float64 `mxnet:"max_crop_overlaps"`
	MinCropSampleCoverages []float64 `mxnet:"min_crop_sample_coverages"`
	MaxCropSampleCoverages []float64 `mxnet:"max_crop_sample_coverages"`
	MinCropObjectCoverages []float64 `mxnet:"min_crop_object_coverages"`
	MaxCropObjectCoverages []float64 `mxnet:"max_crop_object_coverages"`
	// MaxCropTrials is the number of windows that a sampler tries, at most
	// 1000.
	MaxCropTrials []int `mxnet:"max_crop_trials"`
	// CropEmitMode is the rule that drops objects: "center" those whose centre
	// is outside the window, "overlap" those of which the window has a share of
	// at most EmitOverlapThresh. A window that drops all is not used.
	CropEmitMode      string  `mxnet:"crop_emit_mode"`
	EmitOverlapThresh float32 `mxnet:"emit_overlap_thresh"`
	// MaxPadScale is the largest factor of both sides of a pad, at most 1000.
	// No pad has a factor below 1.05.
	MaxPadScale float32 `mxnet:"max_pad_scale"`
	// Numbers between -v and v are added to the hue (of 180), the saturation
	// and the lightness (of 255), each with its probability. Contrast
	// multiplies by a factor between 1-v and 1+v.
	MaxRandomHue           int     `mxnet:"max_random_hue"`
	RandomHueProb          float32 `mxnet:"random_hue_prob"`
	MaxRandomSaturation    int     `mxnet:"max_random_saturation"`
	RandomSaturationProb   float32 `mxnet:"random_saturation_prob"`
	MaxRandomIllumination  int     `mxnet:"max_random_illumination"`
	RandomIlluminationProb float32 `mxnet:"random_illumination_prob"`
	MaxRandomContrast      float32 `mxnet:"max_random_contrast"`
	RandomContrastProb     float32 `mxnet:"random_contrast_prob"`
	FillValue              int     `mxnet:"fill_value"` // of RandPadProb
	// InterMethod is the interpolation: see ImageRecordParams.
	InterMethod int `mxnet:"inter_method"`
	// ResizeMode is force, shrink or fit. "force" scales an image to DataShape
	// without regard to its aspect. "shrink" keeps the aspect and scales only
	// images that are too large. "fit" keeps the aspect and scales every image
	// to touch two sides. The rest of the image, right and below, is black.
	ResizeMode string `mxnet:"resize_mode"`
	// MeanImg is a file with an image that is subtracted, as in
	// ImageRecordParams. The means below replace it if one of them is above 0.
	MeanImg string `mxnet:"mean_img"`
	// The means have no effect unless one of them is above 0, as in MXNet. A
	// std of 0 or less does not divide.
	MeanR float32 `mxnet:"mean_r"`
	MeanG float32 `mxnet:"mean_g"`
	MeanB float32 `mxnet:"mean_b"`
	MeanA float32 `mxnet:"mean_a"`
	StdR  float32 `mxnet:"std_r"`
	StdG  float32 `mxnet:"std_g"`
	StdB  float32 `mxnet:"std_b"`
	StdA  float32 `mxnet:"std_a"`
	Scale float32 `mxnet:"scale"`

	// Backend.

	// PreprocessThreads is the number of goroutines that decode and augment
	// with Context "gpu". Default 4.
	PreprocessThreads int `mxnet:"preprocess_threads"`
	// PrefetchBuffer is the number of batches prepared ahead with Context
	// "gpu". Default 4.
	PrefetchBuffer int `mxnet:"prefetch_buffer"`
	// Context is "gpu" to prepare batches in goroutines ahead of Next, or "cpu"
	// to prepare them within Next. Nothing runs on a GPU. (ctx)
	Context string       `mxnet:"ctx"`
	DType   tensor.DType `mxnet:"dtype"` // must be Float32 (None is float32)

	// Auxiliary.

	Verbose bool `mxnet:"verbose"` // no effect: nothing is logged

	// LastBatch and Store: see ImageRecordParams.
	LastBatch string
	Store     store.Opener
}

// DefaultImageDetRecordParams returns MXNet's defaults. DataShape and BatchSize
// are required.
func DefaultImageDetRecordParams() ImageDetRecordParams {
	zero, one := func() []float64 { return []float64{0} }, func() []float64 { return []float64{1} }
	return ImageDetRecordParams{
		PathImgRec: "./data/imgrec.rec", LabelWidth: -1, NumParts: 1, LabelPadValue: -1, RoundBatch: true,
		AugSeq: "det_aug_default", Resize: -1, NumCropSampler: 1,
		MinCropScales: zero(), MaxCropScales: one(), MinCropAspectRatios: one(), MaxCropAspectRatios: one(), MinCropOverlaps: zero(), MaxCropOverlaps: one(),
		MinCropSampleCoverages: zero(), MaxCropSampleCoverages: one(), MinCropObjectCoverages: zero(), MaxCropObjectCoverages: one(),
		MaxCropTrials: []int{25}, CropEmitMode: "center", EmitOverlapThresh: 0.3, MaxPadScale: 1, FillValue: 127, InterMethod: 1, ResizeMode: "force", Scale: 1,
		PreprocessThreads: 4, PrefetchBuffer: 4, Context: "gpu", DType: tensor.Float32, Verbose: true,
	}
}

const imageDetRecordIter = "ImageDetRecordIter"

// detColors are the names of the parameters of colours that need three
// channels.
var detColors = []string{
	"max_random_hue", "random_hue_prob", "max_random_saturation", "random_saturation_prob", "max_random_illumination", "random_illumination_prob",
}

var imageDetRecordParamSet = newParamSet[ImageDetRecordParams](imageDetRecordIter, paramSet{
	required: []string{"batch_size", "path_imgrec", "data_shape"},
	wants: map[string]string{
		"path_imgrec": "record files", "data_shape": imageWants["data_shape"], "part_index": wantPart, "aug_seq": "det_aug_default",
		"shuffle_chunk_size": imageWants["shuffle_chunk_size"], "resize": imageWants["resize"], "inter_method": "0 to 4, 9 or 10",
		"label_width": "-1, or 1 to 1048576", "resize_mode": "force, shrink or fit", "crop_emit_mode": "center or overlap", "ctx": wantContext, "dtype": "None or float32",
	},
	ranges: map[string][2]float64{
		"label_width": {-1, 1 << 20}, "label_pad_width": {-1, 1 << 20}, "num_parts": {1, 1 << 24}, "batch_size": {1, maxBatch}, "shuffle_chunk_size": {0, 1 << 31},
		"max_random_hue": {0, 255}, "max_random_saturation": {0, 255}, "max_random_illumination": {0, 255}, "max_random_contrast": {0, 1e5},
		"random_hue_prob": {0, 1}, "random_saturation_prob": {0, 1}, "random_illumination_prob": {0, 1}, "random_contrast_prob": {0, 1},
		"num_crop_sampler": {0, maxKinds}, "max_pad_scale": {-1000, 1000}, "emit_overlap_thresh": {0, 1e5}, "fill_value": {0, 255}, "preprocess_threads": {1, 1024}, "prefetch_buffer": {0, maxPrefetch},
	},
})

// ParseImageDetRecordParams parses parameters under MXNet's names, in the text
// forms of MXNet's C interface. Missing ones have the defaults of
// DefaultImageDetRecordParams. Its error is a *ParamError; for an unknown name
// it suggests the closest known one.
func ParseImageDetRecordParams(kwargs map[string]string) (ImageDetRecordParams, error) {
	p := DefaultImageDetRecordParams()
	if err := imageDetRecordParamSet.parse(&p, kwargs); err != nil {
		return p, err
	}
	return p, p.Validate()
}

// Validate checks all parameters. Its error is a *ParamError with MXNet's name
// of the parameter.
func (p ImageDetRecordParams) Validate() error {
	if err := imageDetRecordParamSet.check(p); err != nil {
		return err
	}
	s := p.DataShape
	name := ""
	switch {
	case p.PathImgRec == "":
		name = "path_imgrec"
	case s.Rank() != 3 || s.At(0) != 1 && s.At(0) != 3 && s.At(0) != 4 || s.At(1) < 1 || s.At(1) > 1<<16 || s.At(2) < 1 || s.At(2) > 1<<16:
		name = "data_shape"
	case p.LabelWidth == 0:
		name = "label_width"
	case p.PartIndex < 0 || p.PartIndex >= p.NumParts:
		name = "part_index"
	case p.AugSeq != "det_aug_default":
		name = "aug_seq"
	case p.ShuffleChunkSize > 0 && !p.Shuffle:
		name = "shuffle_chunk_size"
	case p.Resize != -1 && (p.Resize < 1 || p.Resize > 1<<16-1):
		name = "resize"
	case p.InterMethod < 0 || p.InterMethod > 10 || p.InterMethod > 4 && p.InterMethod < 9:
		name = "inter_method"
	case p.ResizeMode != "force" && p.ResizeMode != "shrink" && p.ResizeMode != "fit":
		name = "resize_mode"
	case p.CropEmitMode != "center" && p.CropEmitMode != "overlap":
		name = "crop_emit_mode"
	case p.Context != "cpu" && p.Context != "gpu":
		name = "ctx"
	case p.DType != tensor.Float32:
		name = "dtype"
	}
	if name != "" {
		return imageDetRecordParamSet.fail(p, name)
	}
	if s.At(0) != 3 {
		for _, name := range detColors {
			if f := imageDetRecordParamSet.field(p, name); !f.IsZero() {
				return &ParamError{Iter: imageDetRecordIter, Name: name, Value: fmt.Sprint(f), Want: "0 unless data_shape has 3 channels"}
			}
		}
	}
	if _, ok := imageLasts[p.LastBatch]; !ok {
		return &ParamError{Iter: imageDetRecordIter, Name: "LastBatch", Value: strconv.Quote(p.LastBatch), Want: imageWants["LastBatch"]}
	}
	return p.validateCrops()
}

// validateCrops checks the parameters of the crop samplers.
func (p *ImageDetRecordParams) validateCrops() error {
	fail := func(name, want string) error {
		return &ParamError{Iter: imageDetRecordIter, Name: name, Value: fmt.Sprint(imageDetRecordParamSet.field(*p, name)), Want: want}
	}
	count := func(name string, n int) error {
		if n != 1 && (n != p.NumCropSampler || n == 0) {
			return fail(name, fmt.Sprintf("one number, or num_crop_sampler = %d of them", p.NumCropSampler))
		}
		return nil
	}
	if err := count("max_crop_trials", len(p.MaxCropTrials)); err != nil {
		return err
	}
	for _, n := range p.MaxCropTrials {
		if n > 1000 {
			return fail("max_crop_trials", "at most 1000")
		}
	}
	for _, c := range []struct {
		name        string
		lo, hi      []float64
		least, most float64
		equal       bool // lo may equal hi
	}{
		{"crop_scales", p.MinCropScales, p.MaxCropScales, 0, 1, false},
		{"crop_aspect_ratios", p.MinCropAspectRatios, p.MaxCropAspectRatios, 0, 1e6, true},
		{"crop_overlaps", p.MinCropOverlaps, p.MaxCropOverlaps, -1e6, 1e6, true},
		{"crop_sample_coverages", p.MinCropSampleCoverages, p.MaxCropSampleCoverages, -1e6, 1e6, true},
		{"crop_object_coverages", p.MinCropObjectCoverages, p.MaxCropObjectCoverages, -1e6, 1e6, true},
	} {
		if err := count("min_"+c.name, len(c.lo)); err != nil {
			return err
		}
		if err := count("max_"+c.name, len(c.hi)); err != nil {
			return err
		}
		for i := range max(len(c.lo), len(c.hi)) {
			lo, hi := at(c.lo, i), at(c.hi, i)
			switch {
			case !(lo < hi || c.equal && lo == hi):
				return fail("max_"+c.name, "more than min_"+c.name+map[bool]string{true: ", or as much"}[c.equal])
			case !(lo >= c.least):
				return fail("min_"+c.name, fmt.Sprintf("%v or more", c.least))
			case !(hi <= c.most):
				return fail("max_"+c.name, fmt.Sprintf("at most %v", c.most))
			}
		}
	}
	return nil
}

// moves reports whether augmenters move boxes.
func (p *ImageDetRecordParams) moves() bool {
	return p.RandMirrorProb > 0 || p.pads() || p.crops()
}

func (p *ImageDetRecordParams) pads() bool { return p.RandPadProb > 0 && p.MaxPadScale > 1 }

func (p *ImageDetRecordParams) crops() bool { return p.RandCropProb > 0 && p.NumCropSampler > 0 }

// at returns element i of a list, or its only one.
func at[T any](l []T, i int) T { return l[min(i, len(l)-1)] }

// rangesOf returns the ranges of lists of bounds.
func rangesOf(lo, hi []float64) (r []transforms.Range) {
	for i := range max(len(lo), len(hi)) {
		r = append(r, transforms.Range{Min: at(lo, i), Max: at(hi, i)})
	}
	return r
}

// addMoves adds the ops that move boxes.
func (p *ImageDetRecordParams) addMoves(g *datagraph.Graph, path string) {
	probability := func(v float32) float64 { return float64(min(v, 1)) }
	if p.RandMirrorProb > 0 {
		addDrawn(g, &transforms.RandomHorizontalFlip{Probability: probability(p.RandMirrorProb)}, path+"mirror")
	}
	if p.pads() {
		v := float64(p.FillValue)
		o := &transforms.RandomRelativePad{Probability: probability(p.RandPadProb), MaxScale: float64(p.MaxPadScale), Fill: []float64{v}}
		if p.DataShape.At(0) == 4 {
			o.Fill = []float64{v, v, v, 0} // MXNet gives OpenCV three values
		}
		addDrawn(g, o, path+"pad")
	}
	if p.crops() {
		o := &transforms.RandomRelativeCrop{
			Probability: probability(p.RandCropProb), Scale: rangesOf(p.MinCropScales, p.MaxCropScales),
			Ratio: rangesOf(p.MinCropAspectRatios, p.MaxCropAspectRatios), Overlap: rangesOf(p.MinCropOverlaps, p.MaxCropOverlaps),
			SampleCoverage: rangesOf(p.MinCropSampleCoverages, p.MaxCropSampleCoverages),
			ObjectCoverage: rangesOf(p.MinCropObjectCoverages, p.MaxCropObjectCoverages), Keep: transforms.KeepCenter,
		}
		for i := range p.NumCropSampler {
			o.Trials = append(o.Trials, max(at(p.MaxCropTrials, i), 0))
		}
		if p.CropEmitMode == "overlap" {
			o.Keep, o.Coverage = transforms.KeepOverlap, probability(p.EmitOverlapThresh)
		}
		addObjectDrawn(g, o, path+"crop")
	}
}
