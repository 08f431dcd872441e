// Package cityscapes reads Cityscapes: photos of streets with fine or coarse
// masks or outlines. Columns: image, task. Reference: MindSpore's
// CityscapesDataset and torchvision's Cityscapes.
package cityscapes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/imagelist"
	"github.com/infer-prep/infer-prep/store"
)

// Cityscapes reads the images leftImg8bit/USAGE/CITY/ID_leftImg8bit.png, sorted
// by city and name, and for each the file gtFine/USAGE/CITY/ID_gtFine_KIND or
// gtCoarse/USAGE/CITY/ID_gtCoarse_KIND.
//
// Columns: image (bytes: the file), task (bytes: the file of the task: PNG, or
// JSON for task polygon).
//
// Reference: MindSpore 2.10.0's CityscapesDataset has the same rows in the same
// order; it writes outlines anew, without white space. torchvision 0.29.2's
// Cityscapes has the same images and targets, in the order of the file system;
// it has no usage all, and reads several types of targets at once. Here each
// type is a source.
type Cityscapes struct {
	Dir string `json:"dir"` // folder with leftImg8bit and gtFine or gtCoarse
	// Usage is train, val, test (fine), train_extra (coarse) or all, which is
	// those of the quality in this order: train, test, val, or train,
	// train_extra, val. Default train.
	Usage string `json:"usage"`
	// Quality is fine or coarse. Default fine.
	Quality string `json:"quality"`
	// Task is instance, semantic, polygon or color. Default instance.
	Task string `json:"task"`
}

func init() {
	dataset.Register(dataset.Info{Name: "cityscapes", Version: 1, New: func() dataset.Node { return New("") }, Doc: "Cityscapes: photos of streets with masks or outlines"})
}

// New returns a source of the training images with fine instance masks.
func New(dir string) *Cityscapes { return &Cityscapes{dir, "train", "fine", "instance"} }

var (
	folders  = map[string]string{"fine": "gtFine", "coarse": "gtCoarse"}
	usages   = map[string][]string{"fine": {"train", "test", "val"}, "coarse": {"train", "train_extra", "val"}}
	suffixes = map[string]string{"instance": "instanceIds.png", "semantic": "labelIds.png", "polygon": "polygons.json", "color": "color.png"}
	format   = imagelist.Format{Package: "cityscapes", Files: []string{"image", "task"}}
)

// Validate checks usage, quality and task.
func (o *Cityscapes) Validate() error {
	if folders[o.Quality] == "" {
		return fmt.Errorf("%w: quality %q, want fine or coarse", dataset.ErrParam, o.Quality)
	}
	if suffixes[o.Task] == "" {
		return fmt.Errorf("%w: task %q, want instance, semantic, polygon or color", dataset.ErrParam, o.Task)
	}
	return files.Usage(o.Usage, slices.Concat(usages[o.Quality], []string{"all"})...)
}

// Open lists the images.
func (o *Cityscapes) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("cityscapes: %w", err)
	}
	parts := []string{o.Usage}
	if o.Usage == "all" {
		parts = usages[o.Quality]
	}
	return imagelist.Data(format.Open(ctx, s, o.Dir, func(l *imagelist.List) error {
		for _, part := range parts {
			if err := o.list(ctx, l, part); err != nil {
				return err
			}
		}
		return nil
	}))
}

const imageSuffix = "_leftImg8bit"

func (o *Cityscapes) list(ctx context.Context, l *imagelist.List, part string) error {
	images := "leftImg8bit/" + part + "/"
	cities, err := l.Folders(ctx, images)
	if err != nil {
		return err
	}
	for _, city := range cities {
		names, err := l.FilesIn(ctx, images+city)
		if err != nil {
			return err
		}
		for _, name := range names {
			id, _, ok := strings.Cut(name, imageSuffix)
			if !ok {
				return fmt.Errorf("%w: file %q in %s, want names with %s", dataset.ErrData, name, store.Redact(store.Join(l.Dir, images+city)), imageSuffix)
			}
			gt := folders[o.Quality]
			if err := l.Add([]string{images + city + "/" + name, gt + "/" + part + "/" + city + "/" + id + "_" + gt + "_" + suffixes[o.Task]}); err != nil {
				return err
			}
		}
	}
	return nil
}
