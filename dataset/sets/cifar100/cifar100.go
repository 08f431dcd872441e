// Package cifar100 reads the dataset CIFAR-100 in its binary version. Columns:
// image, coarse_label, fine_label. Reference: MindSpore's Cifar100Dataset.
package cifar100

import (
	"context"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/cifar"
	"github.com/infer-prep/infer-prep/store"
)

// CIFAR100 reads the binary version of CIFAR-100: train.bin and test.bin, with
// any number of records. A row's class is its fine label. fine_label_names.txt
// names the classes; they have no names if it is missing.
//
// Columns: image (uint8 HWC (32, 32, 3), RGB), coarse_label (int32 scalar: one
// of 20), fine_label (int32 scalar: one of 100).
//
// Reference: MindSpore 2.10.0's Cifar100Dataset defines the columns and the
// order of usage all: the images for testing, then those for training. Its
// labels are uint32, and its files must have 50,000 and 10,000 records.
// torchvision 0.29.2's CIFAR100 has the same images in the same order and only
// the fine label. It reads the version of Python pickles, which is not
// supported here.
type CIFAR100 struct {
	Dir string `json:"dir"` // folder with the files: cifar-100-binary
	// Usage is train, test or all. Default train.
	Usage string `json:"usage"`
}

func init() {
	dataset.Register(dataset.Info{Name: "cifar100", Version: 1, New: func() dataset.Node { return New("") }, Doc: "CIFAR-100, binary version: 32x32 photos of a hundred classes"})
}

// New returns a source of the training images.
func New(dir string) *CIFAR100 { return &CIFAR100{dir, "train"} }

// Validate checks the usage.
func (o *CIFAR100) Validate() error { return files.Usage(o.Usage, "train", "test", "all") }

var format = cifar.Format{
	Package: "cifar100", Labels: []string{"coarse_label", "fine_label"}, Classes: []int{20, 100}, Class: 1, Names: "fine_label_names.txt",
}

// Open checks the sizes of the files.
func (o *CIFAR100) Open(ctx context.Context, files store.Opener) (dataset.Data, error) {
	var names []string
	if o.Usage != "train" {
		names = []string{"test.bin"}
	}
	if o.Usage != "test" {
		names = append(names, "train.bin")
	}
	return format.Open(ctx, files, o.Dir, names...)
}
