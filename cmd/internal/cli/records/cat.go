package records

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// RecordJSON is a record as records cat prints it.
type RecordJSON struct {
	Key    string                    `json:"key"`
	File   string                    `json:"file"`
	Offset int64                     `json:"offset"`
	Fields map[string]fieldValueJSON `json:"fields"`
}

type fieldValueJSON struct {
	DType  tensor.DType `json:"dtype"`
	Shape  tensor.Shape `json:"shape"`
	Size   int64        `json:"bytes"`
	SHA256 string       `json:"sha256"`
	Text   *string      `json:"text,omitempty"`
	Value  any          `json:"value,omitempty"`
}

// maxShown is the longest text that cat prints, in bytes.
const maxShown = 256

type recordsCatFlags struct {
	from, field, out string
	keys             []string
	limit, skip      int64
	limitBytes       recordLimit
	force, lenient   bool
}

func recordsCatCmd(a *command.App) *cobra.Command {
	f := &recordsCatFlags{}
	cmd := &cobra.Command{
		Use:                   "cat [--field NAME [-o DIR]] FILE…",
		Short:                 "Print records",
		DisableFlagsInUseLine: true,
		Args:                  recordArgs,
		RunE:                  func(cmd *cobra.Command, args []string) error { return catRecords(a, cmd, args, f) },
	}
	fl := cmd.Flags()
	fromFlag(cmd, &f.from)
	f.limitBytes.flag(cmd)
	fl.StringVar(&f.field, "field", "", "print only the data of the field `NAME`")
	fl.StringVarP(&f.out, "output", "o", "", "with --field, write a file for each record to the folder `DIR`")
	fl.StringSliceVar(&f.keys, "keys", nil, "print only records with these `KEYS`, separated by commas")
	fl.Int64Var(&f.limit, "limit", -1, "print at most `N` records (default: all)")
	fl.Int64Var(&f.skip, "skip", 0, "skip the first `N` records")
	fl.BoolVar(&f.force, "force", false, "replace existing files")
	fl.BoolVar(&f.lenient, "lenient", false, "report damage and continue after it, in formats that can")
	command.Must(cmd.MarkFlagDirname("output"))
	return cmd
}

// errEnough ends reading at --limit.
var errEnough = errors.New("enough")

func catRecords(a *command.App, cmd *cobra.Command, args []string, f *recordsCatFlags) error {
	switch {
	case f.out != "" && f.field == "":
		return command.UsageErr("-o needs --field NAME, the field to write")
	case f.skip < 0 || f.limit < -1:
		return command.UsageErr("--skip %d, --limit %d: want at least 0", f.skip, f.limit)
	}
	ctx := cmd.Context()
	if f.out = paths.TrimFile(f.out); f.out != "" && !paths.IsURI(f.out) {
		if err := os.MkdirAll(f.out, 0o777); err != nil {
			return command.WrapFail(paths.Error(f.out, err))
		}
	}
	missing := slices.Clone(f.keys)
	skip, left := f.skip, f.limit
	options := records.ReadOptions{Limit: f.limitBytes.max(), Lenient: f.lenient, OnSkip: func(err error) { a.Complain(fmt.Errorf("skipped: %w", err)) }, OnNote: func(s string) { note(a, s) }}
	for _, name := range args {
		in, err := openRecords(ctx, a, store.URI, name, f.from)
		if err != nil {
			return err
		}
		err = in.each(ctx, store.URI, options, func(r *records.Record) error {
			if len(f.keys) > 0 && !slices.Contains(f.keys, r.Key) {
				return nil
			}
			if skip > 0 {
				skip--
				return nil
			}
			if left == 0 {
				return errEnough
			}
			if left > 0 {
				left--
			}
			missing = slices.DeleteFunc(missing, func(k string) bool { return k == r.Key })
			return catRecord(ctx, a, r, f)
		})
		in.close()
		if err := command.Interrupted(ctx, "the output is incomplete"); err != nil {
			return err
		}
		if errors.Is(err, errEnough) {
			break
		}
		if err != nil {
			return command.WrapFail(command.Readable(name, err))
		}
	}
	if len(missing) > 0 && f.skip == 0 && f.limit < 0 {
		return command.FailErr("no record has the key %s", strings.Join(missing, ", "))
	}
	return nil
}

func catRecord(ctx context.Context, a *command.App, r *records.Record, f *recordsCatFlags) error {
	if f.field == "" {
		return printRecord(a, r)
	}
	x := r.Get(f.field)
	if x == nil {
		var names []string
		for _, f := range r.Fields {
			names = append(names, f.Name)
		}
		return fmt.Errorf("%s: at byte %d: record %q has no field %q; it has %s", r.File, r.Offset, r.Key, f.field, strings.Join(names, ", "))
	}
	write := func(w io.Writer) error { return tensor.WriteRaw(w, &x.Value) }
	if f.out == "" {
		return write(a.Stdout)
	}
	path := paths.Join(f.out, paths.Safe(r.Key)+"."+paths.Safe(f.field))
	if !f.force {
		there, err := paths.Exists(ctx, path)
		if err != nil {
			return paths.Error(path, err)
		}
		if there {
			return fmt.Errorf("%s: %w", path, command.ErrExists)
		}
	}
	return newfile.Write(ctx, path, write)
}

// number returns a scalar as JSON, NaN and the infinities as strings.
func number(t *tensor.Tensor) any {
	switch t.DType {
	case tensor.Int64:
		return tensor.View[int64](t)[0]
	case tensor.Bool:
		return t.Data[0] != 0
	}
	v := tensor.Float64s(t)(0)
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return strconv.FormatFloat(v, 'g', -1, 64)
	case t.DType == tensor.Float32:
		return json.Number(strconv.FormatFloat(v, 'g', -1, 32))
	}
	return json.Number(strconv.FormatFloat(v, 'g', -1, 64))
}

func printRecord(a *command.App, r *records.Record) error {
	x := RecordJSON{r.Key, paths.Shown(r.File), r.Offset, map[string]fieldValueJSON{}}
	for i := range r.Fields {
		f := &r.Fields[i]
		v := &f.Value
		h := sha256.New()
		if err := tensor.WriteRaw(h, v); err != nil {
			return err
		}
		j := fieldValueJSON{DType: v.DType, Shape: v.Shape, Size: v.Size(), SHA256: fmt.Sprintf("%x", h.Sum(nil))}
		switch {
		case v.DType == tensor.Bytes:
			if j.Size = int64(len(v.Data)); f.Text && j.Size <= maxShown {
				s := string(v.Data)
				j.Text = &s
			}
		case v.Shape.Rank() == 0:
			j.Value = number(v)
		}
		x.Fields[f.Name] = j
	}
	return a.PrintLine(x)
}
