// Package opdoc holds the documentation of the ops of package transforms, for
// programs that print it, such as the command's ops listing. Its data and
// docs/ops.md are generated from the source's comments.
package opdoc

//go:generate go run ./gen

// Op is what the source says of one op.
type Op struct {
	Type    string // the Go type in package transforms
	Summary string // the first sentence of the doc, on one line
	Doc     string // all of it, as in the source
	Fields  []Field
}

// Field is one parameter.
type Field struct {
	Name string // in JSON
	Go   string // the struct's field
	Type string // the Go type, as in the source
	Doc  string // its comment on one line, often empty
}

// Lookup finds the documentation of an op of package transforms by its registered name.
func Lookup(name string) (Op, bool) {
	o, ok := ops[name]
	return o, ok
}
