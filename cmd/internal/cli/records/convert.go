package records

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/internal/pipe"
	"github.com/infer-prep/infer-prep/records"
)

type recordsConvertFlags struct {
	from, to, out         string
	write                 records.WriteOptions
	limit                 recordLimit
	lenient, force, quiet bool
	drop, rename          []string
}

func recordsConvertCmd(a *command.App) *cobra.Command {
	f := &recordsConvertFlags{}
	cmd := &cobra.Command{
		Use:                   "convert [--from FORMAT] [--to FORMAT] [--drop NAME] [--rename OLD=NEW] IN… -o OUT",
		Short:                 "Convert record files into another format",
		DisableFlagsInUseLine: true,
		Args:                  recordArgs,
		RunE:                  func(cmd *cobra.Command, args []string) error { return convertRecords(a, cmd, args, f) },
	}
	fl := cmd.Flags()
	fromFlag(cmd, &f.from)
	f.limit.flag(cmd)
	var writable []string
	for _, x := range records.Formats() {
		if x.Create != nil {
			writable = append(writable, x.Name)
		}
	}
	fl.StringVar(&f.to, "to", "", "write files of this `FORMAT`: "+command.OrList(writable)+" (default: by the name of OUT)")
	command.Complete(cmd, "to", writable...)
	fl.StringVarP(&f.out, "output", "o", "", "write the file `OUT`, or several if it is a pattern")
	fl.IntVar(&f.write.Count, "count", 0, "write at most `N` records to a file")
	fl.Int64Var(&f.write.Size, "size", 0, "end a file once it has this many `BYTES` of data")
	fl.BoolVar(&f.write.Index, "index", false, "write an index beside every file")
	fl.BoolVar(&f.write.Keys, "keys", false, "keep the keys in a field even if the first one is the record's number (mindrecord)")
	fl.BoolVar(&f.lenient, "lenient", false, "report damage and continue after it, in formats that can")
	fl.StringArrayVar(&f.drop, "drop", nil, "drop the field `NAME`; repeatable")
	fl.StringArrayVar(&f.rename, "rename", nil, "rename a field, `OLD=NEW`; repeatable")
	fl.BoolVar(&f.force, "force", false, "replace existing files")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "print no progress bar")
	command.Must(cmd.MarkFlagFilename("output"))
	return cmd
}

// target returns the output format.
func (f *recordsConvertFlags) target(in records.Format) (records.Format, error) {
	to, err := records.Format{}, error(nil)
	if f.to != "" {
		if to, err = records.Lookup(f.to); err != nil {
			return to, command.OneOf("to", f.to, records.Names()...)
		}
	} else {
		if to, err = records.DetectByName(f.out); err != nil {
			return to, command.UsageErr("%s: unknown extension: set --to to %s", f.out, command.OrList(records.Names()))
		}
		if in.Refines == to.Name { // the input's format is a special case of it
			to = in
		}
	}
	if to.Create == nil {
		return to, command.UsageErr("the format %s is read-only", to.Name)
	}
	return to, nil
}

// changes holds the values of --drop and --rename.
type changes struct {
	drop   map[string]bool // true once a record had the field
	rename map[string]string
	used   map[string]bool
	names  map[string]bool // of one record
}

func (f *recordsConvertFlags) changes() (*changes, error) {
	c := &changes{drop: map[string]bool{}, used: map[string]bool{}, names: map[string]bool{}}
	var err error
	if c.rename, err = command.Pairs("rename", f.rename); err != nil {
		return nil, err
	}
	for _, name := range f.drop {
		c.drop[name] = false
		if _, both := c.rename[name]; both {
			return nil, command.UsageErr("--drop %s and --rename %s: want only one of them", name, name)
		}
	}
	return c, nil
}

func (c *changes) apply(r *records.Record) error {
	if len(c.drop) == 0 && len(c.rename) == 0 {
		return nil
	}
	r.Fields = slices.DeleteFunc(r.Fields, func(f records.Field) bool {
		_, drop := c.drop[f.Name]
		if drop {
			c.drop[f.Name] = true
		}
		return drop
	})
	for i := range r.Fields {
		if to, ok := c.rename[r.Fields[i].Name]; ok {
			c.used[r.Fields[i].Name] = true
			r.Fields[i].Name = to
		}
	}
	clear(c.names)
	for _, f := range r.Fields {
		if c.names[f.Name] {
			return r.FieldErrorf("--rename", f.Name, "the record already has a field of that name")
		}
		c.names[f.Name] = true
	}
	return nil
}

// unused lists the names that no record had, sorted.
func (c *changes) unused() (l []string) {
	for name, used := range c.drop {
		if !used {
			l = append(l, name)
		}
	}
	for name := range c.rename {
		if !c.used[name] {
			l = append(l, name)
		}
	}
	slices.Sort(l)
	return l
}

func convertRecords(a *command.App, cmd *cobra.Command, args []string, f *recordsConvertFlags) error {
	switch {
	case f.out == "":
		return command.UsageErr("no output file: want -o OUT")
	case f.write.Count < 0 || f.write.Size < 0:
		return command.UsageErr("--count %d, --size %d: want at least 1", f.write.Count, f.write.Size)
	}
	change, err := f.changes()
	if err != nil {
		return err
	}
	f.out = paths.TrimFile(f.out)
	ctx := cmd.Context()
	o := newOutputs(f.force)
	if i := slices.IndexFunc(args, pipe.Is); i >= 0 && len(args) > 1 {
		return command.UsageErr("%s is a pipe: want it alone, or files", args[i])
	}
	var in *recordInput
	for i, name := range args {
		x, err := openRecords(ctx, a, o, name, f.from)
		if err != nil {
			return err
		}
		defer x.close()
		if i > 0 && x.format.Name != in.format.Name {
			return command.UsageErr("%s is %s, but %s is %s: want files of one format, or --from", args[0], in.format.Name, name, x.format.Name)
		}
		in = x
	}
	in.name = strings.Join(args, ";") // one list of files
	to, err := f.target(in.format)
	if err != nil {
		return err
	}
	n, err := convert(ctx, a, o, in, to, args, f, change)
	if err != nil {
		err = errors.Join(paths.ErrorOf(err), o.remove())
		if err := command.Interrupted(ctx, "nothing was written"); err != nil {
			return err
		}
		if errors.Is(err, records.ErrOption) {
			return command.UsageErr("%w", err)
		}
		if errors.Is(err, records.ErrField) && f.to == "" {
			for _, x := range records.Formats() {
				if x.Refines == to.Name && x.Create != nil {
					err = fmt.Errorf("%w; or --to %s", err, x.Name)
				}
			}
		}
		return command.WrapFail(err)
	}
	for _, name := range change.unused() {
		if n > 0 {
			a.Complain(fmt.Errorf("no record has a field %q", name))
		}
	}
	return nil
}

// convert converts the files. After an error the caller removes its output.
func convert(ctx context.Context, a *command.App, o *outputs, in *recordInput, to records.Format, args []string, f *recordsConvertFlags, change *changes) (n int64, err error) {
	bar := &inputBar{a: a, quiet: f.quiet, sizes: map[string]int64{}}
	defer bar.clear()
	for _, name := range args {
		info, ok := isFile(ctx, o, name)
		if !ok || in.stream != nil {
			bar.sizes = nil
			break
		}
		bar.sizes[name] = info.Size
	}
	tell := func(err error) {
		bar.clear()
		a.Complain(err)
	}
	options := records.ReadOptions{Limit: f.limit.max(), Lenient: f.lenient, OnSkip: func(err error) { tell(fmt.Errorf("skipped: %w", err)) }}
	write := f.write
	write.OnNote = func(s string) { tell(errors.New(s)) }
	options.OnNote = write.OnNote
	w, err := to.Create(ctx, o, f.out, write)
	if err != nil {
		return 0, err
	}
	err = in.each(ctx, o, options, func(r *records.Record) error {
		if a.OnItem != nil {
			a.OnItem()
		}
		n++
		bar.at(r)
		if err := change.apply(r); err != nil {
			return err
		}
		return w.Write(r)
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return n, errors.Join(err, w.Abort())
	}
	return n, w.Close()
}

// inputBar is a progress bar of the bytes of input files, or of records if the
// sizes are unknown.
type inputBar struct {
	a      *command.App
	quiet  bool
	sizes  map[string]int64 // by name; nil if unknown
	bar    *command.Progress
	file   string // being read
	offset int64
}

func (b *inputBar) at(r *records.Record) {
	size, known := b.sizes[r.File]
	if b.bar == nil {
		total := int64(-1)
		unit := "records"
		if known {
			total, unit = 0, "bytes"
			for _, n := range b.sizes {
				total += n
			}
		} else {
			b.sizes = nil // such as a script, whose records are in other files
		}
		b.bar = command.NewProgressOf(b.a.Stderr, total, unit, b.quiet)
	}
	if b.sizes == nil {
		b.bar.Step()
		return
	}
	if r.File != b.file {
		b.bar.Add(b.sizes[b.file] - b.offset)
		b.file, b.offset = r.File, 0
	}
	if at := min(r.Offset, size); at > b.offset { // offsets in compressed files can exceed the file's size
		b.bar.Add(at - b.offset)
		b.offset = at
	}
}

func (b *inputBar) clear() {
	if b.bar != nil {
		b.bar.Clear()
	}
}
