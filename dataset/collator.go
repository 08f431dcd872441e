package dataset

import (
	"errors"
	"fmt"
	"math"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
)

// collator stacks samples.
type collator struct {
	columns  []collated
	needsAll bool             // sizes depend on all samples of a batch
	list     []*tensor.Tensor // one column of a batch
	path     string           // of the node
	most     int64            // bytes of a batch, 0 for no limit
}

type collated struct {
	name   string
	desc   tensor.Desc // of a stacked value
	padded bool
	shape  []int
	value  float64
	rule   datagraph.Batching // of the graph; zero if it has no effect
}

func newCollator(in *step, pad []PadColumn) (*collator, error) {
	c := &collator{}
	for _, col := range in.columns {
		if col.Desc.DType == tensor.Bytes {
			return nil, defErr("column %q is bytes, which cannot be stacked: decode it, or drop it with Project", col.Name)
		}
		if col.Desc.Shape.Rank() == tensor.MaxRank {
			return nil, defErr("column %q has %d axes, want fewer", col.Name, tensor.MaxRank)
		}
		d := col.Desc
		d.Layout = tensor.NoLayout
		x := collated{name: col.Name, desc: d}
		// Padding has no effect on values of one size.
		if r := col.Batch.Rule; !r.Stacks() || r == datagraph.BatchPad && !d.Shape.Known() {
			x.rule = col.Batch
		}
		c.columns = append(c.columns, x)
	}
	for _, p := range pad {
		i, err := in.column(p.Column)
		if err != nil {
			return nil, err
		}
		x := &c.columns[i]
		if len(p.Shape) != x.desc.Shape.Rank() {
			return nil, defErr("column %q is %v, padded to %v: want a size for each axis", p.Column, x.desc, p.Shape)
		}
		x.padded, x.shape, x.value, x.rule = true, p.Shape, p.Value, datagraph.Batching{}
		for a, n := range p.Shape {
			x.desc.Shape = x.desc.Shape.With(a, n)
			c.needsAll = c.needsAll || n == -1
		}
	}
	for i := range c.columns {
		x := &c.columns[i]
		if x.rule == (datagraph.Batching{}) {
			continue
		}
		c.needsAll = true
		if x.rule.Rule == datagraph.BatchConcat && x.desc.Shape.Rank() == 0 {
			return nil, defErr("column %q is %v, want a first axis to concatenate", x.name, x.desc)
		}
	}
	return c, nil
}

// collator returns a copy of a node's collator for an iterator.
func (o *opener) collator(s *step, c *collator) *collator {
	d := c.clone()
	d.path, d.most = s.path, o.bytes
	return d
}

func (c *collator) clone() *collator {
	d := *c
	d.columns = append([]collated(nil), c.columns...)
	d.list = nil
	return &d
}

// columnsOf returns the columns of batches of n samples.
func (c *collator) columnsOf(n int) ([]Column, error) {
	var l []Column
	for _, x := range c.columns {
		d, ok := batched(x.desc, n)
		if !x.rule.Rule.Stacks() {
			d, ok = x.desc, true
			d.Shape = d.Shape.With(0, tensor.Unknown)
		}
		if !ok {
			return nil, defErr("column %q cannot be stacked", x.name)
		}
		l = append(l, Column{Name: x.name, Desc: d})
	}
	return l, nil
}

// put stacks x as sample i of a batch of up to most samples.
func (c *collator) put(s *Sample, x *Sample, i, most int) error {
	if i == 0 && c.most > 0 {
		n := int64(0)
		for j := range c.columns {
			d := x.Values[j].Desc
			if c.columns[j].padded {
				d = c.columns[j].desc
			}
			d.Layout = tensor.NoLayout
			// Size is at most 1<<62, or -1 for more.
			size := d.Size()
			if size < 0 && d.Shape.Known() || size > 0 && int64(most) > (math.MaxInt64-n)/size {
				return c.tooLarge(most, math.MaxInt64)
			}
			n += max(size, 0) * int64(most)
		}
		if n > c.most {
			return c.tooLarge(most, n)
		}
	}
	s.Resize(len(c.columns))
	for j := range c.columns {
		col := &c.columns[j]
		v, o := &s.Values[j], &x.Values[j]
		if col.rule != (datagraph.Batching{}) {
			continue // stack does it
		}
		if i == 0 {
			d := tensor.Desc{DType: o.DType, Shape: o.Shape}
			if col.padded {
				d = col.desc
			}
			b, ok := batched(d, most)
			if !ok {
				return defErr("column %q: %v cannot be stacked", col.name, d)
			}
			if err := v.Reset(b); err != nil {
				return err
			}
		}
		size := int(v.Size()) / most
		to := tensor.Tensor{Desc: tensor.Desc{DType: v.DType, Shape: elementShape(v.Shape)}, Data: v.Data[i*size:][:size]}
		if err := putInto(&to, &o.Tensor, col); err != nil {
			return fmt.Errorf("column %q: %w", col.name, err)
		}
	}
	return nil
}

// elementShape returns a shape without its first axis.
func elementShape(s tensor.Shape) (r tensor.Shape) {
	for i := 1; i < s.Rank(); i++ {
		r = r.Append(s.At(i))
	}
	return r
}

// putInto writes a value into its place in the batch, padded if necessary.
func putInto(to, from *tensor.Tensor, col *collated) error {
	if from.DType != to.DType || from.Shape.Rank() != to.Shape.Rank() {
		return defErr("%v in a batch of %v, want the type and axes of the batch", from.Desc, to.Desc)
	}
	if from.Shape == to.Shape && from.Dense() {
		copy(to.Data, from.Data)
		return nil
	}
	if from.Shape != to.Shape && !col.padded {
		return defErr("%v in a batch of %v: sizes differ; set Pad", from.Desc, to.Desc)
	}
	for a := range to.Shape.Rank() {
		if from.Shape.At(a) > to.Shape.At(a) {
			return defErr("%v, want at most its padded size %v", from.Desc, to.Desc)
		}
	}
	if err := to.Reset(to.Desc); err != nil {
		return err
	}
	return from.CopyPadded(to, col.value)
}

// finish makes s a batch of n samples.
func (c *collator) finish(s *Sample, n int) error {
	for j := range s.Values {
		v := &s.Values[j]
		if v.Shape.At(0) == n {
			continue
		}
		t, err := v.Tensor.Slice(0, 0, n)
		if err != nil {
			return err
		}
		v.Tensor = *t
	}
	return nil
}

// stack stacks samples, after it has computed the padded sizes.
func (c *collator) stack(s *Sample, l []*Sample) error {
	s.identity(l[0])
	for j := range c.columns {
		col := &c.columns[j]
		if !col.padded {
			continue
		}
		for a, n := range col.shape {
			if n != -1 {
				continue
			}
			for _, x := range l {
				if x.Values[j].Shape.Rank() != len(col.shape) {
					return defErr("column %q: %v padded to %v: want a size for each axis", col.name, x.Values[j].Desc, col.shape)
				}
				n = max(n, x.Values[j].Shape.At(a))
			}
			col.desc.Shape = col.desc.Shape.With(a, n)
		}
	}
	for i, x := range l {
		if err := c.put(s, x, i, len(l)); err != nil {
			return err
		}
	}
	return c.byRules(s, l)
}

// byRules forms the batches of the columns that have a rule.
func (c *collator) byRules(s *Sample, l []*Sample) error {
	for j := range c.columns {
		col := &c.columns[j]
		if col.rule == (datagraph.Batching{}) {
			continue
		}
		c.list = c.list[:0]
		for _, x := range l {
			c.list = append(c.list, &x.Values[j].Tensor)
		}
		d, err := col.rule.Shape(c.list)
		if err == nil {
			if err = s.Values[j].Reset(d); err == nil {
				err = col.rule.Fill(&s.Values[j].Tensor, c.list)
			}
		}
		if err != nil {
			return defErr("column %q: %v", col.name, err)
		}
	}
	return nil
}

// stackOr stacks samples. failed decides about a batch that cannot be stacked,
// unless it is too large: that ends the run.
func stackOr(c *collator, s *Sample, l []*Sample, failed func(*Sample, error) error) error {
	err := c.stack(s, l)
	if err == nil || errors.Is(err, errBatchBytes) {
		return err
	}
	return failed(s, err)
}

// errBatchBytes reports samples above the engine's limit for a batch.
var errBatchBytes = errors.New("the batch is too large")

// tooLarge returns the error of n samples that take so many bytes.
func (c *collator) tooLarge(n int, bytes int64) error {
	return &NodeError{c.path, fmt.Errorf("%w: %d samples of %d bytes together, want at most %d: make smaller batches, or allow more (--bytes, BatchBytes)", errBatchBytes, n, bytes, c.most)}
}
