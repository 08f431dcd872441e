package mxnet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// MNISTParams are the parameters of NewMNISTIter. ParseMNISTParams takes them
// under MXNet's names, which are the fields' tags. DefaultMNISTParams returns
// the defaults.
type MNISTParams struct {
	// Image and Label are uncompressed IDX files of bytes: images (3 axes), and
	// as many labels (1 axis).
	Image     string `mxnet:"image"`
	Label     string `mxnet:"label"`
	BatchSize int    `mxnet:"batch_size"`
	// Shuffle puts the images of the part in random order, different in each
	// epoch. It is MXNet's default, which shuffles once.
	Shuffle bool `mxnet:"shuffle"`
	// Flat gives an image one axis. Otherwise it has 3: 1, height and width.
	Flat bool  `mxnet:"flat"`
	Seed int64 `mxnet:"seed"` // of the order
	// Silent has no effect: nothing is logged.
	Silent bool `mxnet:"silent"`
	// NumParts divides the images into parts of consecutive images, and
	// PartIndex selects one of them.
	NumParts  int `mxnet:"num_parts"`
	PartIndex int `mxnet:"part_index"`
	// PrefetchBuffer is the number of batches read ahead with Context "gpu".
	// Default 4; 0 to 1024.
	PrefetchBuffer int `mxnet:"prefetch_buffer"`
	// Context is "gpu" to read ahead in goroutines, or "cpu" to read within
	// Next.
	Context string       `mxnet:"ctx"`
	DType   tensor.DType `mxnet:"dtype"` // must be Float32 (None is float32)
	// Store opens the files. Default: store.Local. It has no name in MXNet.
	Store store.Opener
}

// DefaultMNISTParams returns MXNet's defaults: ./train-images-idx3-ubyte and
// ./train-labels-idx1-ubyte, batches of 128, shuffled.
func DefaultMNISTParams() MNISTParams {
	return MNISTParams{
		Image: "./train-images-idx3-ubyte", Label: "./train-labels-idx1-ubyte", BatchSize: 128, Shuffle: true,
		NumParts: 1, PrefetchBuffer: 4, Context: "gpu", DType: tensor.Float32,
	}
}

const mnistIter = "MNISTIter"

var mnistParamSet = newParamSet[MNISTParams](mnistIter, paramSet{
	required: []string{"image", "label"},
	wants: map[string]string{
		"image": "an IDX file", "label": "an IDX file", "part_index": wantPart, "ctx": wantContext, "dtype": "None or float32",
	},
	ranges: map[string][2]float64{"batch_size": {1, maxBatch}, "num_parts": {1, 1 << 24}, "prefetch_buffer": {0, maxPrefetch}},
})

const wantPart = "0 to num_parts - 1"

// ParseMNISTParams parses parameters under MXNet's names, in the text forms of
// MXNet's C interface. Missing ones have the defaults of DefaultMNISTParams.
// Its error is a *ParamError; for an unknown name it suggests the closest known
// one.
func ParseMNISTParams(kwargs map[string]string) (MNISTParams, error) {
	p := DefaultMNISTParams()
	if err := mnistParamSet.parse(&p, kwargs); err != nil {
		return p, err
	}
	return p, p.Validate()
}

// Validate checks all parameters. Its error is a *ParamError with MXNet's name
// of the parameter.
func (p MNISTParams) Validate() error {
	if err := mnistParamSet.check(p); err != nil {
		return err
	}
	switch {
	case p.Image == "":
		return mnistParamSet.fail(p, "image")
	case p.Label == "":
		return mnistParamSet.fail(p, "label")
	case p.PartIndex < 0 || p.PartIndex >= p.NumParts:
		return mnistParamSet.fail(p, "part_index")
	case p.Context != "cpu" && p.Context != "gpu":
		return mnistParamSet.fail(p, "ctx")
	case p.DType != tensor.Float32:
		return mnistParamSet.fail(p, "dtype")
	}
	return nil
}

// MNISTIter iterates over batches of images in IDX files: MNIST and others in
// its format. Its input "data" is float32, the pixels divided by 256. Its input
// "softmax_label" is float32 with only the batch's axis. Images that do not
// fill a last batch are dropped, as in MXNet. A batch's Index is the images'
// positions in the files; MXNet's is 0. (MXNet: mx.io.MNISTIter.)
type MNISTIter struct{ *rowIter }

// NewMNISTIter opens the files and reads the labels; images are read when a
// batch needs them. An error of a parameter is a *ParamError. An error of data
// wraps dataset.ErrData and states the file.
func NewMNISTIter(ctx context.Context, p MNISTParams) (*MNISTIter, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	r := &mnistRows{}
	if err := r.open(ctx, localIfNil(p.Store), &p); err != nil {
		return nil, fmt.Errorf("mxnet: %s: %w", mnistIter, errors.Join(err, r.Close()))
	}
	data := DataDesc{Name: "data", Shape: tensor.Dims(p.BatchSize, 1, r.height, r.width), DType: tensor.Float32, Layout: "NCHW"}
	if p.Flat {
		data.Shape = tensor.Dims(p.BatchSize, r.height*r.width)
	}
	label := DataDesc{Name: "softmax_label", Shape: tensor.Dims(p.BatchSize), DType: tensor.Float32, Layout: "NCHW"}
	r.columns = columns([]DataDesc{data}, []DataDesc{label})
	it, err := newRowIter(ctx, r, []DataDesc{data}, []DataDesc{label}, rowOptions{
		size: p.BatchSize, last: lastDiscard, seed: uint64(p.Seed), shuffle: p.Shuffle,
		blocks: true, engine: engineOf(p.Context, p.PrefetchBuffer),
	})
	if err != nil {
		return nil, fmt.Errorf("mxnet: %s: %w", mnistIter, err)
	}
	return &MNISTIter{it}, nil
}

// mnistRows is a part of the images of a file, with their labels.
type mnistRows struct {
	columns       []dataset.Column
	name          string
	file          store.File // of images; nil before it is open
	height, width int
	first         int64  // image of the part, in the file
	labels        []byte // of the part
	pixels        sync.Pool
}

// headSize returns the size of an IDX file's head: two zeros, the type, the
// number of axes, and the size of each axis.
func headSize(axes int) int { return 4 + 4*axes }

// idxHead reads the sizes of the axes of an IDX file of bytes and checks them
// against the file's size.
func idxHead(f store.File, name string, axes int) (sizes []int64, err error) {
	b := make([]byte, headSize(axes))
	if _, err := f.ReadAt(b, 0); err != nil && err != io.EOF {
		return nil, err
	}
	if f.Size() < int64(len(b)) {
		return nil, fmt.Errorf("%w: %s has %d bytes, want a head of %d: an IDX file with %d axes", dataset.ErrData, name, f.Size(), len(b), axes)
	}
	if want := [4]byte{0, 0, 8, byte(axes)}; [4]byte(b[:4]) != want {
		return nil, fmt.Errorf("%w: %s begins with %x, want %x: an IDX file of bytes with %d axes", dataset.ErrData, name, b[:4], want, axes)
	}
	left := f.Size() - int64(len(b))
	for a := range axes {
		n := int64(binary.BigEndian.Uint32(b[4+4*a:]))
		if sizes = append(sizes, n); n == 0 || left%n != 0 {
			left = 0
			break
		}
		left /= n // the product may overflow
	}
	if left != 1 {
		return nil, fmt.Errorf("%w: %s has %d bytes of data, want as many as its head states: %x", dataset.ErrData, name, f.Size()-int64(len(b)), b[4:])
	}
	return sizes, nil
}

func (r *mnistRows) open(ctx context.Context, o store.Opener, p *MNISTParams) error {
	var err error
	if r.file, err = o.Open(ctx, p.Image); err != nil {
		return err
	}
	r.name = p.Image
	images, err := idxHead(r.file, p.Image, 3)
	if err != nil {
		return err
	}
	if images[1]*images[2] > maxRow {
		return fmt.Errorf("%w: %s has images of %d x %d, want at most %d pixels", dataset.ErrData, p.Image, images[1], images[2], maxRow)
	}
	r.height, r.width = int(images[1]), int(images[2])
	f, err := o.Open(ctx, p.Label)
	if err != nil {
		return err
	}
	labels, err := idxHead(f, p.Label, 1)
	if err == nil && labels[0] != images[0] {
		err = fmt.Errorf("%w: %d labels in %s, want %d, the images of %s", dataset.ErrData, labels[0], p.Label, images[0], p.Image)
	}
	if err == nil {
		// MXNet computes in float64.
		share := float64(images[0]) / float64(p.NumParts)
		r.first = int64(float64(share * float64(p.PartIndex)))
		r.labels = make([]byte, int64(float64(share*float64(p.PartIndex+1)))-r.first)
		if _, err = f.ReadAt(r.labels, int64(headSize(1))+r.first); err == io.EOF {
			err = nil
		}
	}
	return errors.Join(err, f.Close())
}

func (r *mnistRows) Columns() []dataset.Column { return r.columns }

func (r *mnistRows) Len() int64 { return int64(len(r.labels)) }

func (r *mnistRows) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

func (r *mnistRows) Read(_ context.Context, i int64, s *dataset.Sample) error {
	if i < 0 || i >= r.Len() {
		return fmt.Errorf("mxnet: %s: %w: image %d of %d", mnistIter, dataset.ErrParam, i, r.Len())
	}
	s.Key = r.name + "#" + strconv.FormatInt(r.first+i, 10)
	for j := range 2 {
		if err := s.Values[j].Reset(r.columns[j].Desc); err != nil {
			return err
		}
	}
	n := r.height * r.width
	b, _ := r.pixels.Get().(*[]byte)
	if b == nil {
		b = new([]byte)
		*b = make([]byte, n)
	}
	defer r.pixels.Put(b)
	if _, err := r.file.ReadAt(*b, int64(headSize(3))+(r.first+i)*int64(n)); err != nil && err != io.EOF {
		return fmt.Errorf("mxnet: %s: %s: %w", mnistIter, s.Key, err)
	}
	x := tensor.View[float32](&s.Column("data").Tensor)
	for k, v := range *b {
		x[k] = float32(v) * (1. / 256) // exact
	}
	tensor.View[float32](&s.Column("softmax_label").Tensor)[0] = float32(r.labels[i])
	return setRow(&s.Values[2], r.first+i)
}
