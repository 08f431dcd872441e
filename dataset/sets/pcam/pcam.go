// Package pcam reads the dataset PatchCamelyon (PCam): patches of histological
// scans in HDF5 files. Columns: image, label. Reference: torchvision's PCAM.
package pcam

import (
	"context"
	"errors"
	"fmt"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/imagelist"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/pixels"
	"github.com/infer-prep/infer-prep/internal/hdf5"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// PCAM reads camelyonpatch_level_2_split_USAGE_x.h5 and
// camelyonpatch_level_2_split_USAGE_y.h5, unpacked as torchvision leaves them:
// the datasets x and y, contiguous or of chunks with or without gzip. Open
// reads the labels. If the images are in chunks, Read unpacks whole chunks, so
// a random order is slow if a chunk holds many images. Up to 16 chunks of 64
// MiB together stay in memory, and as much memory again to unpack the next
// ones.
//
// Columns: image (uint8 HWC (96, 96, 3), or the size that the file has, RGB),
// label (int32 scalar: 1 for metastatic tissue in the centre, or 0).
//
// Reference: torchvision 0.29.2's PCAM has the same rows and order. This source
// refuses labels other than 0 and 1.
type PCAM struct {
	Dir string `json:"dir"` // folder with the files: torchvision's ROOT/pcam
	// Usage is train, val or test. Default train.
	Usage string `json:"usage"`
}

func init() {
	dataset.Register(dataset.Info{Name: "pcam", Version: 1, New: func() dataset.Node { return New("") }, Doc: "PatchCamelyon: patches of histological scans in HDF5 files"})
}

// New returns a source of the training images.
func New(dir string) *PCAM { return &PCAM{dir, "train"} }

// Validate checks the usage.
func (o *PCAM) Validate() error { return files.Usage(o.Usage, "train", "val", "test") }

// Open reads the labels and the list of chunks.
func (o *PCAM) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	d := &pixels.Rows{Package: "pcam"}
	if err := o.open(ctx, s, d); err != nil {
		return nil, fmt.Errorf("pcam: %w", errors.Join(err, d.Close()))
	}
	return d, nil
}

func (o *PCAM) open(ctx context.Context, s store.Opener, d *pixels.Rows) error {
	part := o.Usage
	if part == "val" {
		part = "valid"
	}
	prefix := store.Join(o.Dir, "camelyonpatch_level_2_split_"+part+"_")
	labels, err := o.labels(ctx, s, prefix+"y.h5")
	if err != nil {
		return err
	}
	f, err := open(ctx, s, prefix+"x.h5", "x")
	if err != nil {
		return err
	}
	p := pixels.Part{Name: f.name, Size: f.Size(), Labels: labels, File: f}
	d.Image, err = f.image(int64(len(labels)))
	if err != nil {
		return f.wrap(errors.Join(err, f.Close()))
	}
	p.Fill = func(out []byte, i int64) error { return f.wrap(f.data.Read(i, out)) }
	d.Add(o.Usage, p)
	return nil
}

// file is an open file with its dataset.
type file struct {
	store.File
	name string
	data *hdf5.Dataset
}

func open(ctx context.Context, s store.Opener, name, set string) (_ *file, err error) {
	f := &file{name: name}
	if f.File, err = s.Open(ctx, name); err != nil {
		return nil, err
	}
	h, err := hdf5.Open(f, f.Size())
	if err == nil {
		f.data, err = h.Dataset(ctx, set)
	}
	if err != nil {
		return nil, f.wrap(errors.Join(err, f.Close()))
	}
	return f, nil
}

// wrap adds the name of the file to an error.
func (f *file) wrap(err error) error {
	if err == nil {
		return nil
	}
	if errors.As(err, new(*hdf5.Error)) {
		err = fmt.Errorf("%w: %w", dataset.ErrData, err)
	}
	return fmt.Errorf("%s: %w", store.Redact(f.name), err)
}

// image describes the images of x, of sizes n, height, width and 3.
func (f *file) image(n int64) (image tensor.Desc, err error) {
	d := f.data
	if len(d.Dims) != 4 || d.Dims[3] != 3 || d.Type.Size != 1 || d.Type.Signed {
		return image, fmt.Errorf("%w: dataset x of sizes %v, want uint8 of sizes n, height, width, 3", dataset.ErrData, d.Dims)
	}
	if d.Rows() != n {
		return image, fmt.Errorf("%w: dataset x has %d images, want %d as there are labels", dataset.ErrData, d.Rows(), n)
	}
	image = tensor.Image(tensor.Uint8, tensor.HWC, int(d.Dims[1]), int(d.Dims[2]), 3)
	if err := image.Validate(); err != nil {
		return image, fmt.Errorf("%w: dataset x of sizes %v: %w", dataset.ErrData, d.Dims, err)
	}
	return image, nil
}

// labels reads the dataset y, which has one number for each image.
func (o *PCAM) labels(ctx context.Context, s store.Opener, name string) (labels []int32, err error) {
	f, err := open(ctx, s, name, "y")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	d := f.data
	if d.RowSize() != int64(d.Type.Size) || d.Rows() > imagelist.MaxRows {
		return nil, f.wrap(fmt.Errorf("%w: dataset y of sizes %v, want n, 1, 1, 1 with n up to %d", dataset.ErrData, d.Dims, imagelist.MaxRows))
	}
	// Memory grows with what is read: a false size in a short file allocates
	// little.
	var b [block]byte
	rows := block / d.RowSize()
	for i := int64(0); i < d.Rows(); i += rows {
		b := b[:min(rows, d.Rows()-i)*d.RowSize()]
		if err := d.Read(i, b); err != nil {
			return nil, f.wrap(err)
		}
		for ; len(b) > 0; b = b[d.RowSize():] {
			n := d.Type.Int(b)
			if n != 0 && n != 1 {
				return nil, f.wrap(fmt.Errorf("%w: label %d of image %d, want 0 or 1", dataset.ErrData, n, len(labels)))
			}
			labels = append(labels, int32(n))
		}
	}
	return labels, nil
}

// block is the number of bytes of labels that are read at once.
const block = 64 << 10
