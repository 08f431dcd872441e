// Package flowers102 reads the dataset Oxford 102 Flower. Columns: image,
// label, and segmentation if wanted. Reference: torchvision's Flowers102 and
// MindSpore's Flowers102Dataset.
package flowers102

import (
	"context"
	"fmt"
	"math"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/imagelist"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/matfile"
	"github.com/infer-prep/infer-prep/store"
)

// Flowers102 reads the images jpg/image_00001.jpg and so on. setid.mat lists
// those of each usage in their order, and imagelabels.mat has the labels of all
// images.
//
// Columns: image (bytes: the file), segmentation (bytes: the file
// segmim/segmim_00001.jpg, if Segmentation is set), label (int32 scalar: the
// class from 0 to 101).
//
// Reference: MindSpore 2.10.0's Flowers102Dataset has the same rows and order
// of usage all; its labels are uint32. torchvision 0.29.2's Flowers102 has the
// same images, order and labels, names the usage valid val, and has no usage
// all and no masks. The names of the classes are torchvision's.
type Flowers102 struct {
	Dir string `json:"dir"` // torchvision's ROOT/flowers-102
	// Usage is train, valid, test or all, which is train, test, valid. Default
	// train.
	Usage string `json:"usage"`
	// Segmentation adds the column segmentation. Default false.
	Segmentation bool `json:"segmentation"`
}

func init() {
	dataset.Register(dataset.Info{Name: "flowers102", Version: 1, New: func() dataset.Node { return New("") }, Doc: "Oxford 102 Flower: photos of flowers, with masks if wanted"})
}

// New returns a source of the training images without masks.
func New(dir string) *Flowers102 { return &Flowers102{Dir: dir, Usage: "train"} }

// Validate checks the usage.
func (o *Flowers102) Validate() error {
	return files.Usage(o.Usage, "train", "valid", "test", "all")
}

// maxMat exceeds the sizes of the two files, some kilobytes.
const maxMat = 16 << 20

var sets = map[string][]string{"train": {"trnid"}, "valid": {"valid"}, "test": {"tstid"}, "all": {"trnid", "tstid", "valid"}}

// Open reads the lists.
func (o *Flowers102) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	f := imagelist.Format{Package: "flowers102", Files: []string{"image"}, Numbers: []string{"label"}}
	if o.Segmentation {
		f.Files = append(f.Files, "segmentation")
	}
	return imagelist.Data(f.Open(ctx, s, o.Dir, func(l *imagelist.List) error {
		l.Classes = imagelist.Number(classes[:])
		labels, err := numbers(ctx, l, "imagelabels.mat", int32(len(classes)), "labels")
		if err != nil {
			return err
		}
		ids, err := numbers(ctx, l, "setid.mat", int32(min(len(labels), math.MaxInt32)), sets[o.Usage]...)
		if err != nil {
			return err
		}
		for _, id := range ids {
			paths := []string{fmt.Sprintf("jpg/image_%05d.jpg", id)}
			if o.Segmentation {
				paths = append(paths, fmt.Sprintf("segmim/segmim_%05d.jpg", id))
			}
			if err := l.Add(paths, labels[id-1]-1); err != nil {
				return err
			}
		}
		return nil
	}))
}

// numbers returns the numbers of some arrays of a file, from 1 to most.
func numbers(ctx context.Context, l *imagelist.List, file string, most int32, names ...string) (all []int32, err error) {
	name := store.Join(l.Dir, file)
	arrays, err := matfile.Open(ctx, l.Folder, name, maxMat)
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		n, err := arrays.Ints(n, 1, most)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", dataset.ErrData, store.Redact(name), err)
		}
		all = append(all, n...)
	}
	return all, nil
}
