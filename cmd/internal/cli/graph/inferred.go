package graph

import (
	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/job"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// Inferred is a graph with the descriptions of all inputs and outputs of its
// steps.
type Inferred struct {
	Graph *datagraph.Graph
	Plan  *datagraph.Plan
	steps []datagraph.StepInfo // of the graph, with sizes
	descs [][]tensor.Desc
	run   *datagraph.Plan // of one draw with an image, if ops are drawn; else Plan
	first []int           // the step of the graph, for each step of run's graph
	costs datagraph.Costs // of run
	plain datagraph.Costs // of the plan without passes
	off   []datagraph.Pass
	Image string         // the file whose sizes they are, or ""
	Data  *tensor.Tensor // of image, nil without one
}

// InferGraph infers the descriptions for an image, from its header, or for any
// image if image is "".
func InferGraph(cmd *cobra.Command, f *source.GraphFlags, g *datagraph.Graph, image string) (*Inferred, error) {
	plan, err := f.Compile(g)
	if err != nil {
		return nil, err
	}
	r := &Inferred{Graph: g, Plan: plan, steps: plan.Unfused().Steps(), Image: paths.Shown(image), off: f.Off}
	var inputs []*tensor.Tensor
	if image != "" {
		if err := source.WantOneImage(g); err != nil {
			return nil, err
		}
		t, err := source.ReadImage(cmd, job.One(store.URI, image), f.Limits)
		if err != nil {
			return nil, err
		}
		inputs, r.Data = append(inputs, t), t
	}
	if r.run = plan; image != "" {
		r.run, r.first, err = plan.NewRunner().Drawn(inputs...)
	}
	if err == nil {
		r.costs, err = r.run.NewRunner().Costs(inputs...)
	}
	if err == nil {
		r.plain, err = plan.Unfused().NewRunner().Costs(inputs...)
	}
	if err != nil {
		return nil, command.FailErr("%s: %w", image, paths.Reason(err))
	}
	r.descs = r.plain.Descs
	have := map[string]tensor.Desc{}
	for _, c := range g.Inputs {
		have[c.Name] = c.Desc
	}
	for i, s := range r.steps {
		for j, c := range s.In {
			s.In[j].Desc = have[c.Name]
		}
		for j, c := range s.Out {
			s.Out[j].Desc = r.descs[i][j]
			have[c.Name] = r.descs[i][j]
		}
	}
	return r, nil
}
