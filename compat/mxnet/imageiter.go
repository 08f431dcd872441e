package mxnet

import (
	"context"
	"errors"
	"fmt"
	"math"

	_ "github.com/infer-prep/infer-prep/codec/jpeg" // the formats that im2rec packs
	_ "github.com/infer-prep/infer-prep/codec/png"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/internal/exactmath"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/recordio/imagerecord"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// ImageIter iterates over batches of the images of a record file or of a list
// of files. Its first input is float32, NCHW and RGB: the image, augmented, and
// normalized if Mean or Std is set. Its second input is float32: the labels; if
// an image has one, it has only the batch's axis. ImageIterParams describes the
// processing, and the package comment lists the differences from
// mx.image.ImageIter.
//
// JPEG and PNG are linked; for other formats import their codec packages or
// codec/all. A batch's Index is the index of a .lst or .idx file, the number in
// ImgList from 1, or the record's id.
type ImageIter struct{ *rowIter }

// NewImageIter opens the files, and finds the records or reads the list. An
// error of a parameter is a *ParamError. An image that can't be read or decoded
// ends the epoch with an error that names it.
func NewImageIter(ctx context.Context, p ImageIterParams) (*ImageIter, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	r, err := p.open(ctx, imageListIter)
	if err != nil {
		return nil, err
	}
	data := DataDesc{Name: p.DataName, Shape: with(p.DataShape, 0, p.BatchSize), DType: tensor.Float32, Layout: "NCHW"}
	label := DataDesc{Name: p.LabelName, Shape: tensor.Dims(p.BatchSize), DType: tensor.Float32, Layout: "NCHW"}
	if p.LabelWidth > 1 {
		label.Shape = tensor.Dims(p.BatchSize, p.LabelWidth)
	}
	it, err := p.iterate(ctx, &labelled{r, imageColumns(label), p.DType}, data, label, p.graph(p.size), nil)
	if err != nil {
		return nil, fmt.Errorf("mxnet: %s: %w", imageListIter, err)
	}
	return &ImageIter{it}, nil
}

// HardReset is like Reset, but drops the images that were carried over.
func (it *ImageIter) HardReset() error {
	it.carried = 0
	return it.Reset()
}

// imageColumns returns the columns of a source of images.
func imageColumns(label DataDesc) []dataset.Column {
	return []dataset.Column{
		{Name: datagraph.Image, Desc: tensor.Encoded()},
		{Name: "label", Desc: tensor.Desc{DType: label.DType, Shape: without(label.Shape, 0)}},
		{Name: "number", Desc: rowDesc},
	}
}

// open opens the images of the part.
func (p *ImageCommonParams) open(ctx context.Context, iter string) (*imageRows, error) {
	files := localIfNil(p.Store)
	r := &imageRows{iter: iter}
	var list []imagerecord.Item
	for i, x := range p.ImgList {
		list = append(list, imagerecord.Item{Index: uint64(i + 1), Labels: x.Labels, Path: x.Path})
	}
	err := error(nil)
	if p.PathImgList != "" {
		list, err = readList(ctx, files, p.PathImgList)
	}
	switch {
	case err != nil:
	case p.PathImgRec == "":
		err = r.openList(ctx, files, p.PathRoot, list)
	default:
		if err = r.openRecords(ctx, files, []string{p.PathImgRec}, p.PathImgIdx, 0, 1); err == nil && p.PathImgList != "" {
			err = r.relabel(p.PathImgList, list)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("mxnet: %s: %w", iter, errors.Join(err, r.Close()))
	}
	r.part(p.PartIndex, p.NumParts)
	return r, nil
}

// iterate returns an iterator of rows that have a column of images. The graph
// processes them. If it returns boxes, moved describes the label to write them
// into.
func (p *ImageCommonParams) iterate(ctx context.Context, rows dataset.Rows, data, label DataDesc, g *datagraph.Graph, moved *detLabel) (*rowIter, error) {
	return newRowIter(ctx, rows, []DataDesc{data}, []DataDesc{label}, rowOptions{
		size: p.BatchSize, last: lastBatches[p.LastBatchHandle], seed: uint64(p.Seed), shuffle: p.Shuffle, blocks: true,
		filtered: moved != nil && moved.filtered,
		each: func(d *dataset.Dataset) *dataset.Dataset {
			d = d.Map(g)
			if moved != nil {
				d = moved.each(d)
			}
			return d.Project(datagraph.Image, "label", "number")
		},
		engine: func(b *dataset.Built) (Runner, error) {
			if p.Threads == 0 {
				return pullpipe.New(b, nil)
			}
			return pipeline.New(b, pipeline.Options{Workers: p.Threads, Prefetch: 2}, nil)
		},
	})
}

// graph returns the processing of each image. size adds the steps that change
// its size and mirror it; their random numbers' names start with path.
func (p *ImageCommonParams) graph(size func(g *datagraph.Graph, path string)) *datagraph.Graph {
	g := datagraph.New(newDecode(3))
	if p.AugList != nil {
		for _, op := range p.AugList {
			g.Add(op)
		}
		return g.Add(transforms.NewToType(tensor.Float32)).Add(transforms.NewHWC2CHW())
	}
	path := fmt.Sprintf("part %d of %d/", p.PartIndex, p.NumParts)
	size(g, path)
	g.Add(transforms.NewToType(tensor.Float32))
	if j := newJitters(p); !j.none() {
		addDrawn(g, j, path+"color")
	}
	if p.Mean != nil || p.Std != nil {
		n := transforms.NewNormalize(p.Mean, p.Std)
		if p.Mean == nil {
			n.Mean = []float64{0}
		}
		if p.Std == nil {
			n.Std = []float64{1}
		}
		g.Add(n)
	}
	return g.Add(transforms.NewHWC2CHW())
}

// size changes an image's size to DataShape's and mirrors it.
func (p *ImageIterParams) size(g *datagraph.Graph, path string) {
	addDrawn(g, &sizedCrop{resize: p.Resize, h: p.DataShape.At(1), w: p.DataShape.At(2), method: p.InterMethod, random: p.RandCrop, sized: p.RandResize}, path+"augment")
	if p.RandMirror {
		addDrawn(g, transforms.NewRandomHorizontalFlip(), path+"mirror")
	}
}

// sizedCrop resizes the shorter side, then crops and scales, as the augmenters
// of mx.image do. Most of it depends only on the image's size.
type sizedCrop struct {
	randomOp
	resize int // 0: none
	h, w   int
	method int
	random bool // crops at a random position
	sized  bool // crops a box of random area and aspect
}

// Info names the op: graphs cannot hold it.
func (*sizedCrop) Info() transforms.Info { return transforms.Info{Name: "sized_crop"} }

func (o *sizedCrop) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0].WithSize(o.h, o.w)
	return nil
}

// scaledDown returns the size of a crop of h x w in an image of sh x sw: scaled
// down, if it is larger.
func scaledDown(sh, sw, h, w int) (int, int) {
	fh, fw := float64(h), float64(w)
	if float64(sh) < fh {
		fw, fh = float64(fw*float64(sh))/fh, float64(sh)
	}
	if float64(sw) < fw {
		fw, fh = float64(sw), float64(fh*float64(sw))/fw
	}
	return int(fh), int(fw)
}

var errNarrow = errors.New("the image is too narrow for data_shape: a side of its crop is less than a pixel")

func (o *sizedCrop) Draw(d *transforms.Draw) error {
	if o.resize > 0 {
		if err := scaleShort(d, o.resize, o.method); err != nil {
			return err
		}
	}
	h, w := d.In[0].Height(), d.In[0].Width()
	random := o.random
	nh, nw := 0, 0
	if o.sized {
		for range 10 {
			area := float64(float64(h*w) * d.Uniform(0.08, 1))
			ratio := exactmath.Exp(d.Uniform(exactmath.Log(3./4), exactmath.Log(4./3)))
			bw := int(math.RoundToEven(math.Sqrt(float64(area * ratio))))
			bh := int(math.RoundToEven(math.Sqrt(area / ratio)))
			if bw >= 1 && bw <= w && bh >= 1 && bh <= h {
				nh, nw = bh, bw
				break
			}
		}
		random = nh > 0
	}
	if nh == 0 {
		nh, nw = scaledDown(h, w, o.h, o.w)
	}
	if nh < 1 || nw < 1 {
		return errNarrow
	}
	if nh == o.h && nw == o.w {
		return crop(d, nh, nw, random)
	}
	return cropScaled(d, nh, nw, o.h, o.w, o.method, random)
}
