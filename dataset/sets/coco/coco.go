// Package coco reads a folder of images with a COCO annotation file. Columns:
// image, and the annotations of one of five tasks. Reference: MindSpore's
// CocoDataset, and torchvision's CocoDetection and CocoCaptions.
package coco

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// Task selects the annotations of a sample.
type Task string

// The tasks. All have the column image (bytes: the file). The other columns
// have the image's n annotations in the order of the file. MindSpore names the
// tasks Detection, Keypoint, Stuff, Panoptic and Captioning.
const (
	// Detection has bbox (float32, n x 4: left, top, width, height in pixels),
	// category_id and iscrowd (int64, n x 1).
	Detection Task = "detection"
	// Keypoints has keypoints (float32, n x k: x, y, visibility of each point;
	// padded with -1) and num_keypoints (int64, n x 1).
	Keypoints Task = "keypoints"
	// Segmentation has segmentation (float32, m x k, padded with -1) and
	// iscrowd (int64, n x 1). An annotation has one row per polygon (x, y, x,
	// y, …). If it is run-length encoded, it has one row of counts (pixels
	// outside and inside, alternately, column by column). So m may differ from
	// n. Counts beyond 2^24 are rounded.
	Segmentation Task = "segmentation"
	// Panoptic has bbox, category_id and iscrowd as Detection, for the image's
	// segments, and area (int64, n x 1: in whole pixels).
	Panoptic Task = "panoptic"
	// Captioning has captions (bytes: the captions of the image with a newline
	// between two; a line break within a caption is a space).
	Captioning Task = "captioning"
)

// Coco reads a folder of images and an annotation file in the format of the
// COCO dataset. Images have the order of the file's list. Images without
// annotations (for Segmentation: without a polygon or count) are ignored. The
// annotation file is read as a stream; the annotations of the task stay in
// memory, about 60 bytes for each box. An image outside the folder is an error
// of its row; store.AllowOutside permits it.
//
// ClassIndex maps the categories' names to their ids if the ids fit an int32.
// If several categories have one name, the last one counts.
//
// Reference: MindSpore 2.10.0's CocoDataset has the same images, order, values
// and shapes; its uint32 are int64 here. These differences are intended:
//
//   - Several images with one file name stay separate.
//   - A repeated image id, a bbox without exactly four numbers, an id with a
//     fraction and a repeated key are errors.
//   - iscrowd is optional in every task.
//   - Run-length encodings are read whatever iscrowd is, also compressed ones.
//     MindSpore refuses compressed ones, and splits plain ones with iscrowd 0
//     into two rows, counts and size.
//
// torchvision's CocoDetection and CocoCaptions order images by id and keep
// those without annotations. The annotations of an image are the same, in the
// same order.
type Coco struct {
	Dir         string `json:"dir"`         // folder of the images
	Annotations string `json:"annotations"` // the JSON file
	Task        Task   `json:"task"`        // default detection
}

func init() {
	dataset.Register(dataset.Info{
		Name: "coco", Version: 1, New: func() dataset.Node { return New("", "") },
		Doc: "a folder of images with a COCO annotation file: boxes, keypoints, outlines, panoptic segments or captions",
	})
}

// New returns a source for detection.
func New(dir, annotations string) *Coco {
	return &Coco{Dir: dir, Annotations: annotations, Task: Detection}
}

// Validate requires a known task.
func (o *Coco) Validate() error {
	switch o.Task {
	case Detection, Keypoints, Segmentation, Panoptic, Captioning:
		return nil
	}
	return fmt.Errorf("%w: task %q, want detection, keypoints, segmentation, panoptic or captioning", dataset.ErrParam, o.Task)
}

// Open reads the annotations.
func (o *Coco) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("coco: %w", err)
	}
	f, err := files.OpenText(ctx, s, o.Annotations)
	if err != nil {
		return nil, fmt.Errorf("coco: %w", err)
	}
	d, err := parse(f, o.Task)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("coco: %s: %w", o.Annotations, err)
	}
	d.dir = o.Dir
	if d.folder, err = files.OpenFolder(ctx, s, o.Dir); err != nil {
		return nil, fmt.Errorf("coco: %w", err)
	}
	return d, nil
}

// rows is an opened file. Row i of each group belongs to image i.
type rows struct {
	folder  store.Folder
	dir     string
	task    Task
	names   []string
	classes map[string]int32

	// The vectors of image i are vectors.of(i); vector j is
	// numbers[ends[j-1]:ends[j]]. Its items are items.of(i), the indices into
	// each list of ints.
	vectors group
	numbers []float32
	ends    []int
	items   group
	ints    [3][]int64 // category_id, iscrowd, area; or num_keypoints; or iscrowd
	// captions of Captioning have empty vectors: caption j is that of vector j.
	captions []string
}

// group assigns the elements of a list to images, in the list's order.
type group struct {
	start []int // one entry per image, and the end
	which []int
}

func (g *group) of(i int64) []int { return g.which[g.start[i]:g.start[i+1]] }

// grouped groups a list of image numbers.
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

// kind lists a task's columns after the image: a matrix of numbers, and columns
// of integers.
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
	}
	if d.task == Captioning {
		return append(c, dataset.Column{Name: "captions", Desc: tensor.Encoded()})
	}
	c = append(c, dataset.Column{Name: k.matrix, Desc: tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(tensor.Unknown, k.width)}})
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

func (d *rows) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	if err := files.Check(ctx, i, d.Len()); err != nil {
		return err
	}
	s.Key = d.names[i]
	if err := files.Read(ctx, d.folder, s.Column("image"), store.Join(d.dir, d.names[i])); err != nil {
		return err
	}
	vectors := d.vectors.of(i)
	if d.task == Captioning {
		d.text(s.Column("captions"), vectors)
		return nil
	}
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

// textLen returns the length of captions with a newline between two.
func (d *rows) textLen(captions []int) (n int64) {
	n = int64(len(captions)) - 1
	for _, j := range captions {
		n += int64(len(d.captions[j]))
	}
	return n
}

// text makes v the captions with a newline between two.
func (d *rows) text(v *dataset.Value, captions []int) {
	b := v.Bytes(int(d.textLen(captions)))[:0]
	for k, j := range captions {
		if k > 0 {
			b = append(b, '\n')
		}
		b = append(b, d.captions[j]...)
	}
}

// Stamp implements dataset.Stamped.
func (d *rows) Stamp(ctx context.Context, i int64, b []byte) ([]byte, error) {
	if err := files.Check(ctx, i, d.Len()); err != nil {
		return nil, err
	}
	return files.Stamp(ctx, d.folder, b, store.Join(d.dir, d.names[i]))
}

// width returns the length of the longest vector.
func (d *rows) width(vectors []int) (w int) {
	for _, j := range vectors {
		w = max(w, len(d.vector(j)))
	}
	return w
}

// Keys yields the names of the images.
func (d *rows) Keys(yield func(string) bool) { files.EachKey(d.names, yield) }

func (d *rows) ClassIndex() map[string]int32 { return d.classes }

func (d *rows) Close() error { return d.folder.Close() }
