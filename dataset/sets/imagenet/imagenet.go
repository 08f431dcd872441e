// Package imagenet reads the dataset ImageNet 2012 (ILSVRC). Columns: image,
// label. Reference: torchvision's ImageNet.
package imagenet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/imagefolder"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/imagelist"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/matfile"
	"github.com/infer-prep/infer-prep/store"
)

// ImageNet reads the class folders of train or val. They are named by WordNet
// ids and numbered in the byte order of their names. The names of the classes
// are those of ILSVRC2012_devkit_t12/data/meta.mat; a class has several.
//
// Columns: image (bytes: the file), label (int32 scalar: the class).
//
// Reference: torchvision 0.29.2's ImageNet has the same images, order, labels
// and names. It unpacks the archives at first use, and moves the validation
// images into class folders by ILSVRC2012_validation_ground_truth.txt. This
// source needs the archives unpacked in that way, the devkit too. If several
// classes have one name, the last one has it in both.
type ImageNet struct {
	// Dir is the folder with train, val and ILSVRC2012_devkit_t12:
	// torchvision's ROOT.
	Dir string `json:"dir"`
	// Usage is train or val. Default train.
	Usage string `json:"usage"`
}

func init() {
	dataset.Register(dataset.Info{Name: "imagenet", Version: 1, New: func() dataset.Node { return New("") }, Doc: "ImageNet 2012: photos of 1,000 classes"})
}

// New returns a source of the training images.
func New(dir string) *ImageNet { return &ImageNet{dir, "train"} }

// Validate checks the usage.
func (o *ImageNet) Validate() error { return files.Usage(o.Usage, "train", "val") }

// maxMat exceeds the size of meta.mat, a megabyte unpacked.
const maxMat = 64 << 20

// Open reads the devkit and lists the files.
func (o *ImageNet) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	words, err := synsets(ctx, s, store.Join(o.Dir, "ILSVRC2012_devkit_t12/data/meta.mat"))
	if err != nil {
		return nil, fmt.Errorf("imagenet: %w", err)
	}
	f := imagefolder.New(store.Join(o.Dir, o.Usage))
	d, err := f.Open(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("imagenet: %w", err)
	}
	ids := d.(dataset.ClassIndexed).ClassIndex()
	classes := map[string]int32{}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		w, ok := words[id]
		if !ok {
			err := fmt.Errorf("%w: %s has a folder %q, want the WordNet ids of meta.mat", dataset.ErrData, store.Redact(f.Dir), id)
			return nil, fmt.Errorf("imagenet: %w", errors.Join(err, d.Close()))
		}
		for _, name := range strings.Split(w, ", ") {
			classes[name] = ids[id]
		}
	}
	return imagelist.Rename(d, classes), nil
}

// synsets returns the words of the WordNet ids without children.
func synsets(ctx context.Context, s store.Opener, name string) (map[string]string, error) {
	arrays, err := matfile.Open(ctx, s, name, maxMat)
	if err != nil {
		return nil, err
	}
	a, err := arrays.Get("synsets")
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", dataset.ErrData, store.Redact(name), err)
	}
	words := map[string]string{}
	for i := range a.Len() {
		id, w, leaf, err := synset(a, i)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: synset %d: %w", dataset.ErrData, store.Redact(name), i, err)
		}
		if leaf {
			words[id] = w
		}
	}
	return words, nil
}

func synset(a *matfile.Array, i int) (id, words string, leaf bool, err error) {
	text := func(name string) string {
		f, e := a.Field(i, name)
		t := ""
		if e == nil {
			t, e = f.Text()
		}
		if e != nil && err == nil {
			err = fmt.Errorf("%s: %w", name, e)
		}
		return t
	}
	id, words = text("WNID"), text("words")
	if err != nil {
		return "", "", false, err
	}
	f, err := a.Field(i, "num_children")
	if err != nil {
		return "", "", false, err
	}
	n, err := f.Int(0, 1<<30)
	if err != nil {
		return "", "", false, fmt.Errorf("num_children: %w", err)
	}
	return id, words, n == 0, nil
}
