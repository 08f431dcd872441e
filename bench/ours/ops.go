//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/infer-prep/infer-prep/bench/internal/peer"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// call is one operation of ops.py.
type call struct {
	Input string `json:"input"` // image: uint8 HWC, or tensor: float32 CHW of 0 to 1
	Steps []struct {
		Op     string          `json:"op"`
		Params json.RawMessage `json:"params"` // those that differ from the defaults
	} `json:"steps"`
}

// ops runs the calls of the JSON file extra on the images of a folder.
func ops(dir, extra string) error {
	_, files, err := peer.Images(dir)
	if err != nil {
		return err
	}
	b, err := os.ReadFile(extra)
	if err != nil {
		return err
	}
	var all struct {
		Calls []call `json:"calls"`
	}
	if err := json.Unmarshal(b, &all); err != nil {
		return fmt.Errorf("%s: %w", extra, err)
	}
	decoded := map[string][]*tensor.Tensor{}
	if decoded["image"], err = decodeAll(files); err != nil {
		return err
	}
	if decoded["tensor"], err = apply(decoded["image"], transforms.NewToTensor()); err != nil {
		return err
	}
	var run func(use func(*tensor.Tensor)) error
	each := func(use func(*tensor.Tensor)) (int, error) {
		if run == nil {
			return 0, fmt.Errorf("no op is selected")
		}
		return len(files), run(use)
	}
	return peer.Serve("this commit", peer.Answers{
		Op: func(i int) error {
			if i < 0 || i >= len(all.Calls) {
				return fmt.Errorf("call %d: want 0 to %d", i, len(all.Calls)-1)
			}
			selected, err := all.Calls[i].prepare(decoded[all.Calls[i].Input])
			if err == nil {
				run = selected
			}
			return err
		},
		Go: func() (int, error) { return each(func(*tensor.Tensor) {}) },
		Check: func(w io.Writer) error {
			_, err := each(func(t *tensor.Tensor) { _, _ = w.Write(rows(t)) }) // a hash never fails
			return err
		},
	})
}

// apply runs an op on images.
func apply(images []*tensor.Tensor, op transforms.Op) (l []*tensor.Tensor, err error) {
	g := datagraph.New(op)
	for _, t := range images {
		g.Inputs[0].Desc = t.Desc
		r, err := runner(g)
		if err != nil {
			return nil, err
		}
		out, err := r.Run(t)
		if err != nil {
			return nil, err
		}
		l = append(l, out[0].Clone())
	}
	return l, nil
}

// prepare compiles a call and runs it once for each image. The function that it
// returns passes the output of each image to use.
func (c *call) prepare(images []*tensor.Tensor) (func(use func(*tensor.Tensor)) error, error) {
	if len(images) == 0 {
		return nil, fmt.Errorf("no images of the form %q", c.Input)
	}
	g := datagraph.New()
	g.Inputs[0].Desc = images[0].WithSize(tensor.Unknown, tensor.Unknown)
	fields := 0
	for _, s := range c.Steps {
		op, err := withParams(s.Op, s.Params)
		if err != nil {
			return nil, err
		}
		in := transforms.InfoOf(op).In
		if in[len(in)-1] == "displacement" {
			desc := tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(tensor.Unknown, tensor.Unknown, 2)}
			g.Inputs = append(g.Inputs, datagraph.Column{Name: "displacement", Desc: desc})
			fields++
		}
		g.Then(op, in, transforms.InfoOf(op).Out)
	}
	g.Outputs = []string{datagraph.Image}
	r, err := runner(g)
	if err != nil {
		return nil, err
	}
	inputs := make([][]*tensor.Tensor, len(images))
	for i, t := range images {
		if inputs[i] = []*tensor.Tensor{t}; fields > 0 {
			inputs[i] = append(inputs[i], field(t.Height(), t.Width()))
		}
	}
	run := func(use func(*tensor.Tensor)) error {
		for _, in := range inputs {
			out, err := r.Run(in...)
			if err != nil {
				return err
			}
			use(out[0])
		}
		return nil
	}
	return run, run(func(*tensor.Tensor) {})
}

// withParams returns an op with its default parameters, except those stated.
func withParams(name string, changes json.RawMessage) (transforms.Op, error) {
	i, err := transforms.Lookup(name)
	if err != nil {
		return nil, err
	}
	text, err := transforms.MarshalParams(i.New())
	if err != nil {
		return nil, err
	}
	params := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &params); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(changes, &params); err != nil {
		return nil, err
	}
	if text, err = json.Marshal(params); err != nil {
		return nil, err
	}
	return transforms.UnmarshalParams(name, i.Version, text)
}

// field returns a displacement for the op elastic, the same as that of
// bench/peers/ops.py.
func field(h, w int) *tensor.Tensor {
	t, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(h, w, 2)})
	if err != nil {
		panic(err) // the size is that of an image in memory
	}
	v := tensor.View[float32](t)
	for y := range h {
		for x := range w {
			v[2*(y*w+x)] = float32((7*x+13*y)%31-15) / 1024
			v[2*(y*w+x)+1] = float32((11*x+5*y)%29-14) / 1024
		}
	}
	return t
}

// rows returns the values of an image row by row, its channels last.
func rows(t *tensor.Tensor) []byte {
	if t.Layout != tensor.CHW {
		return t.Data
	}
	pixels, c, size := t.Height()*t.Width(), t.Channels(), t.DType.Size()
	out := make([]byte, 0, len(t.Data))
	for i := range pixels {
		for k := range c {
			out = append(out, t.Data[(k*pixels+i)*size:][:size]...)
		}
	}
	return out
}
