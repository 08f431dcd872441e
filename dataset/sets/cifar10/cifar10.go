// Package cifar10 reads the dataset CIFAR-10 in its binary version. Columns:
// image, label. Reference: MindSpore's Cifar10Dataset.
package cifar10

import (
	"context"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/cifar"
	"github.com/infer-prep/infer-prep/store"
)

// CIFAR10 reads the binary version of CIFAR-10: data_batch_1.bin to
// data_batch_5.bin and test_batch.bin, with any number of records.
// batches.meta.txt names the classes; they have no names if it is missing.
//
// Columns: image (uint8 HWC (32, 32, 3), RGB), label (int32 scalar: the class).
//
// Reference: MindSpore 2.10.0's Cifar10Dataset defines the columns and the
// order of usage all: the training images, then those for testing. Its labels
// are uint32, and its files must have 10,000 records. torchvision 0.29.2's
// CIFAR10 has the same images in the same order. It reads the version of Python
// pickles, which is not supported here.
type CIFAR10 struct {
	Dir string `json:"dir"` // folder with the files: cifar-10-batches-bin
	// Usage is train, test or all. Default train.
	Usage string `json:"usage"`
}

func init() {
	dataset.Register(dataset.Info{Name: "cifar10", Version: 1, New: func() dataset.Node { return New("") }, Doc: "CIFAR-10, binary version: 32x32 photos of ten classes"})
}

// New returns a source of the training images.
func New(dir string) *CIFAR10 { return &CIFAR10{dir, "train"} }

// Validate checks the usage.
func (o *CIFAR10) Validate() error { return files.Usage(o.Usage, "train", "test", "all") }

var format = cifar.Format{Package: "cifar10", Labels: []string{"label"}, Classes: []int{10}, Names: "batches.meta.txt"}

// Open checks the sizes of the files.
func (o *CIFAR10) Open(ctx context.Context, files store.Opener) (dataset.Data, error) {
	var names []string
	if o.Usage != "test" {
		names = []string{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"}
	}
	if o.Usage != "train" {
		names = append(names, "test_batch.bin")
	}
	return format.Open(ctx, files, o.Dir, names...)
}
