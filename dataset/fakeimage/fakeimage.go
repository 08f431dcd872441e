// Package fakeimage generates a dataset of noise images, for trials and
// measurements. Columns: image, label. Reference: MindSpore's FakeImageDataset.
package fakeimage

import (
	"context"
	"fmt"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/internal/noise"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// FakeImage is a dataset of random pixels with random labels. Row i is a
// function of BaseSeed and i alone. Its label is rng.NewKey(BaseSeed, 0,
// "fake_image").At(i).IntN(Classes). Its pixels are uniform: the bytes, low
// byte first, of the next 32-bit numbers of that stream.
//
// Columns: image (uint8 HWC (Height, Width, Channels)), label (int32 scalar:
// the class).
//
// Reference: columns, parameters and defaults are those of MindSpore 2.10.0's
// FakeImageDataset. Its labels are uint32, and a different generator gives it
// different pixels. torchvision's FakeData differs in its pixels too.
type FakeImage struct {
	Images   int64  `json:"images"`   // number of images, default 1000
	Height   int    `json:"height"`   // default 224
	Width    int    `json:"width"`    // default 224
	Channels int    `json:"channels"` // 1 to 4, default 3
	Classes  int32  `json:"classes"`  // number of classes, default 10
	BaseSeed uint64 `json:"base_seed"`
}

func init() {
	dataset.Register(dataset.Info{Name: "fake_image", Version: 1, New: func() dataset.Node { return New() }, Doc: "images of noise with random labels"})
}

// New returns a source of 1000 images of 224x224x3 in 10 classes.
func New() *FakeImage { return &FakeImage{1000, 224, 224, 3, 10, 0} }

// maxPixels is the decoders' limit; see package codec.
const maxPixels = 100_000_000

// Validate requires at least one image and one class, 1 to 4 channels and at
// most 100 megapixels.
func (o *FakeImage) Validate() error {
	switch {
	case o.Images < 1:
		return fmt.Errorf("%w: images %d, want at least 1", dataset.ErrParam, o.Images)
	case o.Height < 1 || o.Width < 1 || o.Height > maxPixels/o.Width:
		return fmt.Errorf("%w: size %dx%d, want 1 to %d pixels", dataset.ErrParam, o.Width, o.Height, maxPixels)
	case o.Channels < 1 || o.Channels > 4:
		return fmt.Errorf("%w: channels %d, want 1 to 4", dataset.ErrParam, o.Channels)
	case o.Classes < 1:
		return fmt.Errorf("%w: classes %d, want at least 1", dataset.ErrParam, o.Classes)
	}
	return nil
}

// Open validates the parameters; it reads no files.
func (o *FakeImage) Open(ctx context.Context, _ store.Opener) (dataset.Data, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return &rows{*o, rng.NewKey(o.BaseSeed, 0, "fake_image")}, nil
}

type rows struct {
	o   FakeImage
	key rng.Key
}

func (d *rows) Columns() []dataset.Column {
	return []dataset.Column{
		{Name: "image", Desc: tensor.Image(tensor.Uint8, tensor.HWC, d.o.Height, d.o.Width, d.o.Channels)},
		{Name: "label", Desc: tensor.Desc{DType: tensor.Int32}},
	}
}

func (d *rows) Len() int64 { return d.o.Images }

func (d *rows) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	if err := files.Check(ctx, i, d.o.Images); err != nil {
		return fmt.Errorf("fakeimage: %w", err)
	}
	s.Key = "fake_image"
	r := d.key.At(uint64(i))
	if err := s.Column("label").SetInt32(int32(r.IntN(int(d.o.Classes)))); err != nil {
		return err
	}
	if err := s.Column("image").Reset(tensor.Image(tensor.Uint8, tensor.HWC, d.o.Height, d.o.Width, d.o.Channels)); err != nil {
		return err
	}
	noise.Bytes(s.Column("image").Data, &r)
	return nil
}

func (d *rows) Class(i int64) (int64, error) {
	if err := files.Index(i, d.o.Images); err != nil {
		return 0, fmt.Errorf("fakeimage: %w", err)
	}
	r := d.key.At(uint64(i))
	return int64(r.IntN(int(d.o.Classes))), nil
}

func (d *rows) Close() error { return nil }
