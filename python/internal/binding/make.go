package binding

import (
	"encoding/json"
	"fmt"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/transforms"
)

// opsGraph returns the graph of a list of ops in JSON, [[NAME, PARAMS], …],
// which run one after another on an encoded image. Parameters that are left out
// have their defaults.
func opsGraph(b []byte) (*datagraph.Graph, error) {
	var l [][2]json.RawMessage
	if err := json.Unmarshal(b, &l); err != nil {
		return nil, fmt.Errorf("infer_prep: graph: %w: the ops: %w", errInput, err)
	}
	if len(l) == 0 {
		return nil, fmt.Errorf("infer_prep: graph: %w: no ops, want at least one op, such as decode", errInput)
	}
	var ops []transforms.Op
	for _, o := range l {
		var name string
		if err := json.Unmarshal(o[0], &name); err != nil {
			return nil, fmt.Errorf("infer_prep: graph: %w: the name of an op: %w", errInput, err)
		}
		op, err := transforms.MakeOp(name, o[1])
		if err != nil {
			return nil, err
		}
		ops = append(ops, op)
	}
	g := datagraph.New(ops...)
	return g, g.Validate()
}

// Node returns a node of a definition in JSON, without inputs: an object with
// node, version and params. Parameters that are left out have their defaults.
// A function of Python is not looked up.
func Node(name string, params []byte) ([]byte, error) {
	params, function, err := swap(name, params, standIn+"/"+name)
	if err != nil {
		return nil, err
	}
	n, err := dataset.MakeNode(name, params)
	if err != nil {
		return nil, nodeError{err}
	}
	d, err := json.Marshal(dataset.Of(n))
	if err != nil {
		return nil, err
	}
	var form jsonDefinition
	if err := json.Unmarshal(d, &form); err != nil {
		return nil, err
	}
	if function != "" {
		if form.Top.Params, _, err = swap(name, form.Top.Params, function); err != nil {
			return nil, err
		}
	}
	return json.Marshal(form.Top)
}

// nodeError is an error of Node, which is errNode, too.
type nodeError struct{ error }

func (e nodeError) Unwrap() error      { return e.error }
func (e nodeError) Is(kind error) bool { return kind == errNode }
