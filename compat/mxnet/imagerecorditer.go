package mxnet

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	_ "github.com/infer-prep/infer-prep/codec/jpeg" // the formats that im2rec packs
	_ "github.com/infer-prep/infer-prep/codec/png"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/imagerecord"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// ImageRecordIter iterates over batches of the images of RecordIO files. Its
// input "data" is decoded, augmented and normalized, NCHW and RGB. Its input
// "softmax_label" is float32; if an image has one label, it has only the
// batch's axis. ImageRecordParams describes the processing, and the package
// comment lists the differences from mx.io.ImageRecordIter.
//
// JPEG and PNG are linked; for other formats import their codec packages or
// codec/all. A batch's Index is the records' ids.
type ImageRecordIter struct{ *rowIter }

// NewImageRecordIter opens the files and finds their records. It computes the
// mean image if the file MeanImg does not exist. An error of a parameter is a
// *ParamError. A record that can't be read or decoded ends the epoch with an
// error that states its file and offset.
func NewImageRecordIter(ctx context.Context, p ImageRecordParams) (*ImageRecordIter, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return newImageIter(ctx, p)
}

// NewImageRecordUInt8Iter is like NewImageRecordIter with dtype uint8.
func NewImageRecordUInt8Iter(ctx context.Context, p ImageRecordParams) (*ImageRecordIter, error) {
	p.DType = tensor.Uint8
	return NewImageRecordIter(ctx, p)
}

// NewImageRecordInt8Iter is like NewImageRecordIter with dtype int8.
func NewImageRecordInt8Iter(ctx context.Context, p ImageRecordParams) (*ImageRecordIter, error) {
	p.DType = tensor.Int8
	return NewImageRecordIter(ctx, p)
}

func newImageIter(ctx context.Context, p ImageRecordParams) (*ImageRecordIter, error) {
	fail := func(err error) (*ImageRecordIter, error) {
		return nil, fmt.Errorf("mxnet: %s: %w", imageIter, err)
	}
	o := imagerecord.New(strings.Split(p.PathImgRec, ";")...)
	o.Index, o.List, o.LabelWidth, o.Part, o.Parts = p.PathImgIdx, p.PathImgList, p.LabelWidth, p.PartIndex, p.NumParts
	data, err := o.Open(ctx, localIfNil(p.Store))
	if err != nil {
		return fail(err)
	}
	src := data.(dataset.Rows)
	var mean *tensor.Tensor
	if p.MeanImg != "" && p.DType != tensor.Uint8 {
		if mean, err = p.meanImage(ctx, src); err != nil {
			return fail(errors.Join(err, src.Close()))
		}
	}
	images := DataDesc{Name: "data", Shape: with(p.DataShape, 0, p.BatchSize), DType: p.DType, Layout: "NCHW"}
	labels := DataDesc{Name: "softmax_label", Shape: tensor.Dims(p.BatchSize), DType: tensor.Float32, Layout: "NCHW"}
	if p.LabelWidth > 1 {
		labels.Shape = tensor.Dims(p.BatchSize, p.LabelWidth)
	}
	it, err := newRowIter(ctx, src, []DataDesc{images}, []DataDesc{labels}, rowOptions{
		size: p.BatchSize, last: lastOf(p.LastBatch, p.RoundBatch), seed: p.seed(), shuffle: p.Shuffle, blocks: true,
		each: p.each(mean), engine: p.engine,
	})
	if err != nil {
		return fail(err)
	}
	return &ImageRecordIter{it}, nil
}

// seed returns the dataset's seed.
func (p *ImageRecordParams) seed() uint64 {
	s := uint64(p.Seed)
	if p.ShuffleChunkSize > 0 {
		s ^= uint64(p.ShuffleChunkSeed) << 32
	}
	return s
}

// path names the random numbers of the images. It differs for each part and
// each seed_aug.
func (p *ImageRecordParams) path() string {
	s := fmt.Sprintf("part %d of %d", p.PartIndex, p.NumParts)
	if p.SeedAug != nil {
		s += fmt.Sprintf(", seed_aug %d", *p.SeedAug)
	}
	return s
}

// each returns the step that decodes and augments records and keeps their label
// and id.
func (p *ImageRecordParams) each(mean *tensor.Tensor) func(*dataset.Dataset) *dataset.Dataset {
	g := p.graph(mean, p.path())
	return func(d *dataset.Dataset) *dataset.Dataset { return d.Map(g).Project(datagraph.Image, "label", "id") }
}

// engine starts the run of the dataset.
func (p *ImageRecordParams) engine(b *dataset.Built) (Runner, error) {
	return imageEngine(p.Context, p.PreprocessThreads, p.PrefetchBuffer)(b)
}

// imageEngine returns the engine of the parameters ctx, preprocess_threads and
// prefetch_buffer.
func imageEngine(context string, threads, buffer int) func(*dataset.Built) (Runner, error) {
	return func(b *dataset.Built) (Runner, error) {
		if context == "cpu" {
			return pullpipe.New(b, nil)
		}
		return pipeline.New(b, pipeline.Options{Workers: max(threads, 1), Prefetch: max(buffer, 1)}, nil)
	}
}

// meanImage reads the mean image. If the file does not exist, it computes the
// mean of the images and writes the file.
func (p ImageRecordParams) meanImage(ctx context.Context, src dataset.Rows) (*tensor.Tensor, error) {
	p.DType = tensor.Float32
	images := p.each(nil)(dataset.From(&source{keptOpen{src}}))
	// The buffer counts images here.
	return meanImage(ctx, localIfNil(p.Store), p.MeanImg, p.DataShape, images, p.seed(), imageEngine(p.Context, p.PreprocessThreads, 16))
}

// meanImage reads a mean image. If the file does not exist, it computes the
// mean of a dataset's first column, which has the shape, and writes the file.
func meanImage(ctx context.Context, files store.Opener, name string, shape tensor.Shape, images *dataset.Dataset, seed uint64, engine func(*dataset.Built) (Runner, error)) (*tensor.Tensor, error) {
	mean, err := readMean(ctx, files, name, shape)
	if !errors.Is(err, fs.ErrNotExist) {
		return mean, err
	}
	built, err := dataset.Build(ctx, images, dataset.Options{Seed: seed})
	if err != nil {
		return nil, err
	}
	run, err := engine(built)
	if err != nil {
		return nil, errors.Join(err, built.Close())
	}
	mean, err = meanOf(ctx, run, shape)
	if err = errors.Join(err, run.Close(), built.Close()); err != nil {
		return nil, err
	}
	return mean, writeMean(ctx, files, name, mean)
}

// keptOpen keeps rows open when the dataset built on them is closed.
type keptOpen struct{ dataset.Rows }

// Close does nothing.
func (keptOpen) Close() error { return nil }
