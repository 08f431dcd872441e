package mxnet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// ImageDetIterParams are the parameters of NewImageDetIter.
// ParseImageDetIterParams takes them under MXNet's names, which are the fields'
// tags. DefaultImageDetIterParams returns the defaults.
//
// Augmentation runs in this order: Resize, RandCrop, RandMirror, RandPad,
// scaling to DataShape, colours. Crops, mirrors and pads move the boxes.
type ImageDetIterParams struct {
	ImageCommonParams
	// RandCrop is the probability to crop a window, 0 to 1. If there are
	// several numbers for MinObjectCovered to MaxAttempts, one of as many kinds
	// of crops is chosen; a single number counts for all.
	RandCrop float64 `mxnet:"rand_crop"`
	// RandPad is the probability to put the image on a larger canvas, 0 to 1.
	// It needs a single AspectRatioRange, AreaRange and MaxAttempts.
	RandPad float64 `mxnet:"rand_pad"`
	// MinObjectCovered is the share of every box in the window that the window
	// must exceed, 0 to 1. A box outside does not count.
	MinObjectCovered []float64 `mxnet:"min_object_covered"`
	// AspectRatioRange is the width/height of the window or the canvas, 1e-6 to
	// 1e6.
	AspectRatioRange [][2]float64 `mxnet:"aspect_ratio_range"`
	// AreaRange is the area of the window relative to the image's, 0 to 1000.
	// That of a canvas is 1 to AreaRange's maximum.
	AreaRange [][2]float64 `mxnet:"area_range"`
	// MinEjectCoverage is the share of a box that the window must exceed to
	// keep the object, 0 to 1.
	MinEjectCoverage []float64 `mxnet:"min_eject_coverage"`
	// MaxAttempts is the number of windows or canvases to try, 1 to 1000. If
	// none fits, the image stays.
	MaxAttempts []int `mxnet:"max_attempts"`
	// PadVal is the colour of the canvas: one to four numbers for R, G and B,
	// which are clamped to 0 to 255. As in MXNet, missing ones are 0.
	PadVal []float64 `mxnet:"pad_val"`
}

// DefaultImageDetIterParams returns MXNet's defaults. BatchSize, DataShape and
// PathImgRec or a list are required.
func DefaultImageDetIterParams() ImageDetIterParams {
	return ImageDetIterParams{
		ImageCommonParams: defaultCommon("label"), MinObjectCovered: []float64{0.1}, AspectRatioRange: [][2]float64{{0.75, 1.33}},
		AreaRange: [][2]float64{{0.05, 3}}, MinEjectCoverage: []float64{0.3}, MaxAttempts: []int{50}, PadVal: []float64{127, 127, 127},
	}
}

const imageDetIter = "ImageDetIter"

var imageDetParamSet = newParamSet[ImageDetIterParams](imageDetIter, paramSet{
	required: []string{"batch_size", "data_shape", "path_imgrec", "path_imgidx", "path_root"}, wants: merged(commonWants, map[string]string{"aspect_ratio_range": wantRanges, "area_range": wantRanges}),
	ranges: merged(commonRanges, map[string][2]float64{"rand_crop": {0, 1}, "rand_pad": {0, 1}}),
})

// ParseImageDetIterParams parses parameters under MXNet's names: those of
// mx.image.ImageDetIter and CreateDetAugmenter, as Python prints them. Missing
// ones have the defaults of DefaultImageDetIterParams. Its error is a
// *ParamError; for an unknown name it suggests the closest known one. The lists
// imglist and aug_list have no text form.
func ParseImageDetIterParams(kwargs map[string]string) (ImageDetIterParams, error) {
	p := DefaultImageDetIterParams()
	if err := imageDetParamSet.parse(&p, imageNet(kwargs)); err != nil {
		return p, err
	}
	return p, p.Validate()
}

// Validate checks all parameters. Its error is a *ParamError with MXNet's name
// of the parameter.
func (p ImageDetIterParams) Validate() error {
	if err := imageDetParamSet.check(p); err != nil {
		return err
	}
	if name := p.validate(); name != "" {
		return imageDetParamSet.fail(p, name)
	}
	if err := p.validateMoves(); err != nil {
		return err
	}
	return checkOps(imageDetIter, p.AugList)
}

// validateMoves checks the parameters of RandCrop and RandPad.
func (p *ImageDetIterParams) validateMoves() error {
	fail := func(name, want string) error {
		return &ParamError{Iter: imageDetIter, Name: name, Value: fmt.Sprint(imageDetParamSet.field(*p, name)), Want: want}
	}
	kinds := 1
	for _, name := range cropNames {
		kinds = max(kinds, imageDetParamSet.field(*p, name).Len())
	}
	for _, name := range cropNames {
		switch n := imageDetParamSet.field(*p, name).Len(); {
		case n != 1 && n != kinds || n > maxKinds:
			return fail(name, fmt.Sprintf("one value, or as many as other parameters of crops have, at most %d", maxKinds))
		case n > 1 && p.RandPad > 0 && !strings.HasPrefix(name, "min_"): // of pads, too
			return fail(name, "one value with rand_pad")
		}
	}
	within := func(name string, l []float64, least, most float64) error {
		for i := range l {
			if !(l[i] >= least && l[i] <= most) {
				return fail(name, fmt.Sprintf("numbers of %v to %v", least, most))
			}
		}
		return nil
	}
	pairs := func(name string, l [][2]float64, least, most float64) error {
		for _, r := range l {
			if r[0] > r[1] {
				return fail(name, "the lower number first")
			}
			if err := within(name, r[:], least, most); err != nil {
				return err
			}
		}
		return nil
	}
	for _, n := range p.MaxAttempts {
		if n < 1 || n > 1000 {
			return fail("max_attempts", "numbers of 1 to 1000")
		}
	}
	if n := len(p.PadVal); n < 1 || n > 4 {
		return fail("pad_val", "one to four numbers")
	}
	if p.RandPad > 0 && p.AreaRange[0][1] <= 1 {
		return fail("area_range", "a maximum of more than 1 with rand_pad")
	}
	return cmp.Or(
		within("min_object_covered", p.MinObjectCovered, 0, 1), within("min_eject_coverage", p.MinEjectCoverage, 0, 1), within("pad_val", p.PadVal, -1e6, 1e6),
		pairs("aspect_ratio_range", p.AspectRatioRange, 1e-6, 1e6), pairs("area_range", p.AreaRange, 0, 1000),
	)
}

// cropNames are the names of the parameters that have a value for each kind of
// crop, and maxKinds bounds these.
var cropNames = []string{"min_object_covered", "aspect_ratio_range", "area_range", "min_eject_coverage", "max_attempts"}

const maxKinds = 64

// moves reports whether augmenters move boxes.
func (p *ImageDetIterParams) moves() bool {
	return p.AugList == nil && (p.RandCrop > 0 || p.RandPad > 0 || p.RandMirror)
}

// ranges returns pairs as ranges.
func ranges(l [][2]float64) (r []transforms.Range) {
	for _, v := range l {
		r = append(r, transforms.Range{Min: v[0], Max: v[1]})
	}
	return r
}

// crop returns the op of RandCrop.
func (p *ImageDetIterParams) crop() *transforms.RandomObjectCrop {
	return &transforms.RandomObjectCrop{
		Probability: p.RandCrop, Format: transforms.CoordRelative, MinCovered: p.MinObjectCovered, MinKept: p.MinEjectCoverage,
		Ratio: ranges(p.AspectRatioRange), Area: ranges(p.AreaRange), Trials: p.MaxAttempts,
	}
}

// canvas returns the op of RandPad.
func (p *ImageDetIterParams) canvas() *transforms.RandomCanvas {
	o := transforms.NewRandomCanvas(p.RandPad)
	o.Ratio, o.Area.Max, o.Trials, o.Fill = ranges(p.AspectRatioRange)[0], p.AreaRange[0][1], p.MaxAttempts[0], make([]float64, 3)
	for i, v := range p.PadVal[:min(3, len(p.PadVal))] {
		o.Fill[i] = math.RoundToEven(min(max(v, 0), 255))
	}
	return o
}

// graph returns the processing of each image. It returns the boxes of the label
// if augmenters move them.
func (p *ImageDetIterParams) graph(label *detLabel) *datagraph.Graph {
	return p.ImageCommonParams.graph(func(g *datagraph.Graph, path string) {
		size := &detSize{resize: p.Resize, h: p.DataShape.At(1), w: p.DataShape.At(2), method: p.InterMethod, fit: "force"}
		if !p.moves() {
			addDrawn(g, size, path+"augment")
			return
		}
		label.move(g, func() {
			if size.resize > 0 {
				addDrawn(g, &detSize{resize: size.resize, method: size.method}, path+"resize")
				size.resize = 0
			}
			if p.RandCrop > 0 {
				addObjectDrawn(g, p.crop(), path+"crop")
			}
			if p.RandMirror {
				addDrawn(g, transforms.NewRandomHorizontalFlip(), path+"mirror")
			}
			if p.RandPad > 0 {
				addDrawn(g, p.canvas(), path+"pad")
			}
			addDrawn(g, size, path+"augment")
		})
	})
}

// ImageDetIter iterates over batches of images with boxes, of a record file or
// of a list of files. Its first input is float32, NCHW and RGB: the image,
// scaled to DataShape without regard to its aspect, and normalized if Mean or
// Std is set. Its second input is float32, of the shape (batch size, objects,
// width): for each object its class, the left, top, right and bottom side of
// its box from 0 to 1, and further numbers. Rows of -1 follow the last object.
//
// The labels of an image are those that im2rec packs for detection: the number
// of header fields H, 2 or more; the number of fields of an object, 5 or more;
// further header fields; and the objects. Objects whose box is empty are
// dropped. An image without a box, or with different object widths, is an error
// of NewImageDetIter. As in MXNet, an image is left out if the classes of all
// its objects are negative, also after a crop.
//
// A batch's Index is that of ImageIter. The package comment lists the
// differences from mx.image.ImageDetIter.
type ImageDetIter struct {
	it    *rowIter
	p     ImageDetIterParams
	rows  *detRows
	epoch int
	used  bool // Next was called in this epoch
}

// NewImageDetIter opens the files and reads the labels of all images of the
// part, but not the images. The label's shape has as many objects as the image
// with the most. An error of a parameter is a *ParamError. An error of a label
// wraps dataset.ErrData and names the image.
func NewImageDetIter(ctx context.Context, p ImageDetIterParams) (*ImageDetIter, error) {
	it, err := openImageDetIter(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := it.build(ctx, it.graph()); err != nil {
		return nil, errors.Join(err, it.rows.Close())
	}
	return it, nil
}

// openImageDetIter opens the files.
func openImageDetIter(ctx context.Context, p ImageDetIterParams) (*ImageDetIter, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	r, err := p.open(ctx, imageDetIter)
	if err != nil {
		return nil, err
	}
	rows := &detRows{imageRows: r}
	if err := rows.measure(ctx); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return &ImageDetIter{p: p, rows: rows}, nil
}

// graph returns the processing of each image.
func (it *ImageDetIter) graph() *datagraph.Graph { return it.p.graph(it.label()) }

// label describes the labels.
func (it *ImageDetIter) label() *detLabel {
	return &detLabel{desc: tensor.Desc{DType: tensor.Float32, Shape: it.LabelShape()}, objects: it.rows.objects, pad: -1}
}

// build makes the iterator of the rows, whose images the graph processes.
func (it *ImageDetIter) build(ctx context.Context, g *datagraph.Graph) (err error) {
	p := &it.p
	label := DataDesc{Name: p.LabelName, Shape: with(it.LabelShape(), 0, p.BatchSize), DType: tensor.Float32, Layout: "NCHW"}
	data := DataDesc{Name: p.DataName, Shape: with(p.DataShape, 0, p.BatchSize), DType: tensor.Float32, Layout: "NCHW"}
	it.rows.columns = imageColumns(label)
	rows := *it.rows // an earlier run may still read
	var moved *detLabel
	if p.moves() {
		moved = it.label()
		// A crop may leave only objects with negative classes.
		moved.filtered = p.RandCrop > 0 && rows.negative
	}
	it.it, err = p.iterate(ctx, keptOpen{&rows}, data, label, g, moved)
	if err != nil {
		return fmt.Errorf("mxnet: %s: %w", imageDetIter, err)
	}
	return nil
}

// ProvideData describes the batches' data.
func (it *ImageDetIter) ProvideData() []DataDesc { return it.it.ProvideData() }

// ProvideLabel describes the batches' labels.
func (it *ImageDetIter) ProvideLabel() []DataDesc { return it.it.ProvideLabel() }

// LabelShape returns the shape of an image's label: objects and width. (MXNet:
// label_shape.)
func (it *ImageDetIter) LabelShape() tensor.Shape {
	return tensor.Dims(it.rows.objects, it.rows.width)
}

// Next returns the next batch; see DataIter.
func (it *ImageDetIter) Next(ctx context.Context) (*DataBatch, error) {
	it.used = true
	return it.it.Next(ctx)
}

// Reset starts the next epoch.
func (it *ImageDetIter) Reset() error {
	it.epoch, it.used = it.epoch+1, false
	return it.it.Reset()
}

// HardReset is like Reset, but drops the images that were carried over.
func (it *ImageDetIter) HardReset() error {
	it.it.carried = 0
	return it.Reset()
}

// Close ends the iterator.
func (it *ImageDetIter) Close() error {
	closed := it.it.ended == dataset.ErrClosed
	err := it.it.Close()
	if closed {
		return err
	}
	return errors.Join(err, it.rows.Close())
}

// Reshape changes the shape of the images, (3, height, width), and of the
// labels, (objects, width). An empty Shape keeps the old one. Labels may get
// more objects but another width is an error. It must be called before an
// epoch's first Next; images carried over are dropped. An error is a
// *ParamError.
func (it *ImageDetIter) Reshape(ctx context.Context, data, label tensor.Shape) error {
	fail := func(name, value, want string) error {
		return &ParamError{Iter: imageDetIter + ".Reshape", Name: name, Value: value, Want: want}
	}
	if it.it.ended == dataset.ErrClosed {
		return it.it.ended
	}
	p := it.p
	if data.Rank() > 0 {
		p.DataShape = data
	}
	objects, width := it.rows.objects, it.rows.width
	switch {
	case it.used:
		return fail("data_shape", data.String(), "a call before the epoch's first Next")
	case p.validate() == "data_shape":
		return fail("data_shape", data.String(), commonWants["data_shape"])
	case label.Rank() == 0:
	case label.Rank() != 2 || label.At(0) < objects || label.At(1) != width || label.At(0) > maxObjects:
		return fail("label_shape", label.String(), fmt.Sprintf("%d objects or more and the width %d", objects, width))
	default:
		objects = label.At(0)
	}
	if err := it.it.Close(); err != nil {
		return err
	}
	it.p, it.rows.objects = p, objects
	if err := it.build(ctx, it.graph()); err != nil {
		return err
	}
	for range it.epoch {
		if err := it.it.Reset(); err != nil {
			return err
		}
	}
	return nil
}

// maxObjects bounds the objects of a label.
const maxObjects = 1 << 20

// SyncLabelShape gives both iterators the label shape of that with more
// objects, for training and validation. Both must be before an epoch's first
// Next. Labels of different widths are an error. (MXNet: sync_label_shape.)
func (it *ImageDetIter) SyncLabelShape(ctx context.Context, other *ImageDetIter) error {
	most := tensor.Dims(max(it.rows.objects, other.rows.objects), other.rows.width)
	for _, x := range []*ImageDetIter{it, other} {
		if x.LabelShape() == most {
			continue
		}
		if err := x.Reshape(ctx, tensor.Shape{}, most); err != nil {
			return err
		}
	}
	return nil
}

// detRows is imageRows with boxes.
type detRows struct {
	*imageRows
	columns        []dataset.Column
	objects, width int  // of a label
	negative       bool // an object has a negative class
}

func (r *detRows) Columns() []dataset.Column { return r.columns }

// measure reads all labels. It finds the shape of a label, and drops the images
// whose objects have negative classes.
func (r *detRows) measure(ctx context.Context) error {
	var keep []int32
	first := ""
	err := r.eachLabels(ctx, func(i int64, labels []float32) error {
		l, err := parseBoxes(labels)
		if err != nil {
			return err
		}
		if r.width == 0 {
			r.width, first = l.width, r.key(i)
		}
		if l.width != r.width {
			return fmt.Errorf("objects of %d fields, want %d as in %s", l.width, r.width, first)
		}
		n, positive := 0, false
		l.each(func(o []float32) {
			n++
			if o[0] >= 0 {
				positive = true
			} else {
				r.negative = true
			}
		})
		if n == 0 {
			return errors.New("no object with a box, want at least one")
		}
		r.objects = max(r.objects, n)
		if positive {
			keep = append(keep, r.rows[i])
		}
		return nil
	})
	if err != nil {
		return err
	}
	if r.objects == 0 {
		return fmt.Errorf("mxnet: %s: %w: no images, want at least one", r.iter, dataset.ErrData)
	}
	r.rows = keep
	return nil
}

// boxes is the label of an image for detection.
type boxes struct {
	header, width int
	objects       []float32
}

// parseBoxes parses a label. The result shares its memory.
func parseBoxes(l []float32) (b boxes, err error) {
	if len(l) < 7 {
		return b, fmt.Errorf("a label of %d numbers, want at least 7: those of a header (2) and an object (5)", len(l))
	}
	b.header, b.width = whole(l[0]), whole(l[1])
	switch {
	case b.header < 2 || b.header > len(l):
		return b, fmt.Errorf("a header of %v numbers, want 2 to %d", l[0], len(l))
	case b.width < 5:
		return b, fmt.Errorf("objects of %v numbers, want at least 5: class, left, top, right, bottom", l[1])
	case (len(l)-b.header)%b.width != 0:
		return b, fmt.Errorf("%d numbers after the header, want a multiple of the objects' %d", len(l)-b.header, b.width)
	}
	b.objects = l[b.header:]
	return b, nil
}

// whole returns a number of fields, or -1 if it is too large.
func whole(v float32) int {
	if !(v >= 0 && v < maxObjects) {
		return -1
	}
	return int(v)
}

// each calls f for each object with a box that is not empty.
func (b *boxes) each(f func(object []float32)) {
	for l := b.objects; len(l) > 0; l = l[b.width:] {
		if l[3] > l[1] && l[4] > l[2] {
			f(l[:b.width])
		}
	}
}

func (r *detRows) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	return r.sample(ctx, i, s, r.columns[1].Desc, func(to, labels []float32) error {
		b, err := parseBoxes(labels)
		if err != nil {
			return err
		}
		b.each(func(o []float32) {
			if len(o) > len(to) || len(o) != r.width {
				err = errors.New("the label changed since the iterator was opened")
				return
			}
			to = to[copy(to, o):]
		})
		for k := range to {
			to[k] = -1
		}
		return err
	})
}
