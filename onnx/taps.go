package onnx

import (
	"fmt"

	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// resizeTaps describes the inputs of a model that hold the taps of one resize.
// Pillow starts with rows or with columns, depending on the sizes. So there are
// three passes, rows, columns, rows, of which the first or the last copies each
// pixel with weight 1.
type resizeTaps struct {
	step   int
	passes [3]tapsInput
	fill   fillTaps
}

// tapsInput is one pass: int32 (taps, outputs) of pixels and of weights.
type tapsInput struct{ index, weight string }

var passNames = [3]string{"rows1", "columns", "rows2"}

func (t *resizeTaps) declare(b []byte) []byte {
	for i, p := range t.passes {
		dims := []dimension{{name: fmt.Sprintf("step%d_%s_taps", t.step, passNames[i])}, {name: fmt.Sprintf("step%d_%s_outputs", t.step, passNames[i])}}
		b = appendValueInfo(b, graphInput, p.index, tensor.Int32, dims)
		b = appendValueInfo(b, graphInput, p.weight, tensor.Int32, dims)
	}
	return b
}

// hostTaps lowers a resize whose taps are inputs. It computes all products of a
// pass at once, so that the number of taps need not be known.
func (l *lowering) hostTaps(o transforms.Scaled, y *value, x value) error {
	interp, backend, antialias := o.Sampling()
	if interp == transforms.Nearest || interp == transforms.NearestExact || x.desc.DType != tensor.Uint8 {
		return l.refuse("%v of backend %v: host taps need uint8 images and a filter", interp, backend)
	}
	var fill fillTaps
	switch backend {
	case transforms.Pillow:
		f, err := l.pillowFilter(interp, x)
		if err != nil {
			return err
		}
		fill = pillowTaps(f, false)
	case transforms.TorchUint8:
		var err error
		if fill, err = l.torchTaps(interp, antialias, x); err != nil {
			return err
		}
	default:
		return l.refuse("backend %v: host taps need Pillow's filters or those of torch_uint8", backend)
	}
	e := emitterOf(o)
	if e.cut == nil {
		return l.refuse("it depends on the image's size beyond the resize: set the input size")
	}
	x, err := e.cut(l, o, x)
	if err != nil {
		return err
	}
	ay, ax, _ := axes(x.desc)
	t := resizeTaps{step: l.step, fill: fill}
	name := l.cast(x.name, tensor.Int32)
	for i, axis := range []int{ay, ax, ay} {
		p := tapsInput{l.prefix + fmt.Sprintf("step%d_%s_index", l.step, passNames[i]), l.prefix + fmt.Sprintf("step%d_%s_weight", l.step, passNames[i])}
		t.passes[i] = p
		weight := p.weight // (taps, outputs), followed by axes of 1
		if axis < 2 {
			var trailing []int64
			for n := range 2 - axis {
				trailing = append(trailing, int64(2+n))
			}
			weight = l.op("Unsqueeze", nil, weight, l.ints(trailing...))
		}
		products := l.op("Mul", nil, l.op("Gather", []attr{{"axis", int64(axis)}}, name, p.index), weight)
		sum := l.op("ReduceSum", []attr{{"keepdims", int64(0)}}, products, l.ints(int64(axis)))
		sum = l.op("Add", nil, sum, constOf(l.builder, "half", []int32{1 << (kernel.TapsBits - 1)}))
		name = l.clip8(sum)
	}
	y.name = l.cast(name, tensor.Uint8)
	l.result.taps = append(l.result.taps, t)
	return nil
}

// Taps returns the further inputs of a model with HostTaps, for decoded images
// of height x width pixels. For each resize and each of its three passes these
// are the pixels, int32 (taps, outputs), and their weights, with the same dtype
// and shape. Taps returns nothing for other models. It is safe for concurrent
// use.
func (e *Exported) Taps(height, width int) ([]tensor.Named, error) {
	if len(e.taps) == 0 {
		return nil, nil
	}
	descs := map[string]tensor.Desc{}
	for _, p := range e.Inputs {
		d := p.Desc
		if d.IsImage() {
			d = d.WithSize(height, width)
		}
		descs[p.Column] = d
	}
	var named []tensor.Named
	next := 0
	for i, s := range e.steps {
		in, out := make([]tensor.Desc, len(s.In)), make([]tensor.Desc, len(s.Out))
		for j, c := range s.In {
			in[j] = descs[c]
		}
		fail := func(err error) error {
			return fmt.Errorf("onnx: step %d (%s): %w", e.First+i, transforms.InfoOf(s.Op).Name, err)
		}
		if err := s.Op.Infer(out, in); err != nil {
			return nil, fail(err)
		}
		for j, c := range s.Out {
			descs[c] = out[j]
		}
		if next == len(e.taps) || e.taps[next].step != e.First+i {
			continue
		}
		t := e.taps[next]
		next++
		sc, err := s.Op.(transforms.Scaled).Scale(in[0].Height(), in[0].Width(), nil)
		if err != nil {
			return nil, fail(err)
		}
		rows := [2]int{sc.Cut.Height, sc.Height}
		passes := [3][2]int{{rows[0], rows[0]}, {sc.Cut.Width, sc.Width}, rows}
		if sc.VerticalFirst {
			passes[0], passes[2] = rows, [2]int{rows[1], rows[1]}
		}
		for j, p := range passes {
			index, weight, err := t.pass(p[0], p[1])
			if err != nil {
				return nil, fail(err)
			}
			named = append(named, tensor.Named{Name: t.passes[j].index, T: index}, tensor.Named{Name: t.passes[j].weight, T: weight})
		}
	}
	return named, nil
}

// pass returns the tensors of one pass.
func (t *resizeTaps) pass(in, out int) (index, weight *tensor.Tensor, err error) {
	taps := []tap{{}}
	if in == out {
		for i := range out {
			taps[0].index, taps[0].fixed = append(taps[0].index, int32(i)), append(taps[0].fixed, 1<<kernel.TapsBits)
		}
	} else {
		taps = tapsAlong(in, out, t.fill, false)
	}
	d := tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(len(taps), out)}
	if index, err = tensor.New(d); err != nil {
		return nil, nil, err
	}
	if weight, err = tensor.New(d); err != nil {
		return nil, nil, err
	}
	for j, p := range taps {
		copy(tensor.View[int32](index)[j*out:], p.index)
		copy(tensor.View[int32](weight)[j*out:], p.fixed)
	}
	return index, weight, nil
}
