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
	Roles       []jsonRole   `json:"roles,omitempty"`
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

// jsonRole is a ColumnRole. Boxes have a format and a clamping, other columns
// do not.
type jsonRole struct {
	Column   *string                 `json:"column"`
	Image    *string                 `json:"image"`
	Role     *transforms.RoleKind    `json:"role"`
	Format   *transforms.CoordFormat `json:"format,omitempty"`
	Clamping *transforms.Clamping    `json:"clamping,omitempty"`
}

type jsonStep struct {
	Op      string          `json:"op"`
	Version int             `json:"version"`
	In      []string        `json:"in"`
	Out     []string        `json:"out"`
	Moves   []string        `json:"moves,omitempty"`
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
	for _, r := range g.Roles {
		n := jsonRole{Column: &r.Column, Image: &r.Image, Role: &r.Kind}
		if r.Kind == transforms.RoleBoxes {
			n.Format, n.Clamping = &r.Format, &r.Clamping
		}
		j.Roles = append(j.Roles, n)
	}
	j.Steps = make([]jsonStep, len(g.Steps))
	for i, s := range g.Steps {
		p, err := transforms.MarshalParams(s.Op)
		if err != nil {
			return nil, g.stepErr(i, err)
		}
		info := transforms.InfoOf(s.Op)
		j.Steps[i] = jsonStep{info.Name, info.Version, s.In, s.Out, s.Moves, p}
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
	for i, r := range j.Roles {
		if r.Column == nil || r.Image == nil || r.Role == nil {
			return errfmt.Errorf("datagraph: %w", graphErr("role %d lacks column, image or role", i))
		}
		role := ColumnRole{*r.Column, *r.Image, transforms.Role{Kind: *r.Role}}
		if role.Kind == transforms.RoleBoxes {
			if r.Format == nil || r.Clamping == nil {
				return errfmt.Errorf("datagraph: %w", graphErr("role %d, of boxes, lacks format or clamping", i))
			}
			role.Format, role.Clamping = *r.Format, *r.Clamping
		} else if r.Format != nil || r.Clamping != nil {
			return errfmt.Errorf("datagraph: %w", graphErr("role %d has a format or clamping, which only boxes have", i))
		}
		n.Roles = append(n.Roles, role)
	}
	for i, s := range j.Steps {
		op, err := transforms.UnmarshalParams(s.Op, s.Version, s.Params)
		if err != nil {
			return &StepError{i, s.Op, err}
		}
		n.Steps = append(n.Steps, Step{Op: op, In: s.In, Out: s.Out, Moves: s.Moves})
	}
	if err := n.Validate(); err != nil {
		return err
	}
	*g = n
	return nil
}
