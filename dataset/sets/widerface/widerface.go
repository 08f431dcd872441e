// Package widerface reads WIDER FACE: photos with boxes of faces. Columns:
// image, bbox, blur, expression, illumination, occlusion, pose, invalid.
// Reference: MindSpore's WIDERFaceDataset and torchvision's WIDERFace.
package widerface

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/imagelist"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// WIDERFace reads wider_face_split/wider_face_train_bbx_gt.txt and
// wider_face_val_bbx_gt.txt: for each image its path, the number of its faces,
// and a line of ten numbers for each face. An image without faces has one line
// of zeros, which is a row of every column, as in both references. Usage test
// reads wider_face_split/wider_face_test_filelist.txt. Images are
// WIDER_train/images/PATH, WIDER_val/images/PATH and WIDER_test/images/PATH.
// Rows have the order of the lists.
//
// Columns: image (bytes: the file); but for usage test bbox (int32 (n, 4):
// left, top, width, height in pixels), blur, expression, illumination,
// occlusion, pose, invalid (int32 (n)).
//
// Reference: torchvision 0.29.2's WIDERFace has the same rows in the same
// order; its numbers are int64, and it has no usage all. MindSpore 2.10.0's
// WIDERFaceDataset has the same rows, sorted by path but for usage test.
type WIDERFace struct {
	Dir string `json:"dir"` // folder with wider_face_split: torchvision's ROOT/widerface
	// Usage is train, valid, all, which is train followed by valid, or test.
	// Default train. torchvision calls valid val; MindSpore's default is all.
	Usage string `json:"usage"`
}

func init() {
	dataset.Register(dataset.Info{Name: "wider_face", Version: 1, New: func() dataset.Node { return New("") }, Doc: "WIDER FACE: photos with boxes of faces"})
}

// New returns a source of the training images.
func New(dir string) *WIDERFace { return &WIDERFace{dir, "train"} }

// Validate checks the usage.
func (o *WIDERFace) Validate() error { return files.Usage(o.Usage, "train", "valid", "all", "test") }

var (
	parts      = map[string][]string{"train": {"train"}, "valid": {"val"}, "all": {"train", "val"}}
	attributes = []string{"blur", "expression", "illumination", "occlusion", "pose", "invalid"}
)

const (
	box     = 4
	numbers = 10
)

// Open reads the lists.
func (o *WIDERFace) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	f := imagelist.Format{Package: "widerface", Files: []string{"image"}}
	if o.Usage != "test" {
		f.More = append(f.More, imagelist.ArrayColumn("bbox", tensor.Int32, box))
		for _, n := range attributes {
			f.More = append(f.More, imagelist.ArrayColumn(n, tensor.Int32))
		}
	}
	return imagelist.Data(f.Open(ctx, s, o.Dir, func(l *imagelist.List) error {
		if o.Usage == "test" {
			return l.Lines(ctx, "wider_face_split/wider_face_test_filelist.txt", func(line string) error {
				return l.Add([]string{"WIDER_test/images/" + line})
			})
		}
		for _, part := range parts[o.Usage] {
			name := "wider_face_split/wider_face_" + part + "_bbx_gt.txt"
			p := parser{l: l, folder: "WIDER_" + part + "/images/"}
			if err := l.Lines(ctx, name, p.line); err != nil {
				return err
			}
			if p.path != "" {
				return fmt.Errorf("%w: %s: the list ends within image %q", dataset.ErrData, store.Redact(store.Join(o.Dir, name)), p.path)
			}
		}
		return nil
	}))
}

// parser reads a list line by line.
type parser struct {
	l      *imagelist.List
	folder string

	path  string // of the image that is read
	faces int    // of this image that follow, or 0 before their number
	boxes []int32
	rest  [numbers - box][]int32
}

func (p *parser) line(line string) error {
	switch {
	case p.path == "":
		p.path = strings.Clone(line)
		return nil
	case p.faces == 0:
		n, err := imagelist.Int(line, "number of faces", imagelist.MaxMore/numbers)
		p.faces = max(int(n), 1)
		return err
	}
	e := strings.Fields(line)
	if len(e) != numbers {
		return fmt.Errorf("%d numbers, want %d", len(e), numbers)
	}
	for i, s := range e {
		n, err := strconv.ParseInt(s, 10, 32)
		if err != nil {
			return fmt.Errorf("number %d is %.80q, want %d to %d", i+1, s, math.MinInt32, math.MaxInt32)
		}
		if i < box {
			p.boxes = append(p.boxes, int32(n))
		} else {
			p.rest[i-box] = append(p.rest[i-box], int32(n))
		}
	}
	if p.faces--; p.faces > 0 {
		return nil
	}
	return p.add()
}

// add ends an image.
func (p *parser) add() error {
	t, err := imagelist.Array(p.boxes, box)
	if err != nil {
		return err
	}
	more := []tensor.Tensor{t}
	for _, v := range p.rest {
		if t, err = imagelist.Array(v); err != nil {
			return err
		}
		more = append(more, t)
	}
	path := p.folder + p.path
	*p = parser{l: p.l, folder: p.folder}
	return p.l.AddMore([]string{path}, more)
}
