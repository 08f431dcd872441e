// Package movingmnist reads the dataset Moving MNIST: videos of two moving
// digits in a NumPy file. Column: image. Reference: torchvision's MovingMNIST.
package movingmnist

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/internal/lazyregexp"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// MovingMNIST reads mnist_test_seq.npy, or that name with .gz: a uint8 array of
// (frames, videos, height, width), (20, 10000, 64, 64) in the published file.
// Open reads the header; a row reads its frames. A gzip is unpacked into
// memory, 1 GiB at most.
//
// Column: image (uint8 (T, 1, height, width): T frames, grey).
//
// Reference: torchvision 0.29.2's MovingMNIST has the same rows and order. It
// has no names of columns; its split None is usage all here.
type MovingMNIST struct {
	Dir string `json:"dir"` // folder with the file: torchvision's ROOT/MovingMNIST
	// Usage is all for all frames, train for the first SplitRatio frames of
	// every video, or test for the others. Default all.
	Usage string `json:"usage"`
	// SplitRatio is a number of frames, 1 to 19. Default 10.
	SplitRatio int `json:"split_ratio"`
}

func init() {
	dataset.Register(dataset.Info{Name: "moving_mnist", Version: 1, New: func() dataset.Node { return New("") }, Doc: "Moving MNIST: videos of two moving digits in a NumPy file"})
}

// New returns a source of all frames.
func New(dir string) *MovingMNIST { return &MovingMNIST{dir, "all", 10} }

// Validate checks the usage and the split ratio.
func (o *MovingMNIST) Validate() error {
	if o.SplitRatio < 1 || o.SplitRatio > 19 {
		return fmt.Errorf("%w: split_ratio %d, want 1 to 19", dataset.ErrParam, o.SplitRatio)
	}
	return files.Usage(o.Usage, "all", "train", "test")
}

const fileName = "mnist_test_seq.npy"

// Open reads the header of the file.
func (o *MovingMNIST) Open(ctx context.Context, s store.Opener) (_ dataset.Data, err error) {
	f, err := files.Open(ctx, s, o.Dir, fileName)
	if err != nil {
		return nil, fmt.Errorf("movingmnist: %w", err)
	}
	d := &rows{file: f}
	if err := d.header(o); err != nil {
		return nil, fmt.Errorf("movingmnist: %w", errors.Join(err, f.Close()))
	}
	return d, nil
}

type rows struct {
	file     *files.Data
	head     int64 // bytes before the pixels
	from, to int   // frames of a row
	videos   int64
	shape    tensor.Desc
	keys     files.Keys
}

// The header of a file in NumPy's format, version 1, as NumPy writes it.
var header = lazyregexp.New(`^\{'descr': '[|<>=]?u1', 'fortran_order': False, 'shape': \((\d{1,9}), (\d{1,9}), (\d{1,9}), (\d{1,9})\), ?\} *\n$`)

// Limits of an array. The published file has 10,000 videos of 20 frames.
const (
	maxFrames = 1 << 16
	maxVideos = 1 << 20
	maxSide   = 1 << 12
)

// header reads the header and sets the rows.
func (d *rows) header(o *MovingMNIST) error {
	const prefix = "\x93NUMPY\x01\x00"
	b, err := d.file.Head(len(prefix) + 2)
	if err != nil {
		return err
	}
	if string(b[:len(prefix)]) != prefix {
		return d.file.Errorf(0, "%q, want a NumPy file of version 1.0", b[:len(prefix)])
	}
	d.head = int64(len(b)) + int64(b[len(prefix)]) + int64(b[len(prefix)+1])<<8
	if b, err = d.file.Head(int(d.head)); err != nil {
		return err
	}
	text := b[len(prefix)+2:]
	m := header().FindSubmatch(text)
	if m == nil {
		return d.file.Errorf(int64(len(prefix)+2), "header %.200q, want uint8 in C order with four axes", text)
	}
	var n [4]int
	for i, most := range [4]int{maxFrames, maxVideos, maxSide, maxSide} {
		n[i], err = strconv.Atoi(string(m[i+1]))
		if err != nil || n[i] < 1 || n[i] > most {
			return d.file.Errorf(int64(len(prefix)+2), "size %s of axis %d, want 1 to %d", m[i+1], i, most)
		}
	}
	// The product may overflow: divide instead.
	frame := int64(n[2]) * int64(n[3])
	size := d.file.Size - d.head
	if images := int64(n[0]) * int64(n[1]); images > size/frame || !d.file.Packed && images*frame != size {
		return d.file.Errorf(d.head, "%d bytes of pixels, want %d x %d x %d x %d", size, n[0], n[1], n[2], n[3])
	}
	if err := d.file.Inflate(d.head + int64(n[0])*int64(n[1])*frame); err != nil {
		return err
	}
	switch d.to = n[0]; o.Usage {
	case "train":
		d.to = min(o.SplitRatio, n[0])
	case "test":
		d.from = o.SplitRatio
	}
	if d.from >= d.to {
		return d.file.Errorf(d.head, "%d frames, want more than split_ratio %d", n[0], o.SplitRatio)
	}
	d.videos = int64(n[1])
	d.shape = tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(d.to-d.from, 1, n[2], n[3])}
	if err := d.shape.Validate(); err != nil {
		return d.file.Errorf(d.head, "videos of %v: %v", d.shape, err)
	}
	d.keys = files.NewKeys(o.Usage, d.videos)
	return nil
}

func (d *rows) Columns() []dataset.Column { return []dataset.Column{{Name: "image", Desc: d.shape}} }

func (d *rows) Len() int64 { return d.videos }

func (d *rows) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	if err := files.Check(ctx, i, d.videos); err != nil {
		return fmt.Errorf("movingmnist: %w", err)
	}
	s.Key = d.keys.At(i)
	if err := s.Column("image").Reset(d.shape); err != nil {
		return err
	}
	frame := d.shape.Shape.At(2) * d.shape.Shape.At(3)
	out := s.Column("image").Data
	for k := d.from; k < d.to; k++ {
		at := (int64(k)*d.videos + i) * int64(frame)
		if err := d.file.Fill(out[(k-d.from)*frame:][:frame], d.head+at); err != nil {
			return fmt.Errorf("movingmnist: %w", err)
		}
	}
	return nil
}

// Keys yields the name and size of the file.
func (d *rows) Keys(yield func(string) bool) { yield(files.SizeKey(d.file.Name, d.file.Size)) }

func (d *rows) Close() error { return d.file.Close() }
