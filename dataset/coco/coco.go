// Package coco is the dataset of a folder of images with a COCO annotation file.
package coco

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// Task says which annotations a sample has.
type Task string

// The tasks. All have the column image (bytes: the file). With n annotations of
// the image, in the file's order, the other columns are these. MindSpore's names
// of the tasks are Detection, Keypoint, Stuff and Panoptic.
const (
	// Detection has bbox (float32, n x 4: left, top, width, height in pixels),
	// category_id and iscrowd (int64, n x 1).
	Detection Task = "detection"
	// Keypoints has keypoints (float32, n x k: x, y, visibility of each point;
	// filled up with -1) and num_keypoints (int64, n x 1).
	Keypoints Task = "keypoints"
	// Segmentation has segmentation (float32, m x k, filled up with -1) and iscrowd
	// (int64, n x 1). An annotation has a row for each polygon (x, y, x, y, …), or
	// one row of the counts of its run-length encoding (pixels outside and inside,
	// alternately, column by column). So m may differ from n. Counts beyond
	// 2^24 are rounded.
	Segmentation Task = "segmentation"
	// Panoptic has bbox, category_id and iscrowd as Detection, of the image's
	// segments, and area (int64, n x 1: in pixels, without a fraction).
	Panoptic Task = "panoptic"
)

// Coco is a folder of images and a file of annotations in the format of the COCO
// dataset. Images are in the order of the file's list; those without annotations
// (for Segmentation: without a polygon or count) are left out. All of the annotations
// that the task needs are in memory, about 60 bytes for each box; the file is read as a stream.
//
// ClassIndex maps the categories' names to their ids, the last one of a name, if the ids fit.
//
// Reference: MindSpore 2.10.0's CocoDataset: the same images, order, values and
// shapes; its uint32 are int64 here. Unlike it, several images of one file name
// stay apart; an image id that is there twice, a bbox of other than four numbers,
// an id with a fraction and keys that are there twice are errors; iscrowd may be missing in every
// task; run-length encodings are read whatever iscrowd is, compressed ones too, which
// MindSpore refuses (of plain ones with iscrowd 0 it makes two rows, counts and size).
// torchvision's CocoDetection orders images by id and keeps those without
// annotations; the annotations of an image are the same, in the same order.
type Coco struct {
	Dir         string `json:"dir"`         // of the images
	Annotations string `json:"annotations"` // the JSON file
	Task        Task   `json:"task"`        // usually detection
}

func init() {
	dataset.Register(dataset.Info{
		Name: "coco", Version: 1, New: func() dataset.Node { return New("", "") },
		Doc: "a folder of images with a COCO annotation file: boxes, keypoints, outlines or panoptic segments",
	})
}

// New makes the source for detection.
func New(dir, annotations string) *Coco {
	return &Coco{Dir: dir, Annotations: annotations, Task: Detection}
}

// Validate wants one of the tasks.
func (o *Coco) Validate() error {
	switch o.Task {
	case Detection, Keypoints, Segmentation, Panoptic:
		return nil
	}
	return fmt.Errorf("%w: task %q, want detection, keypoints, segmentation or panoptic", dataset.ErrParam, o.Task)
}

// Open reads the annotations.
func (o *Coco) Open(context.Context, store.Opener) (dataset.Data, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("coco: %w", err)
	}
	f, err := os.Open(o.Annotations)
	if err != nil {
		return nil, fmt.Errorf("coco: %w", err)
	}
	defer f.Close()
	d, err := parse(f, o.Task)
	if err != nil {
		return nil, fmt.Errorf("coco: %s: %w", o.Annotations, err)
	}
	d.dir = o.Dir
	return d, nil
}

// rows is an opened file. Row i of matrices is image i's.
type rows struct {
	dir     string
	task    Task
	names   []string
	classes map[string]int32

	// The numbers of image i are vectors at[i] to at[i+1], vector j of which is
	// numbers[ends[j-1]:ends[j]], and its items are columns of at2[i] to at2[i+1].
	vectors group
	numbers []float32
	ends    []int
	items   group
	ints    [3][]int64 // category_id, iscrowd, area; or num_keypoints; or iscrowd
}

// group is which of a list's elements are of each image, in the list's order.
type group struct {
	start []int // and of one image more
	which []int
}

func (g *group) of(i int64) []int { return g.which[g.start[i]:g.start[i+1]] }

// grouped sorts a list of image numbers.
func grouped(images []int, n int) group {
	g := group{make([]int, n+1), make([]int, len(images))}
	for _, i := range images {
		g.start[i+1]++
	}
	for i := range n {
		g.start[i+1] += g.start[i]
	}
	next := slices.Clone(g.start)
	for k, i := range images {
		g.which[next[i]] = k
		next[i]++
	}
	return g
}

// kind is what a task has beside the image: a matrix of numbers and columns of integers.
type kind struct {
	matrix string
	width  int
	items  []string
}

var kinds = map[Task]kind{
	Detection:    {"bbox", 4, []string{"category_id", "iscrowd"}},
	Keypoints:    {"keypoints", tensor.Unknown, []string{"num_keypoints"}},
	Segmentation: {"segmentation", tensor.Unknown, []string{"iscrowd"}},
	Panoptic:     {"bbox", 4, []string{"category_id", "iscrowd", "area"}},
}

func (d *rows) Columns() []dataset.Column {
	k := kinds[d.task]
	c := []dataset.Column{
		{Name: "image", Desc: tensor.Encoded()},
		{Name: k.matrix, Desc: tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(tensor.Unknown, k.width)}},
	}
	for _, n := range k.items {
		c = append(c, dataset.Column{Name: n, Desc: tensor.Desc{DType: tensor.Int64, Shape: tensor.Dims(tensor.Unknown, 1)}})
	}
	return c
}

func (d *rows) Len() int64 { return int64(len(d.names)) }

func (d *rows) vector(j int) []float32 {
	if j == 0 {
		return d.numbers[:d.ends[0]]
	}
	return d.numbers[d.ends[j-1]:d.ends[j]]
}

func (d *rows) Read(_ context.Context, i int64, s *dataset.Sample) error {
	if err := files.Index(i, d.Len()); err != nil {
		return err
	}
	s.Key = d.names[i]
	if err := files.Read(&s.Values[0], d.dir, d.names[i]); err != nil {
		return err
	}
	vectors := d.vectors.of(i)
	width := d.width(vectors)
	v := &s.Values[1]
	if err := v.Reset(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(len(vectors), width)}); err != nil {
		return err
	}
	to := tensor.View[float32](&v.Tensor)
	for _, j := range vectors {
		n := copy(to, d.vector(j))
		for ; n < width; n++ {
			to[n] = -1
		}
		to = to[width:]
	}
	items := d.items.of(i)
	for k := range s.Values[2:] {
		v := &s.Values[2+k]
		if err := v.Reset(tensor.Desc{DType: tensor.Int64, Shape: tensor.Dims(len(items), 1)}); err != nil {
			return err
		}
		to := tensor.View[int64](&v.Tensor)
		for n, j := range items {
			to[n] = d.ints[k][j]
		}
	}
	return nil
}

// width is the length of the longest of vectors.
func (d *rows) width(vectors []int) (w int) {
	for _, j := range vectors {
		w = max(w, len(d.vector(j)))
	}
	return w
}

func (d *rows) ClassIndex() map[string]int32 { return d.classes }

func (d *rows) Close() error { return nil }
