// Package renderedsst2 reads the dataset Rendered SST2: pictures of sentences,
// which are positive or negative. Columns: image, label. Reference:
// torchvision's RenderedSST2 and MindSpore's RenderedSST2Dataset.
package renderedsst2

import (
	"context"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/imagelist"
	"github.com/infer-prep/infer-prep/store"
)

// RenderedSST2 reads the .png files of the folders negative and positive in
// train, valid and test, sorted by name.
//
// Columns: image (bytes: the file), label (int32 scalar: 0 negative, 1
// positive).
//
// Reference: torchvision 0.29.2's RenderedSST2 and MindSpore 2.10.0's
// RenderedSST2Dataset have the same images, order and labels; MindSpore's
// labels are uint32, and it has usage all. torchvision also reads folders below
// the two.
type RenderedSST2 struct {
	Dir string `json:"dir"` // torchvision's ROOT/rendered-sst2
	// Usage is train, val (the folder valid), test or all, which is test,
	// train, val. Default train.
	Usage string `json:"usage"`
}

func init() {
	dataset.Register(dataset.Info{Name: "rendered_sst2", Version: 1, New: func() dataset.Node { return New("") }, Doc: "Rendered SST2: pictures of positive and negative sentences"})
}

// New returns a source of the training images.
func New(dir string) *RenderedSST2 { return &RenderedSST2{dir, "train"} }

// Validate checks the usage.
func (o *RenderedSST2) Validate() error { return files.Usage(o.Usage, "train", "val", "test", "all") }

var (
	format  = imagelist.Format{Package: "renderedsst2", Files: []string{"image"}, Numbers: []string{"label"}}
	folders = map[string][]string{"train": {"train"}, "val": {"valid"}, "test": {"test"}, "all": {"test", "train", "valid"}}
	classes = []string{"negative", "positive"}
)

// Open lists the files.
func (o *RenderedSST2) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	return imagelist.Data(format.Open(ctx, s, o.Dir, func(l *imagelist.List) error {
		l.Classes = imagelist.Number(classes)
		for _, folder := range folders[o.Usage] {
			for label, class := range classes {
				in := folder + "/" + class
				names, err := l.FilesIn(ctx, in)
				if err != nil {
					return err
				}
				for _, name := range names {
					if strings.HasSuffix(strings.ToLower(name), ".png") {
						if err := l.Add([]string{in + "/" + name}, int32(label)); err != nil {
							return err
						}
					}
				}
			}
		}
		return nil
	}))
}
