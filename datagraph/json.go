package datagraph

import (
	"encoding/json"

	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/internal/spec"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// Version is the version of the JSON and msgp forms that this build reads and
// writes. Each op has its own version as well.
const Version = 1

type jsonGraph struct {
	Version     int          `json:"infer_prep_graph"` // names the format and carries Version
	Reference   string       `json:"reference,omitempty"`
	Inputs      []jsonColumn `json:"inputs"`
	Steps       []jsonStep   `json:"steps"`
	Outputs     []string     `json:"outputs"`
	SideOutputs []string     `json:"side_outputs,omitempty"`
	Batch       []jsonBatch  `json:"batch,omitempty"`
}

type jsonColumn struct {
	Name string `json:"name"`
	tensor.Desc
}

// jsonBatch is a BatchColumn whose fields must all be there.
type jsonBatch struct {
	Column *string    `json:"column"`
	Rule   *BatchRule `json:"rule"`
	Value  *float64   `json:"value"`
}

type jsonStep struct {
	Op      string          `json:"op"`
	Version int             `json:"version"`
	In      []string        `json:"in"`
	Out     []string        `json:"out"`
	Params  json.RawMessage `json:"params"`
}

// MarshalJSON returns the graph as JSON. An op that is not registered is an
// error that names the op.
func (g *Graph) MarshalJSON() ([]byte, error) {
	j := jsonGraph{Version: Version, Reference: g.Reference, Outputs: g.Outputs, SideOutputs: g.SideOutputs}
	for _, c := range g.Inputs {
		j.Inputs = append(j.Inputs, jsonColumn{c.Name, c.Desc})
	}
	for _, c := range g.Batch {
		j.Batch = append(j.Batch, jsonBatch{&c.Column, &c.Rule, &c.Value})
	}
	j.Steps = make([]jsonStep, len(g.Steps))
	for i, s := range g.Steps {
		p, err := transforms.MarshalParams(s.Op)
		if err != nil {
			return nil, g.stepErr(i, err)
		}
		info := transforms.InfoOf(s.Op)
		j.Steps[i] = jsonStep{info.Name, info.Version, s.In, s.Out, p}
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads a graph and validates it. Unknown fields, unknown ops and
// unknown versions are errors that name them.
func (g *Graph) UnmarshalJSON(b []byte) error {
	var j jsonGraph
	if err := spec.Decode(b, &j); err != nil {
		return errfmt.Errorf("datagraph: %w: %w", ErrGraph, err)
	}
	if j.Version != Version {
		return errfmt.Errorf("datagraph: %w", graphErr("infer_prep_graph is %d, this build reads %d", j.Version, Version))
	}
	n := Graph{Reference: j.Reference, Outputs: j.Outputs, SideOutputs: j.SideOutputs}
	for _, c := range j.Inputs {
		n.Inputs = append(n.Inputs, Column{Name: c.Name, Desc: c.Desc})
	}
	for i, b := range j.Batch {
		if b.Column == nil || b.Rule == nil || b.Value == nil {
			return errfmt.Errorf("datagraph: %w", graphErr("batch rule %d lacks column, rule or value", i))
		}
		n.Batch = append(n.Batch, BatchColumn{*b.Column, Batching{*b.Rule, *b.Value}})
	}
	for i, s := range j.Steps {
		op, err := transforms.UnmarshalParams(s.Op, s.Version, s.Params)
		if err != nil {
			return &StepError{i, s.Op, err}
		}
		n.Steps = append(n.Steps, Step{Op: op, In: s.In, Out: s.Out})
	}
	if err := n.Validate(); err != nil {
		return err
	}
	*g = n
	return nil
}
