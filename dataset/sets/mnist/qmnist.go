package mnist

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/pixels"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// QMNIST reads the digits of MNIST with their origin, and all digits of NIST:
// qmnist-train-images-idx3-ubyte, qmnist-train-labels-idx2-int, the same with
// test, xnist-images-idx3-ubyte and xnist-labels-idx2-int. A label has eight
// numbers: the digit, the series, the writer, the index of the digit among the
// writer's, NIST's class, its global index, and two that are 0. Open reads the
// labels into memory, 32 bytes an image. The original files of nist are .xz,
// which must be unpacked.
//
// Reference: torchvision 0.29.2's QMNIST and MindSpore 2.10.0's QMnistDataset
// have the same rows. MindSpore's labels are uint32; it has usage all. The
// types of the numbers are int64 in torchvision.
type QMNIST struct {
	Dir string `json:"dir"` // torchvision's ROOT/QMNIST/raw
	// Usage is train, test, test10k (the first 10,000 of test), test50k (those
	// after them), nist, or all, which is train, test, nist. Default train.
	Usage string `json:"usage"`
	// Compat selects the digit alone as label, an int32 scalar. Otherwise label
	// is int32 (8). Default true.
	Compat bool `json:"compat"`
}

func init() {
	dataset.Register(dataset.Info{Name: "qmnist", Version: 1, New: func() dataset.Node { return NewQMNIST("") }, Doc: "MNIST's digits with their origin, and all digits of NIST"})
}

// NewQMNIST returns a source of the training images with the digits as labels.
func NewQMNIST(dir string) *QMNIST { return &QMNIST{dir, "train", true} }

// Validate checks the usage.
func (o *QMNIST) Validate() error {
	return files.Usage(o.Usage, "train", "test", "test10k", "test50k", "nist", "all")
}

const (
	qmnistNumbers = 8     // of a label
	qmnistFirst   = 10000 // images of test that are MNIST's
)

var qmnistFiles = map[string][]string{
	"train": {"qmnist-train"}, "test": {"qmnist-test"}, "test10k": {"qmnist-test"}, "test50k": {"qmnist-test"},
	"nist": {"xnist"}, "all": {"qmnist-train", "qmnist-test", "xnist"},
}

// Open reads the headers and labels.
func (o *QMNIST) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	d := &pixels.Rows{Package: "mnist", Classes: map[string]int32{}}
	for i, c := range digitClasses {
		d.Classes[c] = int32(i)
	}
	if !o.Compat {
		d.Labels = qmnistNumbers
	}
	for _, name := range qmnistFiles[o.Usage] {
		if err := o.add(ctx, s, d, name); err != nil {
			return nil, fmt.Errorf("mnist: %w", errors.Join(err, d.Close()))
		}
	}
	return d, nil
}

func (o *QMNIST) add(ctx context.Context, s store.Opener, d *pixels.Rows, name string) (err error) {
	labels, err := qmnistLabels(ctx, s, o.Dir, name+"-labels-idx2-int")
	if err != nil {
		return err
	}
	f, err := files.Open(ctx, s, o.Dir, name+"-images-idx3-ubyte")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	shape, err := openIDX(f, idxUint8, 3)
	if err != nil {
		return err
	}
	n := int64(len(labels) / qmnistNumbers)
	if shape[0] != n {
		return f.Errorf(4, "%d images, want %d, the number of labels", shape[0], n)
	}
	image := tensor.Image(tensor.Uint8, tensor.HWC, int(shape[1]), int(shape[2]), 1)
	if d.Len() > 0 && image != d.Image {
		return f.Errorf(8, "images of %v, want %v as in the file before", image, d.Image)
	}
	first, end := int64(0), n
	switch o.Usage {
	case "test10k":
		end = min(n, qmnistFirst)
	case "test50k":
		first = min(n, qmnistFirst)
	}
	if first == end {
		return f.Errorf(4, "%d images, want more than %d for usage %s", n, first, o.Usage)
	}
	labels = labels[first*qmnistNumbers : end*qmnistNumbers]
	if o.Compat {
		for i := range end - first {
			labels[i] = labels[i*qmnistNumbers]
		}
		labels = labels[:end-first]
	}
	d.Image = image
	d.Add(name, pixels.Part{Name: f.Name, Size: f.Size, File: f, Labels: labels, Fill: func(out []byte, i int64) error {
		return f.Fill(out, headerSize(3)+(first+i)*image.Size())
	}})
	return nil
}

// qmnistLabels reads the labels, eight numbers each. The first must be a digit.
func qmnistLabels(ctx context.Context, s store.Opener, dir, name string) (_ []int32, err error) {
	f, err := files.Open(ctx, s, dir, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	shape, err := openIDX(f, idxInt32, 2)
	if err != nil {
		return nil, err
	}
	if shape[1] != qmnistNumbers {
		return nil, f.Errorf(8, "labels of %d numbers, want %d", shape[1], qmnistNumbers)
	}
	if f.Size > files.Limit {
		return nil, f.Errorf(4, "%d bytes of labels, want at most %d", f.Size, files.Limit)
	}
	b := make([]byte, 4*shape[0]*qmnistNumbers)
	if err := f.Fill(b, headerSize(2)); err != nil {
		return nil, err
	}
	l := make([]int32, len(b)/4)
	for i := range l {
		l[i] = int32(binary.BigEndian.Uint32(b[4*i:]))
		if i%qmnistNumbers == 0 && (l[i] < 0 || l[i] >= int32(len(digitClasses))) {
			return nil, f.Errorf(headerSize(2)+int64(4*i), "digit %d, want 0 to 9", l[i])
		}
	}
	return l, nil
}
