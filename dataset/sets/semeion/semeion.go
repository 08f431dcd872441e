// Package semeion reads the dataset SEMEION: handwritten digits, black and
// white. Columns: image, label. Reference: torchvision's SEMEION and
// MindSpore's SemeionDataset.
package semeion

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/pixels"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// SEMEION reads semeion.data. A line has 256 numbers, 0 or 1, and ten numbers
// of which the digit's is 1 and the others are 0. Open reads the file into
// memory.
//
// Columns: image (uint8 HWC (16, 16, 1): 0 or White), label (int32 scalar: the
// digit).
//
// Reference: torchvision 0.29.2's SEMEION has the same images and labels with
// white 255. MindSpore 2.10.0's SemeionDataset has the same with white 1; its
// images have no axis of channels, and its labels are uint32. This source
// refuses other numbers than 0 and 1, and lines with several digits.
type SEMEION struct {
	Dir string `json:"dir"` // folder with the file: torchvision's ROOT
	// White is the value of a pixel that is 1 in the file: 255 as torchvision's
	// or 1 as MindSpore's. Default 255.
	White int `json:"white"`
}

func init() {
	dataset.Register(dataset.Info{Name: "semeion", Version: 1, New: func() dataset.Node { return New("") }, Doc: "SEMEION: handwritten digits, black and white"})
}

// New returns a source of all images.
func New(dir string) *SEMEION { return &SEMEION{dir, 255} }

// Validate checks the value of white.
func (o *SEMEION) Validate() error {
	if o.White != 1 && o.White != 255 {
		return fmt.Errorf("%w: white %d, want 1 or 255", dataset.ErrParam, o.White)
	}
	return nil
}

const (
	side   = 16
	digits = 10
)

// Open reads the file.
func (o *SEMEION) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	d := &pixels.Rows{Package: "semeion", Image: tensor.Image(tensor.Uint8, tensor.HWC, side, side, 1)}
	if err := d.AddText(ctx, s, store.Join(o.Dir, "semeion.data"), "semeion", nil, o.parse); err != nil {
		return nil, fmt.Errorf("semeion: %w", err)
	}
	return d, nil
}

func (o *SEMEION) parse(line string, image []byte) (label int32, ok bool, err error) {
	e := strings.Fields(line)
	if len(e) != side*side+digits {
		return 0, false, fmt.Errorf("%d numbers, want %d pixels and %d classes", len(e), side*side, digits)
	}
	label = -1
	for i, t := range e {
		x, err := strconv.ParseFloat(t, 64)
		switch {
		case err != nil || x != 0 && x != 1:
			return 0, false, fmt.Errorf("number %d is %.80q, want 0 or 1", i, t)
		case i < side*side:
			image[i] = uint8(int(x) * o.White)
		case x == 1 && label >= 0:
			return 0, false, fmt.Errorf("classes %d and %d, want one", label, i-side*side)
		case x == 1:
			label = int32(i - side*side)
		}
	}
	if label < 0 {
		return 0, false, fmt.Errorf("no class, want one of %d", digits)
	}
	return label, true, nil
}
