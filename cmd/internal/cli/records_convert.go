package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/records"
)

type recordsConvertFlags struct {
	from, to, out         string
	write                 records.WriteOptions
	lenient, force, quiet bool
	drop, rename          []string
}

func (a *app) recordsConvertCmd() *cobra.Command {
	f := &recordsConvertFlags{}
	cmd := &cobra.Command{
		Use:   "convert [--from FORMAT] [--to FORMAT] [--drop NAME] [--rename OLD=NEW] IN… -o OUT",
		Short: "Convert record files into another format",
		Long: `Read record files, all of one format, one after another, and write their records in
another format, or the same, in little memory. The format that is written is told by
the name of OUT (.rec is recordio, or imagerecord if that is read; .tfrecord is
tfrecord, or tfexample if that is read) or by --to.

Nothing is lost in silence: a field that the format cannot hold is an error that
names record and field; --drop leaves a field out, and --rename gives it the name that
the format wants. Keys of formats that have none become numbers, which is said once.

Shards are divided by --count and --size if OUT has a place for their number, such
as data-%06d.tar. All files get their names when they are whole, and if anything
fails, or is interrupted, none is left.

` + detection + `

` + recordFormats() + `

Exit status: 0 done; 1 something could not be read or written, is damaged, of no known
format, or does not fit the one that is written; 2 a wrong flag; 130 interrupted.`,
		Example: `  infer-prep records convert train.rec -o data-%06d.tar --count 1000 --index
  infer-prep records convert 'data-{000000..000012}.tar' --to imagerecord -o train.rec --index
  infer-prep records convert train.tfrecord --rename image/encoded=jpg --rename image/class/label=cls -o train.tar
  infer-prep records convert feats.scp -o feats.tar`,
		DisableFlagsInUseLine: true,
		Args:                  recordArgs,
		RunE:                  func(cmd *cobra.Command, args []string) error { return a.convertRecords(cmd, args, f) },
	}
	fl := cmd.Flags()
	fromFlag(cmd, &f.from)
	var writable []string
	for _, x := range records.Formats() {
		if x.Create != nil {
			writable = append(writable, x.Name)
		}
	}
	fl.StringVar(&f.to, "to", "", "write `FORMAT`: "+strings.Join(writable, ", ")+" (default: by the name of OUT)")
	complete(cmd, "to", writable...)
	fl.StringVarP(&f.out, "output", "o", "", "the file `OUT` to write, or a pattern for several")
	fl.IntVar(&f.write.Count, "count", 0, "at most `N` records in a file")
	fl.Int64Var(&f.write.Size, "size", 0, "end a file when it has this many `BYTES` of data")
	fl.BoolVar(&f.write.Index, "index", false, "write the format's index beside every file")
	fl.BoolVar(&f.write.Keys, "keys", false, "keep the keys in a field although the first is the record's number (mindrecord)")
	fl.BoolVar(&f.lenient, "lenient", false, "leave out damage where the format can, and tell of it")
	fl.StringArrayVar(&f.drop, "drop", nil, "leave out the field `NAME`; may be given again")
	fl.StringArrayVar(&f.rename, "rename", nil, "give a field another name: `OLD=NEW`; may be given again")
	fl.BoolVar(&f.force, "force", false, "replace files that exist")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "no progress bar")
	noErr(cmd.MarkFlagFilename("output"))
	return cmd
}

// target is the format that is written.
func (f *recordsConvertFlags) target(in records.Format) (records.Format, error) {
	to, err := records.Format{}, error(nil)
	if f.to != "" {
		if to, err = records.Lookup(f.to); err != nil {
			return to, usageErr("--to %s: want one of %s", f.to, strings.Join(records.Names(), ", "))
		}
	} else {
		if to, err = records.DetectByName(f.out); err != nil {
			return to, usageErr("%s: the name is of no known format: say --to with one of %s", f.out, strings.Join(records.Names(), ", "))
		}
		if in.Refines == to.Name { // more special, and as good a reading of the name
			to = in
		}
	}
	if to.Create == nil {
		return to, usageErr("the format %s is read, not written", to.Name)
	}
	return to, nil
}

// changes are what --drop and --rename ask for.
type changes struct {
	drop   map[string]bool // true once a record had it
	rename map[string]string
	used   map[string]bool
}

func (f *recordsConvertFlags) changes() (*changes, error) {
	c := &changes{drop: map[string]bool{}, used: map[string]bool{}}
	var err error
	if c.rename, err = pairs("rename", f.rename); err != nil {
		return nil, err
	}
	for _, name := range f.drop {
		c.drop[name] = false
		if _, both := c.rename[name]; both {
			return nil, usageErr("--drop %s and --rename %s: want one of them", name, name)
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
	for i, f := range r.Fields {
		for _, g := range r.Fields[:i] {
			if f.Name == g.Name {
				return r.FieldErrorf("--rename", f.Name, "the record has another field of that name")
			}
		}
	}
	return nil
}

// unused are the names that no record had, sorted.
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

func (a *app) convertRecords(cmd *cobra.Command, args []string, f *recordsConvertFlags) error {
	switch {
	case f.out == "":
		return usageErr("no file to write, want -o OUT")
	case f.write.Count < 0 || f.write.Size < 0:
		return usageErr("--count %d, --size %d: want numbers above 0", f.write.Count, f.write.Size)
	}
	change, err := f.changes()
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	o := newOutputs(f.force)
	var in records.Format
	for i, name := range args {
		x, err := recordFormat(ctx, o, name, f.from)
		if err != nil {
			return err
		}
		if i > 0 && x.Name != in.Name {
			return usageErr("%s is %s, %s is %s: want files of one format, or --from", args[0], in.Name, name, x.Name)
		}
		in = x
	}
	to, err := f.target(in)
	if err != nil {
		return err
	}
	n, err := a.convert(ctx, o, in, to, args, f, change)
	if err != nil {
		err = errors.Join(ofFile(err), o.takeBack())
		if err := interrupted(ctx, "nothing was written"); err != nil {
			return err
		}
		if errors.Is(err, records.ErrOption) {
			return usageErr("%w", err)
		}
		if errors.Is(err, records.ErrField) && f.to == "" {
			for _, x := range records.Formats() {
				if x.Refines == to.Name && x.Create != nil {
					err = fmt.Errorf("%w; or --to %s", err, x.Name)
				}
			}
		}
		return wrapFail(err)
	}
	for _, name := range change.unused() {
		if n > 0 {
			a.complain(fmt.Errorf("no record has a field %q", name))
		}
	}
	return nil
}

// convert does it; what it made before an error is the caller's to take back.
func (a *app) convert(ctx context.Context, o *outputs, in, to records.Format, args []string, f *recordsConvertFlags, change *changes) (n int64, err error) {
	bar := &inputBar{a: a, quiet: f.quiet, sizes: map[string]int64{}}
	defer bar.clear()
	for _, name := range args {
		info, ok := isFile(ctx, o, name)
		if !ok {
			bar.sizes = nil
			break
		}
		bar.sizes[name] = info.Size
	}
	tell := func(err error) {
		bar.clear()
		a.complain(err)
	}
	options := records.ReadOptions{Lenient: f.lenient, OnSkip: func(err error) { tell(fmt.Errorf("left out: %w", err)) }}
	write := f.write
	write.OnNote = func(s string) { tell(errors.New(s)) }
	w, err := to.Create(ctx, o, f.out, write)
	if err != nil {
		return 0, err
	}
	err = eachRecord(ctx, in, o, splitFiles(args...), options, func(r *records.Record) error {
		if a.testDelay != nil {
			a.testDelay()
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

// inputBar is a progress bar of the bytes of input files, or of records where it is not known
// how many there are.
type inputBar struct {
	a      *app
	quiet  bool
	sizes  map[string]int64 // by name; nil if they are not known
	bar    *progress
	file   string // that is read
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
			b.sizes = nil // a script, say, whose records are in other files
		}
		b.bar = newProgressOf(b.a.stderr, total, unit, b.quiet)
	}
	if b.sizes == nil {
		b.bar.step()
		return
	}
	if r.File != b.file {
		b.bar.add(b.sizes[b.file] - b.offset)
		b.file, b.offset = r.File, 0
	}
	if at := min(r.Offset, size); at > b.offset { // a compressed file's are places of what is in it
		b.bar.add(at - b.offset)
		b.offset = at
	}
}

func (b *inputBar) clear() {
	if b.bar != nil {
		b.bar.clear()
	}
}
