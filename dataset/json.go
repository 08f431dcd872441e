package dataset

import (
	"encoding/json"
	"fmt"

	specs "github.com/infer-prep/infer-prep/internal/spec"
)

// Version is the version of the JSON and msgp forms. Each node has its own
// version in addition.
const Version = 1

type jsonDataset struct {
	Version int      `json:"infer_prep_dataset"` // names the format and carries Version
	Top     jsonNode `json:"top"`
}

type jsonNode struct {
	Node    string          `json:"node"`
	Version int             `json:"version"`
	Params  json.RawMessage `json:"params"`
	In      []jsonNode      `json:"in,omitempty"`
}

// unnamed returns an error for a function without a name.
func unnamed(has bool, name string) error {
	if has && name == "" {
		return fmt.Errorf("%w: its function has no name; RegisterFunc assigns one", ErrUnknownNode)
	}
	return nil
}

// MarshalJSON returns the JSON form. It returns a *NodeError for a node that is
// not registered, or whose function has no name.
func (d *Dataset) MarshalJSON() ([]byte, error) {
	top, err := d.jsonNode("")
	if err != nil {
		return nil, err
	}
	return json.Marshal(jsonDataset{Version, top})
}

func (d *Dataset) jsonNode(above string) (jsonNode, error) {
	if d == nil || d.Node == nil {
		return jsonNode{}, &NodeError{above, defErr("an input is nil")}
	}
	i := InfoOf(d.Node)
	j := jsonNode{Node: i.Name, Version: i.Version}
	path := above + i.Name
	if u, ok := d.Node.(unwritable); ok {
		if err := u.unwritable(); err != nil {
			return j, &NodeError{path, err}
		}
	}
	if i.Version == 0 {
		return j, &NodeError{path, fmt.Errorf("%w: want a registered node", ErrUnknownNode)}
	}
	var err error
	if j.Params, err = json.Marshal(d.Node); err != nil {
		return j, &NodeError{path, err}
	}
	for _, in := range d.In {
		c, err := in.jsonNode(path + "/")
		if err != nil {
			return j, err
		}
		j.In = append(j.In, c)
	}
	return j, nil
}

// UnmarshalJSON reads the JSON form and validates every node's parameters. It
// refuses unknown fields, missing parameters, unknown nodes and other versions.
// The program must import the packages of the sources, and register the
// functions.
func (d *Dataset) UnmarshalJSON(b []byte) error {
	var j jsonDataset
	if err := specs.Decode(b, &j); err != nil {
		return fmt.Errorf("dataset: %w: %w", ErrDefinition, err)
	}
	if j.Version != Version {
		return fmt.Errorf("dataset: %w", defErr("infer_prep_dataset is %d, want %d", j.Version, Version))
	}
	n, err := j.Top.dataset("", 0)
	if err != nil {
		return err
	}
	*d = *n
	return nil
}

// maxDepth bounds the depth of a definition.
const maxDepth = 200

func (j *jsonNode) dataset(above string, depth int) (*Dataset, error) {
	path := above + j.Node
	if depth > maxDepth {
		return nil, &NodeError{path, defErr("nodes %d deep, want at most %d", depth, maxDepth)}
	}
	i, err := nodes.Lookup(j.Node)
	if err != nil {
		return nil, &NodeError{path, fmt.Errorf("%w (a source needs an import of its package)", err)}
	}
	if j.Version != i.Version {
		return nil, &NodeError{path, fmt.Errorf("%w %q of version %d, want version %d", ErrUnknownNode, j.Node, j.Version, i.Version)}
	}
	d := &Dataset{Node: i.New()}
	if err := specs.Unmarshal(j.Params, d.Node); err != nil {
		return nil, &NodeError{path, fmt.Errorf("%w: %w", ErrParam, err)}
	}
	if err := d.Node.Validate(); err != nil {
		return nil, &NodeError{path, err}
	}
	for k := range j.In {
		in, err := j.In[k].dataset(path+"/", depth+1)
		if err != nil {
			return nil, err
		}
		d.In = append(d.In, in)
	}
	return d, nil
}

// MakeNode creates a registered node from the JSON object of some of its
// parameters and validates it. The others have their defaults, but a map needs
// its graph. params may be nil.
func MakeNode(name string, params []byte) (Node, error) {
	i, err := nodes.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	n := i.New()
	if r, ok := n.(required); ok {
		r.clear()
	}
	if len(params) == 0 {
		params = []byte("{}")
	}
	if err := specs.Merge(params, n); err != nil {
		return nil, fmt.Errorf("dataset: %s: %w: %w", name, ErrParam, err)
	}
	if err := n.Validate(); err != nil {
		return nil, fmt.Errorf("dataset: %s: %w", name, err)
	}
	return n, nil
}
