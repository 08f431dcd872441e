// Package country211 reads the dataset Country211: photos of 211 countries.
// Columns: image, label. Reference: torchvision's Country211.
package country211

import (
	"context"
	"fmt"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/imagefolder"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/store"
)

// Country211 reads the class folders of train, valid or test.
//
// Columns: image (bytes: the file), label (int32 scalar: the class).
//
// Reference: torchvision 0.29.2's Country211 is its ImageFolder of that folder,
// and this source is imagefolder.ImageFolder of it.
type Country211 struct {
	Dir string `json:"dir"` // torchvision's ROOT/country211
	// Usage is train, valid or test. Default train.
	Usage string `json:"usage"`
}

func init() {
	dataset.Register(dataset.Info{Name: "country211", Version: 1, New: func() dataset.Node { return New("") }, Doc: "Country211: photos of 211 countries"})
}

// New returns a source of the training images.
func New(dir string) *Country211 { return &Country211{dir, "train"} }

// Validate checks the usage.
func (o *Country211) Validate() error { return files.Usage(o.Usage, "train", "valid", "test") }

// Open lists the files.
func (o *Country211) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	d, err := imagefolder.New(store.Join(o.Dir, o.Usage)).Open(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("country211: %w", err)
	}
	return d, nil
}
