// Package fakeimage is a dataset of noise, for trying out and measuring.
package fakeimage

import (
	"fmt"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/internal/noise"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

// FakeImage is images of random pixels with random labels. Row i is a function of
// BaseSeed and i: the label is rng.NewKey(BaseSeed, 0, "fake_image").At(i).IntN(Classes),
// and the pixels, all values as likely, are the bytes of the 32-bit numbers that the
// stream gives next, the lowest byte first.
//
// Columns: image (uint8 HWC (Height, Width, Channels)), label (int32 scalar: the class).
//
// Reference: MindSpore 2.10.0's FakeImageDataset for columns, parameters and their usual
// values; its labels are uint32, and its bytes, which come from another
// generator, are not these. Neither are torchvision's FakeData's.
type FakeImage struct {
	Images   int64  `json:"images"` // how many, usually 1000
	Height   int    `json:"height"` // usually 224
	Width    int    `json:"width"`  // usually 224
	Channels int    `json:"channels"`
	Classes  int32  `json:"classes"` // usually 10
	BaseSeed uint64 `json:"base_seed"`
}

func init() {
	dataset.Register(dataset.Info{Name: "fake_image", Version: 1, New: func() dataset.Node { return New() }, Doc: "images of noise with random labels"})
}

// New makes 1000 images of 224x224x3 in 10 classes.
func New() *FakeImage { return &FakeImage{1000, 224, 224, 3, 10, 0} }

// maxPixels is that of decoders, see package codec.
const maxPixels = 100_000_000

// Validate wants images, a size of at most 100 megapixels, 1 to 4 channels and classes.
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

// Open does nothing.
func (o *FakeImage) Open() (dataset.Data, error) {
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

func (d *rows) Read(i int64, s *dataset.Sample) error {
	if err := files.Index(i, d.o.Images); err != nil {
		return fmt.Errorf("fakeimage: %w", err)
	}
	s.Key = "fake_image"
	r := d.key.At(uint64(i))
	if err := s.Values[1].SetInt32(int32(r.IntN(int(d.o.Classes)))); err != nil {
		return err
	}
	if err := s.Values[0].Reset(tensor.Image(tensor.Uint8, tensor.HWC, d.o.Height, d.o.Width, d.o.Channels)); err != nil {
		return err
	}
	noise.Bytes(s.Values[0].Data, &r)
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
