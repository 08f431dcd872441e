package records

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// recordFileJSON is a file as records ls --json prints it.
type recordFileJSON struct {
	File    string            `json:"file"`
	Format  string            `json:"format"`
	Records int64             `json:"records"`
	Size    int64             `json:"bytes"`
	Fields  []recordFieldJSON `json:"fields"` // of the first record
}

type recordFieldJSON struct {
	Name  string       `json:"name"`
	DType tensor.DType `json:"dtype"`
	Shape tensor.Shape `json:"shape"`
	Text  bool         `json:"text,omitempty"`
}

func (f recordFieldJSON) String() string {
	s := f.Name + " " + f.DType.String()
	if f.Text {
		s = f.Name + " text"
	}
	if f.Shape.Rank() > 0 {
		s += " " + f.Shape.String()
	}
	return s
}

func recordsLsCmd(a *command.App) *cobra.Command {
	var asJSON bool
	var from string
	var limit recordLimit
	cmd := &cobra.Command{
		Use:                   "ls [--json] FILE…",
		Short:                 "List record files with their formats, sizes and fields",
		DisableFlagsInUseLine: true,
		Args:                  recordArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			list := []*recordFileJSON{}
			ctx := cmd.Context()
			ok, err := eachRecordFile(ctx, a, args, from, func(in *recordInput) (bool, error) {
				l, err := listRecords(ctx, in, records.ReadOptions{Limit: limit.max(), OnNote: func(s string) { note(a, s) }})
				if err := command.Interrupted(ctx, "the output is incomplete"); err != nil {
					return false, err
				}
				if err != nil {
					a.Complain(command.Readable(in.name, err))
				}
				list = append(list, l...)
				return err == nil, nil
			})
			if err != nil {
				return err
			}
			if ok || len(list) > 0 || asJSON {
				if err := printRecordFiles(a, list, asJSON); err != nil {
					return err
				}
			}
			if !ok {
				return &command.ExitError{Status: command.ExitFailed}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON array")
	fromFlag(cmd, &from)
	limit.flag(cmd)
	return cmd
}

// listRecords lists the files of a name, or a stream. With an error it lists
// what it read before.
func listRecords(ctx context.Context, in *recordInput, options records.ReadOptions) ([]*recordFileJSON, error) {
	var l []*recordFileJSON
	start := func(file string, size int64) {
		l = append(l, &recordFileJSON{File: paths.Shown(file), Format: in.format.Name, Size: size, Fields: []recordFieldJSON{}})
	}
	info, one := isFile(ctx, store.URI, in.name)
	if in.stream != nil {
		info.Size, one = 0, true
	}
	if one {
		start(in.name, info.Size)
	}
	err := in.each(ctx, store.URI, options, func(r *records.Record) error {
		if !one && (len(l) == 0 || l[len(l)-1].File != paths.Shown(r.File)) {
			i, err := store.URI.Stat(ctx, r.File)
			if err != nil {
				return err
			}
			start(r.File, i.Size)
		}
		x := l[len(l)-1]
		if x.Records++; x.Records == 1 {
			for _, f := range r.Fields {
				x.Fields = append(x.Fields, recordFieldJSON{f.Name, f.Value.DType, f.Value.Shape, f.Text})
			}
		}
		return nil
	})
	if in.stream != nil {
		l[0].Size = in.read
	}
	return l, err
}

func printRecordFiles(a *command.App, l []*recordFileJSON, asJSON bool) error {
	if asJSON {
		return a.PrintJSON(l)
	}
	t := command.Table{}
	t.Row("file", "format", "records", "bytes", "fields")
	for _, x := range l {
		var fields []string
		for _, f := range x.Fields {
			fields = append(fields, command.Printable(f.String()))
		}
		t.Row(command.Printable(x.File), x.Format, fmt.Sprint(x.Records), fmt.Sprint(x.Size), strings.Join(fields, ", "))
	}
	return t.Write(a.Stdout)
}
