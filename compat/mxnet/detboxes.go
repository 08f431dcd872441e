package mxnet

import (
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// boxColumn is the column of the boxes that move with an image. It has a row
// for each object that a label has room for. A row without an object, or with
// one that a crop has ejected, has no area.
const boxColumn = "boxes"

// movedColumn is the column of the boxes after all moves.
const movedColumn = "moved"

// detLabel describes the column of labels: rows of objects, or the label of
// ImageDetRecordIter.
type detLabel struct {
	desc    tensor.Desc
	objects int     // at most
	record  bool    // the label of ImageDetRecordIter
	pad     float32 // follows the last object
	// filtered leaves out images whose objects have negative classes.
	filtered bool
}

// rows returns the objects of a label and their number of fields. They may be
// fewer than l.objects.
func (l *detLabel) rows(label []float32) (rows []float32, width int) {
	if !l.record {
		return label, l.desc.Shape.At(1)
	}
	b, err := parseBoxes(label[4:][:int(label[3])])
	if err != nil { // the header alone: no object
		return nil, 1
	}
	return b.objects, b.width
}

// move adds the steps of add to the graph. They move the boxes of the label,
// which the graph then returns as a column.
func (l *detLabel) move(g *datagraph.Graph, add func()) {
	g.Inputs = append(g.Inputs, datagraph.Column{Name: "label", Desc: l.desc})
	g.Outputs = append(g.Outputs, "label", movedColumn)
	g.Roles = []datagraph.ColumnRole{{Column: boxColumn, Image: datagraph.Image, Role: transforms.Role{
		Kind: transforms.RoleBoxes, Format: transforms.CoordRelative, Clamping: transforms.ClampNone,
	}}}
	g.Then(&readBoxes{l}, []string{"label"}, []string{boxColumn})
	add()
	g.Then(transforms.NewProjectBoxes(), []string{boxColumn}, []string{movedColumn})
}

// each adds the step that writes the moved boxes into the label.
func (l *detLabel) each(d *dataset.Dataset) *dataset.Dataset {
	d = d.MapFunc(l.writeBoxes, []string{"label", movedColumn}, dataset.Column{Name: "label", Desc: l.desc})
	if l.filtered {
		d = d.Filter(hasClass, "label")
	}
	return d
}

// addObjectDrawn adds a random op whose numbers have the name path. It reads
// the boxes.
func addObjectDrawn(g *datagraph.Graph, op transforms.Op, path string) {
	g.Steps = append(g.Steps, datagraph.Step{
		Op: op, In: []string{datagraph.Image, boxColumn}, Out: []string{datagraph.Image}, Moves: []string{boxColumn}, Path: path,
	})
}

// readBoxes returns the boxes of a label.
type readBoxes struct{ *detLabel }

// Info names the op: graphs cannot hold it.
func (*readBoxes) Info() transforms.Info { return transforms.Info{Name: "read_boxes"} }

func (o *readBoxes) Validate() error { return nil }

func (o *readBoxes) Infer(dst, _ []tensor.Desc) error {
	dst[0] = tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(o.objects, 4)}
	return nil
}

func (o *readBoxes) Apply(c *transforms.Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	to := tensor.View[float32](dst[0])
	rows, width := o.rows(tensor.View[float32](s))
	for ; len(rows) > 0 && len(to) > 0; rows, to = rows[width:], to[4:] {
		copy(to, rows[1:5])
	}
	clear(to)
	return nil
}

// writeBoxes puts the moved boxes into a label. It drops the objects whose box
// has no area.
func (l *detLabel) writeBoxes(_ *dataset.Call, dst []*dataset.Value, src []*tensor.Tensor) error {
	if err := dst[0].Reset(l.desc); err != nil {
		return err
	}
	from, boxes, to := tensor.View[float32](src[0]), tensor.View[float32](src[1]), tensor.View[float32](&dst[0].Tensor)
	rows, width := l.rows(from)
	k := 0
	if l.record {
		k = 4 + int(from[3]) - len(rows)
		copy(to, from[:k])
	}
	for ; len(rows) > 0; rows, boxes = rows[width:], boxes[4:] {
		if boxes[2] > boxes[0] && boxes[3] > boxes[1] {
			copy(to[k:], rows[:width])
			copy(to[k+1:], boxes[:4])
			k += width
		}
	}
	if l.record {
		to[3] = float32(k - 4)
	}
	for ; k < len(to); k++ {
		to[k] = l.pad
	}
	return nil
}

// hasClass reports whether a label of ImageDetIter has an object whose class is
// not negative.
func hasClass(_ *dataset.Call, src []*tensor.Tensor) (bool, error) {
	width := src[0].Shape.At(1)
	for l := tensor.View[float32](src[0]); len(l) > 0; l = l[width:] {
		if l[0] >= 0 && l[3] > l[1] && l[4] > l[2] {
			return true, nil
		}
	}
	return false, nil
}
