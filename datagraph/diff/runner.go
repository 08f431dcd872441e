package diff

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// maxCached bounds the tensors that a runner caches, in bytes.
const maxCached = 256 << 20

// runner runs graphs that share most of their steps. It caches the outputs of a
// step by its op and inputs.
type runner struct {
	limits codec.Limits
	image  *tensor.Tensor
	cache  map[[sha256.Size]byte][]*tensor.Tensor
	bytes  int64
}

func newRunner(limits codec.Limits, image *tensor.Tensor) *runner {
	return &runner{limits: limits, image: image, cache: map[[sha256.Size]byte][]*tensor.Tensor{}}
}

// column is a computed tensor with the cache key of its computation.
type column struct {
	key [sha256.Size]byte
	t   *tensor.Tensor
}

// run returns the graph's first output. It skips steps which that output does
// not need.
func (r *runner) run(g *datagraph.Graph) (*tensor.Tensor, error) {
	if err := g.Validate(); err != nil {
		return nil, err
	}
	needed := neededSteps(g)
	columns := map[string]column{g.Inputs[0].Name: {t: r.image}}
	for i, s := range g.Steps {
		if !needed[i] {
			continue
		}
		if err := r.step(s, columns); err != nil {
			return nil, err
		}
	}
	return columns[g.Outputs[0]].t, nil
}

// neededSteps reports, for each step, whether the graph's first output needs
// it.
func neededSteps(g *datagraph.Graph) []bool {
	needed := make([]bool, len(g.Steps))
	wanted := map[string]bool{g.Outputs[0]: true}
	for i, s := range slices.Backward(g.Steps) {
		for _, c := range s.Out {
			if wanted[c] {
				needed[i] = true
				delete(wanted, c)
			}
		}
		if needed[i] {
			for _, c := range s.In {
				wanted[c] = true
			}
		}
	}
	return needed
}

// step runs one step, or takes its outputs from the cache, and stores them in
// columns.
func (r *runner) step(s datagraph.Step, columns map[string]column) error {
	params, err := transforms.MarshalParams(s.Op)
	if err != nil {
		return err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s %s", transforms.InfoOf(s.Op).Name, params)
	one := &datagraph.Graph{}
	var in []*tensor.Tensor
	var names []string
	for j, c := range s.In {
		x := columns[c]
		h.Write(x.key[:])
		names = append(names, fmt.Sprintf("in%d", j))
		one.Inputs = append(one.Inputs, datagraph.Column{Name: names[j], Desc: x.t.Desc})
		in = append(in, x.t)
	}
	key := [sha256.Size]byte(h.Sum(nil))
	out, ok := r.cache[key]
	if !ok {
		for j := range s.Out {
			one.Outputs = append(one.Outputs, fmt.Sprintf("out%d", j))
		}
		one.Then(s.Op, names, one.Outputs)
		plan, err := datagraph.Compile(one, datagraph.CompileOptions{Limits: r.limits})
		if err != nil {
			return err
		}
		results, err := plan.NewRunner().Run(in...)
		if err != nil {
			return err
		}
		size := int64(0)
		for _, t := range results {
			out = append(out, t.Clone()) // the runner reuses its outputs
			size += t.Size()
		}
		if r.bytes += size; r.bytes > maxCached {
			clear(r.cache)
			r.bytes = size
		}
		r.cache[key] = out
	}
	for j, c := range s.Out {
		columns[c] = column{sha256.Sum256(append(key[:], byte(j))), out[j]}
	}
	return nil
}
