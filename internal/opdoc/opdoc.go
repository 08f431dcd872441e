// Package opdoc holds the documentation of the ops of packages transforms and
// plugin, and of the nodes of datasets, for programs that print it, such as the
// command infer-prep ops. Its data, docs/ops.md and docs/nodes.md are generated
// from the comments in the source. The command itself draws docs/ops.png.
package opdoc

//go:generate go run ../../tools/opdoc
//go:generate go run ../../tools/picture ../../docs/ops.png go run ../../cmd/infer-prep ops --sheet

// Op is the documentation of one op, or of one node.
type Op struct {
	Type    string // the Go type in its package
	Summary string // first sentence of Doc, on one line
	Doc     string // doc comment, as in the source
	Fields  []Field
}

// Field is one parameter.
type Field struct {
	Name string // JSON name
	Go   string // field of the struct
	Type string // Go type, as in the source
	Doc  string // comment on one line; may be empty
}

// Lookup returns the documentation of an op by its registered name and reports
// whether there is any.
func Lookup(name string) (Op, bool) {
	o, ok := ops[name]
	return o, ok
}

// LookupNode is Lookup of a dataset's node.
func LookupNode(name string) (Op, bool) {
	o, ok := nodes[name]
	return o, ok
}
