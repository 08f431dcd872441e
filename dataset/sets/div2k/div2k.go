// Package div2k reads DIV2K: photos of high resolution with smaller copies, for
// super-resolution. Columns: hr_image, lr_image. Reference: MindSpore's
// DIV2KDataset.
package div2k

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/imagelist"
	"github.com/infer-prep/infer-prep/store"
)

// DIV2K reads the files of DIV2K_train_HR or DIV2K_valid_HR, sorted by name,
// and the smaller copy of each: DIV2K_train_LR_bicubic/X2/IDx2.png for
// downgrade bicubic and scale 2 (likewise unknown, 3 and 4),
// DIV2K_train_LR_x8/IDx8.png for scale 8, DIV2K_train_LR_mild/IDx4m.png,
// DIV2K_train_LR_difficult/IDx4d.png or DIV2K_train_LR_wild/IDx4w.png.
//
// Columns: hr_image, lr_image (bytes: the files).
//
// Reference: MindSpore 2.10.0's DIV2KDataset has the same rows. As there, of
// the four copies of an image in DIV2K_train_LR_wild, IDx4w1.png to IDx4w4.png,
// none is read unless it is renamed.
type DIV2K struct {
	Dir string `json:"dir"`
	// Usage is train, valid or all, which is train followed by valid. Default
	// train.
	Usage string `json:"usage"`
	// Downgrade is bicubic, unknown, mild, difficult or wild. Default bicubic.
	Downgrade string `json:"downgrade"`
	// Scale is 2, 3, 4 or 8 for bicubic, 2, 3 or 4 for unknown, and 4 for the
	// others. Default 2.
	Scale int `json:"scale"`
}

func init() {
	dataset.Register(dataset.Info{Name: "div2k", Version: 1, New: func() dataset.Node { return New("") }, Doc: "DIV2K: photos with smaller copies, for super-resolution"})
}

// New returns a source of the training images with copies of half the size.
func New(dir string) *DIV2K { return &DIV2K{dir, "train", "bicubic", 2} }

var scales = map[string][]int{"bicubic": {2, 3, 4, 8}, "unknown": {2, 3, 4}, "mild": {4}, "difficult": {4}, "wild": {4}}

// Validate checks the parameters.
func (o *DIV2K) Validate() error {
	s, ok := scales[o.Downgrade]
	if !ok {
		return fmt.Errorf("%w: downgrade %q, want bicubic, unknown, mild, difficult or wild", dataset.ErrParam, o.Downgrade)
	}
	if !slices.Contains(s, o.Scale) {
		return fmt.Errorf("%w: scale %d of downgrade %s, want one of %v", dataset.ErrParam, o.Scale, o.Downgrade, s)
	}
	return files.Usage(o.Usage, "train", "valid", "all")
}

var format = imagelist.Format{Package: "div2k", Files: []string{"hr_image", "lr_image"}}

// Open lists the images.
func (o *DIV2K) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	parts := []string{o.Usage}
	if o.Usage == "all" {
		parts = []string{"train", "valid"}
	}
	return imagelist.Data(format.Open(ctx, s, o.Dir, func(l *imagelist.List) error {
		for _, part := range parts {
			high := "DIV2K_" + part + "_HR/"
			names, err := l.FilesIn(ctx, high)
			if err != nil {
				return err
			}
			for _, n := range names {
				if err := l.Add([]string{high + n, "DIV2K_" + part + "_LR_" + o.low(n)}); err != nil {
					return err
				}
			}
		}
		return nil
	}))
}

// low returns the path of the smaller copy after the name of the part.
func (o *DIV2K) low(name string) string {
	ext := path.Ext(name)
	name = fmt.Sprintf("%sx%d", strings.TrimSuffix(name, ext), o.Scale)
	switch {
	case o.Scale == 8:
		return "x8/" + name + ext
	case len(scales[o.Downgrade]) > 1:
		return fmt.Sprintf("%s/X%d/%s%s", o.Downgrade, o.Scale, name, ext)
	}
	return o.Downgrade + "/" + name + o.Downgrade[:1] + ext
}
