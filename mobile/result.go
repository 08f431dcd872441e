package mobile

import (
	"fmt"
	"slices"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
)

// Result holds the tensors of a run. It is reused by passing it to another run,
// which replaces them.
type Result struct {
	outputs []output
	images  []int // of a Pipe: the number of each image
}

type output struct {
	desc tensor.Desc
	data []byte // in row-major order, native byte order
	own  []byte // memory for the next run
	into []byte // the caller's, which RunInto writes to; nil for none
}

// NewResult returns an empty Result.
func NewResult() *Result { return &Result{} }

// SetBuffer makes RunInto write output i into a Buffer, from its first byte on,
// in native byte order. A nil Buffer undoes that. An output that is larger than
// its Buffer is an error of RunInto.
func (r *Result) SetBuffer(i int, b *Buffer) (err error) {
	defer guard(&err)
	if r == nil {
		return errNull("result")
	}
	if i < 0 || i >= maxOutputs {
		return fmt.Errorf("mobile: result: output %d: %w: want 0 to %d", i, errInput, maxOutputs-1)
	}
	var into []byte
	if b != nil {
		if into, err = b.whole(); err != nil {
			return err
		}
	}
	r.grow(i + 1)
	r.outputs[i].into = into
	return nil
}

// maxOutputs bounds the list that SetBuffer grows. Graphs have a few outputs.
const maxOutputs = 1024

func (r *Result) grow(n int) {
	for len(r.outputs) < n {
		r.outputs = append(r.outputs, output{})
	}
}

// begin makes r a Result of n outputs without tensors.
func (r *Result) begin(n int) error {
	if len(r.outputs) > n {
		for i, o := range r.outputs[n:] {
			if o.into != nil {
				return fmt.Errorf("mobile: result: output %d has a buffer: %w: the graph has %d outputs", n+i, errInput, n)
			}
		}
		r.outputs = r.outputs[:n]
	}
	r.grow(n)
	r.images = r.images[:0]
	for i := range r.outputs {
		r.outputs[i].desc, r.outputs[i].data = tensor.Desc{}, nil
	}
	return nil
}

// copyFrom makes output i a copy of t.
func (o *output) copyFrom(i int, t *tensor.Tensor) error {
	if !t.Dense() {
		t = t.Clone()
	}
	dst := o.into
	if dst == nil {
		o.own = slices.Grow(o.own[:0], len(t.Data))[:len(t.Data)]
		dst = o.own
	}
	if len(t.Data) > len(dst) {
		return fmt.Errorf("mobile: result: output %d has %d bytes, its buffer has %d: %w", i, len(t.Data), len(dst), errInput)
	}
	o.desc, o.data = t.Desc, dst[:copy(dst, t.Data)]
	return nil
}

// run runs a graph and replaces the tensors of r.
func (r *Result) run(runner *datagraph.Runner, columns []datagraph.Column, image []byte) error {
	if err := r.begin(len(columns)); err != nil {
		return err
	}
	dst := make([][]byte, len(columns))
	for i := range r.outputs {
		dst[i] = r.outputs[i].into
	}
	out, err := runner.RunInto(dst, tensor.FromBytes(image))
	if err != nil {
		return err
	}
	for i := range r.outputs {
		o := &r.outputs[i]
		t := out[i]
		o.desc = t.Desc
		if o.into != nil {
			n := int64(len(t.Data)) // of encoded data
			if t.DType != tensor.Bytes {
				n = t.Desc.Size()
			}
			o.data = o.into[:n]
			continue
		}
		taken, own := runner.Take(i, o.own)
		if !own || !taken.Dense() {
			o.data = taken.Clone().Data
			continue
		}
		o.own, o.data = taken.Data, taken.Data
	}
	return nil
}

// at returns output i, or an empty one.
func (r *Result) at(i int) output {
	if r == nil || i < 0 || i >= len(r.outputs) {
		return output{}
	}
	return r.outputs[i]
}

// exists reports whether a run filled o. Its data is nil without elements.
func (o output) exists() bool { return o.desc != (tensor.Desc{}) }

// Outputs returns the number of tensors, those of side outputs included.
func (r *Result) Outputs() int {
	if r == nil {
		return 0
	}
	return len(r.outputs)
}

// Images returns the number of images that the tensors of a [Pipe] are of, 0
// for other results.
func (r *Result) Images() int {
	if r == nil {
		return 0
	}
	return len(r.images)
}

// Image returns the number of image k of the batch, from 0 in the order in
// which the images were added to the PipeConfig, and -1 if there is none.
func (r *Result) Image(k int) int {
	if r == nil || k < 0 || k >= len(r.images) {
		return -1
	}
	return r.images[k]
}

// DType returns the type of the elements of output i: "uint8", "float32" and
// others, "bytes" for encoded data, and "" for an output that is not there.
func (r *Result) DType(i int) string {
	if o := r.at(i); o.exists() {
		return o.desc.DType.String()
	}
	return ""
}

// Layout returns the order of the axes of output i: "HWC", "CHW" or "".
func (r *Result) Layout(i int) string { return layout(r.at(i).desc) }

// Rank returns the number of axes of output i.
func (r *Result) Rank(i int) int { return r.at(i).desc.Shape.Rank() }

// Dim returns the size of axis j of output i.
func (r *Result) Dim(i, j int) int { return dim(r.at(i).desc, j) }

// Size returns the number of bytes of output i.
func (r *Result) Size(i int) int { return len(r.at(i).data) }

// Data returns a copy of the elements of output i, in row-major order and
// native byte order, which is little-endian on all supported platforms.
func (r *Result) Data(i int) []byte { return r.at(i).data }

// Copy copies the elements of output i into a Buffer, from its first byte on.
// It is for outputs whose size depends on the image: read it with Size.
func (r *Result) Copy(i int, b *Buffer) (err error) {
	defer guard(&err)
	o := r.at(i)
	if !o.exists() {
		return fmt.Errorf("mobile: result: output %d: %w: there is none", i, errInput)
	}
	dst, err := b.memory(0, len(o.data))
	if err != nil {
		return err
	}
	copy(dst, o.data)
	return nil
}

func layout(d tensor.Desc) string {
	if d.Layout == tensor.NoLayout {
		return ""
	}
	return d.Layout.String()
}

func dim(d tensor.Desc, j int) int {
	if j < 0 || j >= d.Shape.Rank() {
		return 0
	}
	return d.Shape.At(j)
}
