// Package caltech101 reads the dataset Caltech 101: photos of 101 classes, with
// the outlines of the objects. Columns: image, and category and annotation as
// wanted. Reference: torchvision's Caltech101 and MindSpore's
// Caltech101Dataset.
package caltech101

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

// Caltech101 reads 101_ObjectCategories/CLASS/image_0001.jpg and so on, and
// Annotations/CLASS/annotation_0001.mat. Classes are numbered from 0 in the
// byte order of their folders' names. BACKGROUND_Google is no class.
//
// Columns: image (bytes: the file), category (int32 scalar: the class),
// annotation (float64 (2, n): x and y of the n points of the outline). Reading
// an annotation allocates memory for its file.
//
// Reference: torchvision 0.29.2's Caltech101 with target types category and
// annotation, and MindSpore 2.10.0's Caltech101Dataset, have the same images,
// order and values. Both take image 1 to n of a folder with n entries, and so
// does this source; an image that the numbering skips is an error of its row.
// Here only folders are classes, and only files are counted.
type Caltech101 struct {
	Dir string `json:"dir"` // torchvision's ROOT/caltech101
	// Target is category, annotation or all, as MindSpore's target_type.
	// Default category.
	Target string `json:"target"`
}

func init() {
	dataset.Register(dataset.Info{Name: "caltech101", Version: 1, New: func() dataset.Node { return New("") }, Doc: "Caltech 101: photos of 101 classes, with outlines if wanted"})
}

// New returns a source of the images with their classes.
func New(dir string) *Caltech101 { return &Caltech101{dir, "category"} }

// Validate checks the target.
func (o *Caltech101) Validate() error {
	switch o.Target {
	case "category", "annotation", "all":
		return nil
	}
	return fmt.Errorf("%w: target %q, want category, annotation or all", dataset.ErrParam, o.Target)
}

// annotated maps class folders to those of Annotations, where they differ.
var annotated = map[string]string{
	"Faces": "Faces_2", "Faces_easy": "Faces_3", "Motorbikes": "Motorbikes_16", "airplanes": "Airplanes_Side_2",
}

// Open lists the files.
func (o *Caltech101) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	f := imagelist.Format{Package: "caltech101", Files: []string{"image"}, Numbers: []string{"category"}}
	if o.Target == "annotation" {
		f.Numbers, f.NoLabel = nil, true
	}
	l, err := f.Open(ctx, s, o.Dir, func(l *imagelist.List) error { return list(ctx, l) })
	if err != nil {
		return nil, err
	}
	if o.Target == "category" {
		return l, nil
	}
	return &outlined{l}, nil
}

const images = "101_ObjectCategories"

func list(ctx context.Context, l *imagelist.List) error {
	folders, err := l.Folders(ctx, images)
	if err != nil {
		return err
	}
	l.Classes = map[string]int32{}
	for _, class := range folders {
		if class == "BACKGROUND_Google" {
			continue
		}
		n := int32(len(l.Classes))
		l.Classes[class] = n
		names, err := l.FilesIn(ctx, images+"/"+class)
		if err != nil {
			return err
		}
		for i := range names {
			if err := l.Add([]string{fmt.Sprintf("%s/%s/image_%04d.jpg", images, class, i+1)}, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// outlined is a list with the column annotation.
type outlined struct{ *imagelist.List }

// maxMat exceeds the size of an annotation, a kilobyte.
const maxMat = 1 << 20

func outline(n int) tensor.Desc { return tensor.Desc{DType: tensor.Float64, Shape: tensor.Dims(2, n)} }

func (d *outlined) Columns() []dataset.Column {
	return append(d.List.Columns(), dataset.Column{Name: "annotation", Desc: outline(tensor.Unknown)})
}

// annotation returns the name of the file with a row's outline.
func (d *outlined) annotation(i int64) string {
	e := strings.Split(d.Paths(i)[0], "/")
	class, name := e[1], strings.TrimPrefix(e[2], "image_")
	if a, ok := annotated[class]; ok {
		class = a
	}
	return store.Join(d.Dir, "Annotations/"+class+"/annotation_"+strings.TrimSuffix(name, ".jpg")+".mat")
}

func (d *outlined) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	if err := d.List.Read(ctx, i, s); err != nil {
		return err
	}
	name := d.annotation(i)
	arrays, err := matfile.Open(ctx, d.Folder, name, maxMat)
	if err != nil {
		return fmt.Errorf("caltech101: %w", err)
	}
	points, err := contour(arrays)
	if err != nil {
		return fmt.Errorf("caltech101: %w: %s: %w", dataset.ErrData, store.Redact(name), err)
	}
	v := &s.Values[len(s.Values)-1]
	n := len(points) / 2
	if err := v.Reset(outline(n)); err != nil {
		return err
	}
	out := tensor.View[float64](&v.Tensor)
	for k := range n { // the file has the points one after the other
		out[k], out[n+k] = points[2*k], points[2*k+1]
	}
	return nil
}

func contour(arrays matfile.Arrays) ([]float64, error) {
	a, err := arrays.Get("obj_contour")
	if err != nil {
		return nil, err
	}
	if len(a.Dims) != 2 || a.Dims[0] != 2 || a.Dims[1] == 0 {
		return nil, fmt.Errorf("obj_contour of sizes %v, want 2 x n", a.Dims)
	}
	return a.Floats()
}

func (d *outlined) Stamp(ctx context.Context, i int64, b []byte) ([]byte, error) {
	b, err := d.List.Stamp(ctx, i, b)
	if err != nil {
		return nil, err
	}
	if b, err = files.Stamp(ctx, d.Folder, b, d.annotation(i)); err != nil {
		return nil, fmt.Errorf("caltech101: %w", err)
	}
	return b, nil
}
