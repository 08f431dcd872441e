// Package eurosat reads the RGB version of the dataset EuroSAT: satellite
// images of ten classes. Columns: image, label. Reference: torchvision's
// EuroSAT.
package eurosat

import (
	"context"
	"fmt"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/imagefolder"
	"github.com/infer-prep/infer-prep/store"
)

// EuroSAT reads the class folders of 2750.
//
// Columns: image (bytes: the file), label (int32 scalar: the class).
//
// Reference: torchvision 0.29.2's EuroSAT is its ImageFolder of that folder,
// and this source is imagefolder.ImageFolder of it.
type EuroSAT struct {
	Dir string `json:"dir"` // folder with 2750: torchvision's ROOT/eurosat
}

func init() {
	dataset.Register(dataset.Info{Name: "eurosat", Version: 1, New: func() dataset.Node { return New("") }, Doc: "EuroSAT: satellite images of ten classes"})
}

// New returns a source of all images.
func New(dir string) *EuroSAT { return &EuroSAT{dir} }

// Validate accepts any folder.
func (o *EuroSAT) Validate() error { return nil }

// Open lists the files.
func (o *EuroSAT) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	d, err := imagefolder.New(store.Join(o.Dir, "2750")).Open(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("eurosat: %w", err)
	}
	return d, nil
}
