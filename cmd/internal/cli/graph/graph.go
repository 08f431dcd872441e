// Package graph implements the commands that make, show and describe graphs,
// datasets, ops and importers.
package graph

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/tensor"
)

func Command(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "graph",
		Short: "Import, make, show, check and export graphs",
		Args:  command.OneOfCommands,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(graphImportCmd(a), graphMakeCmd(a), graphShowCmd(a), graphPlanCmd(a), graphInferCmd(a), graphExportONNXCmd(a), graphExportMindIRCmd(a))
	return cmd
}

func graphImportCmd(a *command.App) *cobra.Command {
	f := &source.GraphFlags{Dataset: &source.DatasetFlags{}}
	var out string
	var asMsgp bool
	cmd := &cobra.Command{
		Use:                   "import [--hf FILE | --timm FILE | --dataset FILE | …] [-o FILE]",
		Short:                 "Print a graph as JSON, for --graph of other commands",
		DisableFlagsInUseLine: true,
		Args:                  command.NoArgs,
		ValidArgsFunction:     cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.Dataset.Check(cmd); err != nil {
				return err
			}
			g, err := f.Load(cmd, a.Stdin)
			if err != nil {
				return err
			}
			for _, n := range f.Dataset.Notes {
				fmt.Fprintln(a.Stderr, command.Printable(n.String()))
			}
			if !asMsgp {
				return writeIndented(cmd.Context(), a, out, g)
			}
			b, err := g.MarshalMsg(nil)
			if err != nil {
				return command.FailErr("%w", err)
			}
			return writeTo(cmd.Context(), a, out, b)
		},
	}
	f.Add(cmd)
	f.Dataset.Add(cmd)
	addOutput(cmd, &out)
	cmd.Flags().BoolVar(&asMsgp, "msgp", false, "write the binary form, as in bundles")
	return cmd
}

// addOutput adds the flag of a file for writeTo.
func addOutput(cmd *cobra.Command, out *string) {
	cmd.Flags().StringVarP(out, "output", "o", "", "write to `FILE` instead of standard output")
	command.Must(cmd.MarkFlagFilename("output"))
}

// writeTo writes b to a file, or to standard output if its name is empty.
func writeTo(ctx context.Context, a *command.App, out string, b []byte) error {
	if out == "" {
		_, err := a.Stdout.Write(b)
		return err
	}
	return command.WrapFail(newfile.Write(ctx, out, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	}))
}

// writeIndented is writeTo of the JSON form of v, for people.
func writeIndented(ctx context.Context, a *command.App, out string, v any) error {
	b, err := json.Marshal(v)
	if err == nil {
		b, err = indent(b)
	}
	if err != nil {
		return command.FailErr("%w", err)
	}
	return writeTo(ctx, a, out, b)
}

// indent formats JSON for people. It puts each member of an object on a line,
// and lists of numbers and names on a single line.
func indent(b []byte) ([]byte, error) {
	var buf bytes.Buffer
	if err := json.Indent(&buf, b, "", "  "); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	lines := strings.SplitAfter(buf.String(), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if end := flatList(lines[i:]); end > 0 {
			line = strings.TrimSuffix(line, "\n")
			for j := 1; j <= end; j++ {
				part := strings.TrimSpace(lines[i+j])
				if j > 1 && j < end {
					line += " "
				}
				line += part
			}
			line += "\n"
			i += end
		}
		out.WriteString(line)
	}
	return append(bytes.TrimRight(out.Bytes(), "\n"), '\n'), nil
}

// flatList returns the offset of the line that closes the list opened by
// lines[0]. It returns 0 if the list contains objects or lists.
func flatList(lines []string) int {
	if !strings.HasSuffix(lines[0], "[\n") {
		return 0
	}
	for j, l := range lines[1:] {
		switch l = strings.TrimSpace(l); {
		case l == "]" || l == "],":
			return j + 1
		case strings.HasSuffix(l, "[") || strings.HasSuffix(l, "{"):
			return 0
		}
	}
	return 0
}

// param is a parameter of an op, with its JSON name and value.
type param struct {
	name, value string
}

// params lists the parameters of an op, or of a dataset's node, in the order of
// its fields. Unless all is true it omits zero values, which are the defaults.
func params(op any, all bool) []param {
	v := reflect.Indirect(reflect.ValueOf(op))
	if v.Kind() != reflect.Struct {
		return nil
	}
	var l []param
	for i := range v.NumField() {
		if name := paramName(v.Type().Field(i)); name != "" && (all || !isZero(v.Field(i))) {
			l = append(l, param{name, paramValue(v.Field(i).Interface())})
		}
	}
	return l
}

// paramName returns a field's JSON name, "" if it has none.
func paramName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" {
		return ""
	}
	return name
}

// isZero reports whether v is zero, an empty map or a list of zeros.
func isZero(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice:
	case reflect.Map:
		return v.Len() == 0
	default:
		return v.IsZero()
	}
	for i := range v.Len() {
		if !v.Index(i).IsZero() {
			return false
		}
	}
	return true
}

// paramValue returns a parameter's JSON without quotes.
func paramValue(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return strings.ReplaceAll(strings.ReplaceAll(string(b), `"`, ""), ",", ", ")
}

func joinParams(l []param) string {
	var s []string
	for _, p := range l {
		s = append(s, p.name+"="+p.value)
	}
	return strings.Join(s, " ")
}

// stepJSON is a step as --json prints it.
type stepJSON struct {
	Step   int             `json:"step"`
	Op     string          `json:"op"`
	Params json.RawMessage `json:"params,omitempty"`
	In     []columnJSON    `json:"in"`
	Out    []columnJSON    `json:"out"`
}

type columnJSON struct {
	Column string `json:"column"`
	tensor.Desc
	Buffer *int  `json:"buffer,omitempty"`
	Bytes  int64 `json:"bytes,omitempty"`
}

func (r *Inferred) json() ([]stepJSON, error) {
	l := []stepJSON{}
	for i, s := range r.steps {
		p, err := json.Marshal(r.Graph.Steps[i].Op)
		if err != nil {
			return nil, command.FailErr("step %d (%s): %w", i, s.Op, err)
		}
		l = append(l, stepJSON{Step: i, Op: s.Op, Params: p, In: columnsJSON(s.In), Out: columnsJSON(s.Out)})
	}
	return l, nil
}

//go:noinline
func columnsJSON(cols []datagraph.Column) []columnJSON {
	l := []columnJSON{}
	for _, c := range cols {
		l = append(l, columnJSON{Column: c.Name, Desc: c.Desc})
	}
	return l
}

func columnNames(cols []datagraph.Column) string {
	var l []string
	for _, c := range cols {
		l = append(l, c.Name)
	}
	return strings.Join(l, ", ")
}

// lastDesc returns the description of a column at the end of the graph.
func (r *Inferred) lastDesc(column string) tensor.Desc { return r.Graph.Last(r.descs, column) }
