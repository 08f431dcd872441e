package cli

import (
	"encoding"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/opdoc"
	"github.com/infer-prep/infer-prep/transforms"
)

func (a *app) opsCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ops [NAME]",
		Short: "List the ops, or describe one",
		Long: `List the ops with what they read and write, the reference whose bytes they give,
and the largest difference measured from it; or describe one with its parameters
as they stand in graph files.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageErr("ops takes one name at most, got %d", len(args))
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var l []string
			if len(args) == 0 {
				for _, i := range transforms.Ops() {
					l = append(l, i.Name)
				}
			}
			return l, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.listOps(asJSON)
			}
			i, err := transforms.Lookup(args[0])
			if err != nil {
				return usageErr("unknown op %q%s; see %s ops", args[0], similar(args[0]), program)
			}
			d := describeOp(i)
			if asJSON {
				return a.printJSON(d)
			}
			return a.printOp(d)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// opJSON is an op as --json tells it.
type opJSON struct {
	Name       string      `json:"name"`
	Version    int         `json:"version"`
	Summary    string      `json:"summary,omitempty"`
	Doc        string      `json:"doc,omitempty"`
	In         []string    `json:"in"`
	Out        []string    `json:"out"`
	Reference  string      `json:"reference"`
	Exactness  string      `json:"exactness"`
	Parameters []paramJSON `json:"parameters"`
}

type paramJSON struct {
	Name    string   `json:"name"`
	Type    string   `json:"type"`
	Choices []string `json:"choices,omitempty"`
	Usual   any      `json:"usual"`
	Doc     string   `json:"doc,omitempty"`
}

func describeOp(i transforms.Info) opJSON {
	d := opJSON{Name: i.Name, Version: i.Version, In: i.In, Out: i.Out, Reference: i.Reference, Exactness: i.Exactness, Parameters: []paramJSON{}}
	fields := map[string]string{}
	if doc, ok := opdoc.Lookup(i.Name); ok {
		d.Summary, d.Doc = doc.Summary, strings.TrimSpace(doc.Doc)
		for _, f := range doc.Fields {
			fields[f.Name] = f.Doc
		}
	}
	v := reflect.Indirect(reflect.ValueOf(i.New()))
	if v.Kind() != reflect.Struct {
		return d
	}
	for j := range v.NumField() {
		f := v.Type().Field(j)
		if name := paramName(f); name != "" {
			d.Parameters = append(d.Parameters, paramJSON{
				Name: name, Type: paramType(f.Type), Choices: choices(f.Type), Usual: v.Field(j).Interface(), Doc: fields[name],
			})
		}
	}
	return d
}

// paramType names a parameter's type as it is in JSON.
func paramType(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[codec.Refuse]():
		return "list of names"
	case t.Kind() == reflect.Slice:
		return "list of " + paramType(t.Elem()) + "s"
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return "name"
	case t.Kind() == reflect.Bool:
		return "bool"
	case t.Kind() == reflect.Float32 || t.Kind() == reflect.Float64:
		return "number"
	}
	return "integer"
}

// choices lists the names that a parameter of type t can have, nil if it is none of names.
func choices(t reflect.Type) []string {
	if t == reflect.TypeFor[codec.Refuse]() {
		return codec.Refuse(0xff).Names()
	}
	if t.Kind() != reflect.Uint8 || !t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return nil
	}
	var l []string
	v := reflect.New(t).Elem()
	for i := range uint64(256) {
		v.SetUint(i)
		if b, err := v.Interface().(encoding.TextMarshaler).MarshalText(); err == nil {
			l = append(l, string(b))
		}
	}
	return l
}

func (a *app) listOps(asJSON bool) error {
	if asJSON {
		l := []opJSON{}
		for _, i := range transforms.Ops() {
			l = append(l, describeOp(i))
		}
		return a.printJSON(l)
	}
	t := table{}
	t.row("OP", "COLUMNS", "DIFFERENCE", "REFERENCE")
	for _, i := range transforms.Ops() {
		t.row(i.Name, strings.Join(i.In, ", ")+" -> "+strings.Join(i.Out, ", "), shorten(i.Exactness, 24), i.Reference)
	}
	return t.write(a.stdout)
}

func (a *app) printOp(d opJSON) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, version %d: %s -> %s\n", d.Name, d.Version, strings.Join(d.In, ", "), strings.Join(d.Out, ", "))
	if d.Doc != "" {
		fmt.Fprintf(&b, "\n%s\n", d.Doc)
	}
	if !strings.Contains(d.Doc, "\nReference: ") { // the doc's own says more
		fmt.Fprintf(&b, "\nReference: %s\n", d.Reference)
	}
	fmt.Fprintf(&b, "\nLargest difference measured: %s\n", d.Exactness)
	if len(d.Parameters) == 0 {
		b.WriteString("\nIt has no parameters.\n")
	} else {
		b.WriteString("\n")
		t := table{}
		t.row("PARAMETER", "USUALLY", "TYPE")
		for _, p := range d.Parameters {
			kind := p.Type
			if len(p.Choices) > 0 {
				kind += ": " + strings.Join(p.Choices, ", ")
			}
			lines := wrap(kind, opWidth)
			if p.Doc != "" {
				lines = append(lines, wrap(p.Doc, opWidth)...)
			}
			t.row(p.Name, paramValue(p.Usual), lines[0])
			for _, l := range lines[1:] {
				t.row("", "", l)
			}
		}
		if err := t.write(&b); err != nil {
			return err
		}
	}
	_, err := io.WriteString(a.stdout, b.String())
	return err
}

// opWidth is where the text beside a parameter's name is wrapped.
const opWidth = 72

// similar suggests ops whose names have something in common with name.
func similar(name string) string {
	flat := strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
	var l []string
	for _, i := range transforms.Ops() {
		n := strings.ReplaceAll(i.Name, "_", "")
		if n == flat {
			l = []string{i.Name}
			break
		}
		if len(flat) > 2 && (strings.Contains(n, flat) || strings.Contains(flat, n)) {
			l = append(l, i.Name)
		}
	}
	if len(l) == 0 {
		return ""
	}
	return ", did you mean " + strings.Join(l, ", ") + "?"
}
