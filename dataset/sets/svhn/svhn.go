// Package svhn reads the dataset Street View House Numbers, format 2: cropped
// digits in MATLAB files. Columns: image, label. Reference: torchvision's SVHN
// and MindSpore's SVHNDataset.
package svhn

import (
	"context"
	"fmt"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/matfile"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/pixels"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// SVHN reads train_32x32.mat, test_32x32.mat and extra_32x32.mat. Open unpacks
// the files that Usage needs into memory: 3,072 bytes an image, 1.6 GB for
// extra. A file of 2 GiB or more, packed or not, is an error.
//
// Columns: image (uint8 HWC (32, 32, 3), or the size that the files have,
// RGB), label (int32 scalar: the digit; the files have 10 for 0).
//
// Reference: MindSpore 2.10.0's SVHNDataset has the same rows and order of
// usage all; its labels are uint32. torchvision 0.29.2's SVHN has the same
// images and labels, and no usage all. This source refuses labels above 10.
type SVHN struct {
	Dir string `json:"dir"` // folder with the files: torchvision's ROOT
	// Usage is train, test, extra or all, which is train, test, extra. Default
	// train.
	Usage string `json:"usage"`
}

func init() {
	dataset.Register(dataset.Info{Name: "svhn", Version: 1, New: func() dataset.Node { return New("") }, Doc: "SVHN: cropped digits of house numbers in MATLAB files"})
}

// New returns a source of the training images.
func New(dir string) *SVHN { return &SVHN{dir, "train"} }

// Validate checks the usage.
func (o *SVHN) Validate() error { return files.Usage(o.Usage, "train", "test", "extra", "all") }

// limit is the largest file that is read, and its size in memory.
const limit = 1<<31 - 1

// Open reads the files.
func (o *SVHN) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	usages := []string{o.Usage}
	if o.Usage == "all" {
		usages = []string{"train", "test", "extra"}
	}
	d := &pixels.Rows{Package: "svhn"}
	for _, u := range usages {
		if err := add(ctx, s, d, store.Join(o.Dir, u+"_32x32.mat"), u); err != nil {
			return nil, fmt.Errorf("svhn: %w", err)
		}
	}
	return d, nil
}

func add(ctx context.Context, s store.Opener, d *pixels.Rows, name, key string) error {
	arrays, err := matfile.Open(ctx, s, name, limit)
	if err != nil {
		return err
	}
	info, err := s.Stat(ctx, name)
	if err != nil {
		return err
	}
	p := pixels.Part{Name: name, Size: info.Size}
	image, err := parse(&p, arrays)
	if err == nil && d.Len() > 0 && image != d.Image {
		err = fmt.Errorf("images of %v, want %v as in the file before", image, d.Image)
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w", dataset.ErrData, store.Redact(name), err)
	}
	d.Image = image
	d.Add(key, p)
	return nil
}

// parse takes the arrays X, of sizes height, width, 3 and n, and y.
func parse(p *pixels.Part, arrays matfile.Arrays) (image tensor.Desc, err error) {
	x, err := arrays.Get("X")
	if err != nil {
		return image, err
	}
	if len(x.Dims) != 4 || x.Dims[2] != 3 || x.Len() == 0 {
		return image, fmt.Errorf("array X of sizes %v, want height, width, 3 and the number of images", x.Dims)
	}
	data, err := x.Bytes()
	if err != nil {
		return image, err
	}
	if p.Labels, err = arrays.Ints("y", 0, 10); err != nil {
		return image, err
	}
	h, w, n := x.Dims[0], x.Dims[1], x.Dims[3]
	if len(p.Labels) != n {
		return image, fmt.Errorf("y has %d labels, want %d as X has images", len(p.Labels), n)
	}
	for i, l := range p.Labels {
		if l == 10 {
			p.Labels[i] = 0
		}
	}
	p.Fill = func(out []byte, i int64) error {
		in := data[int(i)*3*h*w:][:3*h*w]
		for c := range 3 {
			for col := range w {
				for row := range h {
					out[(row*w+col)*3+c] = in[(c*w+col)*h+row]
				}
			}
		}
		return nil
	}
	return tensor.Image(tensor.Uint8, tensor.HWC, h, w, 3), nil
}
