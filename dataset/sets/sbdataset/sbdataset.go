// Package sbdataset reads the Semantic Boundaries Dataset: photos with
// boundaries or segmentations of 20 classes in MATLAB files. Columns: image,
// task. Reference: MindSpore's SBDataset and torchvision's.
package sbdataset

import (
	"context"
	"fmt"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/imagelist"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/matfile"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// SBDataset reads the images img/ID.jpg that a list names, one id a line, with
// the annotations cls/ID.mat.
//
// Columns: image (bytes: the file), task (uint8). task is (20, height, width)
// for boundaries: 1 on a boundary of the class, else 0. It is (height, width)
// for segmentation: the class from 1, or 0 for the background. An annotation
// has 16 MiB at most and 4,194,304 pixels; photos have 250,000.
//
// Reference: MindSpore 2.10.0's SBDataset has the same rows. Its default usage
// is all. torchvision 0.29.2's SBDataset has the same images, order and values.
// It has no usage all, and its segmentation is an image.
type SBDataset struct {
	Dir string `json:"dir"` // folder with img, cls and the lists
	// Usage is train, val, train_noval (train without the images of VOC 2012's
	// val) or all, which is train followed by val. Default train.
	Usage string `json:"usage"`
	// Task is boundaries or segmentation. Default boundaries.
	Task string `json:"task"`
}

func init() {
	dataset.Register(dataset.Info{Name: "sb_dataset", Version: 1, New: func() dataset.Node { return New("") }, Doc: "Semantic Boundaries Dataset: photos with boundaries or segmentations of 20 classes"})
}

// New returns a source of the training images with boundaries.
func New(dir string) *SBDataset { return &SBDataset{dir, "train", "boundaries"} }

// Validate checks the usage and the task.
func (o *SBDataset) Validate() error {
	if o.Task != "boundaries" && o.Task != "segmentation" {
		return fmt.Errorf("%w: task %q, want boundaries or segmentation", dataset.ErrParam, o.Task)
	}
	return files.Usage(o.Usage, "train", "val", "train_noval", "all")
}

const classes = 20

// Limits of an annotation.
const (
	maxMat    = 16 << 20
	maxPixels = 1 << 22
)

// Open reads the list.
func (o *SBDataset) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	lists := []string{o.Usage}
	if o.Usage == "all" {
		lists = []string{"train", "val"}
	}
	f := imagelist.Format{Package: "sbdataset", Files: []string{"image"}}
	l, err := f.Open(ctx, s, o.Dir, func(l *imagelist.List) error {
		for _, name := range lists {
			if err := l.Lines(ctx, name+".txt", func(id string) error { return l.AddKey(id, []string{"img/" + id + ".jpg"}) }); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &rows{l, o.Task == "boundaries"}, nil
}

type rows struct {
	list       *imagelist.List
	boundaries bool
}

func (d *rows) target(h, w int) tensor.Desc {
	if d.boundaries {
		return tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(classes, h, w)}
	}
	return tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(h, w)}
}

func (d *rows) Columns() []dataset.Column {
	return append(d.list.Columns(), dataset.Column{Name: "task", Desc: d.target(tensor.Unknown, tensor.Unknown)})
}

func (d *rows) Len() int64 { return d.list.Len() }

// annotation returns the name of the file with a row's annotation.
func (d *rows) annotation(i int64) string {
	id := strings.TrimSuffix(strings.TrimPrefix(d.list.Paths(i)[0], "img/"), ".jpg")
	return store.Join(d.list.Dir, "cls/"+id+".mat")
}

func (d *rows) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	if err := d.list.Read(ctx, i, s); err != nil {
		return err
	}
	name := d.annotation(i)
	arrays, err := matfile.Open(ctx, d.list.Folder, name, maxMat)
	if err != nil {
		return fmt.Errorf("sbdataset: %w", err)
	}
	fill := d.segmentation
	if d.boundaries {
		fill = d.edges
	}
	if err := fill(arrays, &s.Values[1]); err != nil {
		return fmt.Errorf("sbdataset: %w: %s: %w", dataset.ErrData, store.Redact(name), err)
	}
	return nil
}

// field returns a field of the structure GTcls.
func field(arrays matfile.Arrays, name string) (*matfile.Array, error) {
	a, err := arrays.Get("GTcls")
	if err != nil {
		return nil, err
	}
	return a.Field(0, name)
}

// size returns the height and the width of a matrix of pixels.
func size(a *matfile.Array) (h, w int, err error) {
	if len(a.Dims) != 2 || a.Dims[0] < 1 || a.Dims[1] < 1 || a.Dims[0] > maxPixels/a.Dims[1] {
		return 0, 0, fmt.Errorf("a matrix of sizes %v, want height x width with 1 to %d pixels", a.Dims, maxPixels)
	}
	return a.Dims[0], a.Dims[1], nil
}

func (d *rows) segmentation(arrays matfile.Arrays, v *dataset.Value) error {
	a, err := field(arrays, "Segmentation")
	if err != nil {
		return err
	}
	h, w, err := size(a)
	if err != nil {
		return err
	}
	in, err := a.Bytes()
	if err != nil {
		return err
	}
	if err := v.Reset(d.target(h, w)); err != nil {
		return err
	}
	for y := range h {
		for x := range w {
			v.Data[y*w+x] = in[x*h+y]
		}
	}
	return nil
}

// edges reads the boundaries of the classes, a sparse matrix each.
func (d *rows) edges(arrays matfile.Arrays, v *dataset.Value) error {
	a, err := field(arrays, "Boundaries")
	if err != nil {
		return err
	}
	if len(a.Cells) != classes || len(a.Fields) > 0 {
		return fmt.Errorf("%d boundaries, want %d", len(a.Cells), classes)
	}
	h, w, err := size(a.Cells[0])
	if err != nil {
		return err
	}
	if err := v.Reset(d.target(h, w)); err != nil {
		return err
	}
	clear(v.Data)
	for c, m := range a.Cells {
		if len(m.Dims) != 2 || m.Dims[0] != h || m.Dims[1] != w {
			return fmt.Errorf("boundaries of class %d have sizes %v, want %d x %d as the first", c, m.Dims, h, w)
		}
		out, bad, wrong := v.Data[c*h*w:][:h*w], 0.0, false
		err := m.Sparse(func(row, col int, x float64) {
			if x != 0 && x != 1 { // also NaN
				bad, wrong = x, true
				return
			}
			out[row*w+col] = uint8(x)
		})
		if err != nil {
			return fmt.Errorf("boundaries of class %d: %w", c, err)
		}
		if wrong {
			return fmt.Errorf("boundaries of class %d have a %v, want 0 or 1", c, bad)
		}
	}
	return nil
}

// Stamp implements dataset.Stamped.
func (d *rows) Stamp(ctx context.Context, i int64, b []byte) ([]byte, error) {
	b, err := d.list.Stamp(ctx, i, b)
	if err != nil {
		return nil, err
	}
	if b, err = files.Stamp(ctx, d.list.Folder, b, d.annotation(i)); err != nil {
		return nil, fmt.Errorf("sbdataset: %w", err)
	}
	return b, nil
}

// Keys yields the ids of the images.
func (d *rows) Keys(yield func(string) bool) { d.list.Keys(yield) }

func (d *rows) Close() error { return d.list.Close() }
