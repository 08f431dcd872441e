package mxnet

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// ImageDetRecordIter iterates over batches of the images of RecordIO files with
// boxes. Its input "data" is float32, NCHW and RGB. Its input "softmax_label"
// is float32, of the shape (batch size, 4 + labels): the channels, height and
// width of the image within data_shape, the number of its labels, its labels,
// and label_pad_value. The labels are those of ImageDetIter without the objects
// whose box is empty, and without those that a crop drops; an image may have no
// object.
//
// JPEG and PNG are linked; for other formats import their codec packages or
// codec/all. A batch's Index is the records' ids. The package comment lists the
// differences from mx.io.ImageDetRecordIter.
type ImageDetRecordIter struct{ *rowIter }

// NewImageDetRecordIter opens the files, finds their records and reads the
// labels of the part. It computes the mean image if the file MeanImg does not
// exist. An error of a parameter is a *ParamError. A record that can't be read
// or decoded is an error that states its file and offset.
func NewImageDetRecordIter(ctx context.Context, p ImageDetRecordParams) (*ImageDetRecordIter, error) {
	return newImageDetRecordIter(ctx, p, func(*datagraph.Graph) {})
}

// newImageDetRecordIter is NewImageDetRecordIter. change may change the
// processing of each image.
func newImageDetRecordIter(ctx context.Context, p ImageDetRecordParams, change func(*datagraph.Graph)) (*ImageDetRecordIter, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	r := &detRecordRows{imageRows: &imageRows{iter: imageDetRecordIter}, p: &p}
	fail := func(err error) (*ImageDetRecordIter, error) {
		return nil, fmt.Errorf("mxnet: %s: %w", imageDetRecordIter, errors.Join(err, r.Close()))
	}
	files := localIfNil(p.Store)
	err := r.openRecords(ctx, files, strings.Split(p.PathImgRec, ";"), "", p.PartIndex, p.NumParts)
	if err == nil && p.PathImgList != "" {
		r.list = p.PathImgList
		r.byID, err = p.readLabels(ctx)
	}
	if err != nil {
		return fail(err)
	}
	if err := r.measure(ctx); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	if p.LabelPadWidth > 0 && p.LabelPadWidth < r.most {
		e := imageDetRecordParamSet.fail(p, "label_pad_width").(*ParamError)
		e.Want = fmt.Sprintf("at least %d, the most labels of an image, or 0", r.most)
		return nil, errors.Join(e, r.Close())
	}
	data := DataDesc{Name: "data", Shape: with(p.DataShape, 0, p.BatchSize), DType: tensor.Float32, Layout: "NCHW"}
	label := DataDesc{Name: "softmax_label", Shape: tensor.Dims(p.BatchSize, max(r.most, p.LabelPadWidth)+4), DType: tensor.Float32, Layout: "NCHW"}
	r.columns = imageColumns(label)
	var mean *tensor.Tensor
	if p.MeanImg != "" {
		images := p.each(nil, r.columns[1].Desc, change)(dataset.From(&source{keptOpen{r}}))
		mean, err = meanImage(ctx, files, p.MeanImg, p.DataShape, images, p.seed(), imageEngine(p.Context, p.PreprocessThreads, 16))
		if err != nil {
			return fail(err)
		}
	}
	it, err := newRowIter(ctx, r, []DataDesc{data}, []DataDesc{label}, rowOptions{
		size: p.BatchSize, last: lastOf(p.LastBatch, p.RoundBatch), seed: p.seed(), shuffle: p.Shuffle, blocks: true,
		each: p.each(mean, r.columns[1].Desc, change), engine: imageEngine(p.Context, p.PreprocessThreads, p.PrefetchBuffer),
	})
	if err != nil {
		return nil, fmt.Errorf("mxnet: %s: %w", imageDetRecordIter, err)
	}
	return &ImageDetRecordIter{it}, nil
}

// readLabels reads the labels of a list.
func (p *ImageDetRecordParams) readLabels(ctx context.Context) (map[uint64][]float32, error) {
	list, err := readList(ctx, localIfNil(p.Store), p.PathImgList)
	if err != nil {
		return nil, err
	}
	m := make(map[uint64][]float32, len(list))
	for _, i := range list {
		if p.LabelWidth > 0 {
			if len(i.Labels) < p.LabelWidth {
				return nil, fmt.Errorf("%w: %s: index %d has %d labels, want label_width = %d", dataset.ErrData, p.PathImgList, i.Index, len(i.Labels), p.LabelWidth)
			}
			i.Labels = i.Labels[:p.LabelWidth]
		}
		m[i.Index] = i.Labels
	}
	return m, nil
}

// seed returns the dataset's seed.
func (p *ImageDetRecordParams) seed() uint64 {
	return (&ImageRecordParams{Seed: p.Seed, ShuffleChunkSize: p.ShuffleChunkSize, ShuffleChunkSeed: p.ShuffleChunkSeed}).seed()
}

// each returns the step that decodes and augments records and keeps their label
// and id.
func (p *ImageDetRecordParams) each(mean *tensor.Tensor, label tensor.Desc, change func(*datagraph.Graph)) func(*dataset.Dataset) *dataset.Dataset {
	moved := &detLabel{desc: label, objects: max(0, label.Shape.At(0)-6) / 5, record: true, pad: p.LabelPadValue}
	g := p.graph(mean, moved)
	change(g)
	return func(d *dataset.Dataset) *dataset.Dataset {
		d = d.Map(g)
		if p.moves() {
			d = moved.each(d)
		}
		if p.ResizeMode != "force" {
			d = d.MapFunc(labelSize, []string{"label", "size"}, dataset.Column{Name: "label", Desc: label})
		}
		return d.Project(datagraph.Image, "label", "number")
	}
}

// graph returns the processing of each image. Unless all images get one size,
// it also returns the column "size". It returns the boxes of the label if
// augmenters move them.
func (p *ImageDetRecordParams) graph(mean *tensor.Tensor, label *detLabel) *datagraph.Graph {
	s := p.DataShape
	g := datagraph.New(newDecode(s.At(0)))
	path := fmt.Sprintf("part %d of %d/", p.PartIndex, p.NumParts)
	size := &detSize{resize: max(p.Resize, 0), h: s.At(1), w: s.At(2), method: p.InterMethod, fit: p.ResizeMode}
	colors := p.RandomHueProb > 0 || p.RandomSaturationProb > 0 || p.RandomIlluminationProb > 0 || p.RandomContrastProb > 0
	if size.resize > 0 && (colors || p.moves()) {
		addDrawn(g, &detSize{resize: size.resize, method: size.method}, path+"resize")
		size.resize = 0
	}
	if colors {
		addDrawn(g, &detColor{p: p}, path+"color")
	}
	if p.moves() {
		label.move(g, func() {
			p.addMoves(g, path)
			addDrawn(g, size, path+"augment")
		})
	} else {
		addDrawn(g, size, path+"augment")
	}
	if p.ResizeMode != "force" {
		g.Outputs = append(g.Outputs, "size")
		g.Then(transforms.NewImageSize(), []string{datagraph.Image}, []string{"size"})
		g.Add(&transforms.PadToSize{Height: s.At(1), Width: s.At(2), Position: transforms.TopLeft, Mode: transforms.PadConstant, Fill: []float64{0}})
	}
	g.Add(transforms.NewToType(tensor.Float32))
	g.Add(transforms.NewHWC2CHW())
	means := []float32{p.MeanR, p.MeanG, p.MeanB, p.MeanA}
	std := []float32{p.StdR, p.StdG, p.StdB, p.StdA}
	n := &transforms.Normalize{}
	for i := range s.At(0) {
		m, d := float32(0), float32(1)
		if max(p.MeanR, p.MeanG, p.MeanB, p.MeanA) > 0 {
			m = means[i]
		}
		if std[i] > 0 {
			d = std[i]
		}
		n.Mean, n.Std = append(n.Mean, float64(m)), append(n.Std, float64(d))
	}
	if mean != nil && max(p.MeanR, p.MeanG, p.MeanB, p.MeanA) <= 0 {
		g.Add(&subtractFloat{mean})
	}
	g.Add(n)
	return g.Add(transforms.NewMultiply(float64(p.Scale)))
}

// subtractFloat computes x - mean for a float32 CHW image.
type subtractFloat struct{ mean *tensor.Tensor }

// Info names the op: graphs cannot hold it.
func (*subtractFloat) Info() transforms.Info { return transforms.Info{Name: "subtract_float"} }

func (o *subtractFloat) Validate() error { return nil }

func (o *subtractFloat) Infer(dst, in []tensor.Desc) error {
	if in[0] != o.mean.Desc {
		return fmt.Errorf("%w: %v, want %v", transforms.ErrInput, in[0], o.mean.Desc)
	}
	dst[0] = in[0]
	return nil
}

func (o *subtractFloat) Apply(c *transforms.Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	in, mean, out := tensor.View[float32](s), tensor.View[float32](o.mean), tensor.View[float32](dst[0])
	for i := range out {
		out[i] = in[i] - mean[i]
	}
	return nil
}

// labelSize writes the size of an image into its label.
func labelSize(_ *dataset.Call, dst []*dataset.Value, src []*tensor.Tensor) error {
	if err := dst[0].Reset(src[0].Desc); err != nil {
		return err
	}
	to := tensor.View[float32](&dst[0].Tensor)
	copy(to, tensor.View[float32](src[0]))
	for i, n := range tensor.View[int64](src[1]) {
		to[1+i] = float32(n)
	}
	return nil
}

// detSize resizes the shorter side, then the image to the size h x w.
type detSize struct {
	randomOp
	resize int // 0: none
	h, w   int
	method int
	fit    string // resize_mode of ImageDetRecordIter; empty: only the shorter side
}

// Info names the op: graphs cannot hold it.
func (*detSize) Info() transforms.Info { return transforms.Info{Name: "det_size"} }

func (o *detSize) Infer(dst, in []tensor.Desc) error {
	h, w := tensor.Unknown, tensor.Unknown
	if o.fit == "force" {
		h, w = o.h, o.w
	}
	dst[0] = in[0].WithSize(h, w)
	return nil
}

func (o *detSize) Draw(d *transforms.Draw) error {
	if o.resize > 0 {
		if err := scaleShort(d, o.resize, o.method); err != nil {
			return err
		}
	}
	h, w := d.In[0].Height(), d.In[0].Width()
	nh, nw := o.h, o.w
	switch {
	case o.fit == "" || o.fit == "shrink" && h <= nh && w <= nw:
		return nil
	case o.fit != "force":
		ratio := min(float32(nh)/float32(h), float32(nw)/float32(w))
		nh, nw = int(float32(ratio*float32(h))), int(float32(ratio*float32(w)))
		if nh < 1 || nw < 1 {
			return errNarrow
		}
	}
	return scale(d, nh, nw, interpolation(d, o.method, h, w, nh, nw))
}

// detColor draws hue, saturation, lightness and contrast.
type detColor struct {
	randomOp
	p *ImageDetRecordParams
}

// Info names the op: graphs cannot hold it.
func (*detColor) Info() transforms.Info { return transforms.Info{Name: "det_color"} }

func (o *detColor) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return nil
}

func (o *detColor) Draw(d *transforms.Draw) error {
	p := o.p
	whole := func(most int) int { return int(float32(between(d, -1, 1) * float32(most))) }
	h, s, l := whole(p.MaxRandomHue), whole(p.MaxRandomSaturation), whole(p.MaxRandomIllumination)
	c := float32(between(d, -1, 1) * p.MaxRandomContrast)
	for i, v := range []*int{&h, &s, &l} {
		if !d.Coin(float64([]float32{p.RandomHueProb, p.RandomSaturationProb, p.RandomIlluminationProb}[i])) {
			*v = 0
		}
	}
	if !d.Coin(float64(p.RandomContrastProb)) {
		c = 0
	}
	return emitColor(d, h, s, l, c)
}

// emitColor adds to hue, saturation and lightness, then changes the contrast.
func emitColor(d *transforms.Draw, h, s, l int, c float32) error {
	if h != 0 || s != 0 || l != 0 {
		op := transforms.NewOp[transforms.AdjustHLS](d)
		*op = transforms.AdjustHLS{H: h, L: l, S: s}
		if err := d.Emit(op); err != nil {
			return err
		}
	}
	if c > 1e-3 || c < -1e-3 {
		op := transforms.NewOp[transforms.AdjustBrightness](d)
		*op = transforms.AdjustBrightness{Factor: float64(1 + c), Backend: transforms.MXNet}
		return d.Emit(op)
	}
	return nil
}

// detRecordRows is imageRows with the labels of ImageDetRecordIter.
type detRecordRows struct {
	*imageRows
	p       *ImageDetRecordParams
	columns []dataset.Column
	most    int // labels of an image
}

func (r *detRecordRows) Columns() []dataset.Column { return r.columns }

// measure reads all labels to find the most of an image.
func (r *detRecordRows) measure(ctx context.Context) error {
	if r.byID != nil { // as MXNet: of the list, not of the part
		for _, l := range r.byID {
			r.most = max(r.most, len(l))
		}
		return nil
	}
	return r.eachLabels(ctx, func(_ int64, labels []float32) error {
		if w := r.p.LabelWidth; w > 0 && len(labels) != w {
			return fmt.Errorf("%d labels, want label_width = %d", len(labels), w)
		}
		_, err := parseBoxes(labels)
		r.most = max(r.most, len(labels))
		return err
	})
}

func (r *detRecordRows) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	return r.sample(ctx, i, s, r.columns[1].Desc, func(to, labels []float32) error {
		b, err := parseBoxes(labels)
		if err != nil {
			return err
		}
		if len(labels) > len(to)-4 {
			return errors.New("the label changed since the iterator was opened")
		}
		for k := range 3 { // labelSize replaces the size where images differ
			to[k] = float32(r.p.DataShape.At(k))
		}
		k := 4 + copy(to[4:], labels[:b.header])
		b.each(func(o []float32) { k += copy(to[k:], o) })
		to[3] = float32(k - 4)
		for ; k < len(to); k++ {
			to[k] = r.p.LabelPadValue
		}
		return nil
	})
}
